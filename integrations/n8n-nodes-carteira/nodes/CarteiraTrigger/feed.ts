import type { IDataObject } from 'n8n-workflow';

export interface Event extends IDataObject {
	id: string;
	event: string;
	occurred_at: string;
}

/** What the trigger remembers between runs, in the workflow's static data. */
export interface State {
	webhookId?: number;
	secret?: string;
	/** The last event of the feed before which nothing is left to do. */
	after?: string;
	/** Where the feed begins as long as there is no `after`: when the workflow was first activated. */
	since?: string;
	/** Events beyond `after` that need nothing more. */
	handled?: string[];
}

/** Where the next reading of the feed begins. */
export function place(state: State): IDataObject {
	return state.after ? { after: state.after } : { since: state.since };
}

/** What became of an event on its way to the webhook: nothing, or the status of its delivery. */
export type Fates = ReadonlyMap<string, string>;

/** A part of the feed, and whether anything before it is still under way. */
export interface Part {
	events: Event[];
	lastId?: string | null;
	waiting: boolean;
	/** Whether the workflow gets what is found now; otherwise it must be found again later. */
	giving: boolean;
}

/**
 * Finds the events of a part that the webhook was not sent and will not be sent, and moves the state past everything
 * that is done. An event that Carteira is still delivering keeps the state before it: should that fail for good, the
 * next reading finds it again.
 */
export function missed(part: Part, fates: Fates, state: State): { events: Event[]; waiting: boolean } {
	const handled = new Set(state.handled);
	const found: Event[] = [];
	let { waiting } = part;
	for (const event of part.events) {
		const fate = handled.has(event.id) ? 'delivered' : fates.get(event.id);
		const done = fate === 'delivered' || (fate !== 'pending' && part.giving);
		if (done && fate !== 'delivered') found.push(event);
		waiting ||= !done;
		if (!waiting) pass(state, handled, event.id);
		else if (done) handled.add(event.id);
	}
	if (!waiting && part.lastId) state.after = part.lastId;
	state.handled = [...handled];
	return { events: found, waiting };
}

function pass(state: State, handled: Set<string>, id: string) {
	state.after = id;
	handled.delete(id);
}
