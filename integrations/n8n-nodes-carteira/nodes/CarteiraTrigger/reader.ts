import { sleep, type IDataObject, type IHookFunctions, type ITriggerFunctions } from 'n8n-workflow';
import { call } from '../../shared/api';
import { missed, place, type Event, type Fates, type State } from './feed';

type Functions = IHookFunctions | ITriggerFunctions;

/** How long the feed waits for an event before it answers that there is none, in seconds. */
const feedWait = 25;
/** How long to wait between two looks at what the webhook may have missed, in steps of five seconds. */
const stepsBetweenLooks = 60;
/** How long to wait for the webhook before the feed is read without one, and how often to look, in milliseconds. */
const longestRegistration = 60_000;
const registrationLook = 250;
/** An answer without events that comes sooner did not wait, in milliseconds. */
const shortestWait = 2000;
const gone = 410;

export interface Reading {
	types: string[];
	state: State;
	/** Starts the workflow with an event, as the webhook does; n8n saves the state with it. */
	emit: (event: Event) => void;
	stopped: () => boolean;
	/** Whether n8n is done with the webhook: it has registered it, or found that there is none to have. */
	decided: () => boolean;
	/** Whether the workflow gets what is found; false when only the state is to be brought up to date. */
	giving: boolean;
}

interface Page {
	events: Event[];
	lastId?: string | null;
	more: boolean;
}

async function page(functions: Functions, from: IDataObject, types: string[], wait: number): Promise<Page | null> {
	const qs = { ...from, types: types.join(','), limit: 200, ...(wait && { wait }) };
	const answer = await call(functions, { method: 'GET', path: '/events', qs, accept: [gone] });
	if (answer.statusCode === gone) return null;
	const { last_id: lastId, has_more: more } = answer.body.meta as { last_id?: string | null; has_more: boolean };
	return { events: answer.body.data as Event[], lastId, more };
}

/** Reads a part of the feed. Where its beginning is no longer kept, what is kept is all that can be had. */
async function next(functions: Functions, reading: Reading, from: IDataObject, wait: number): Promise<Page> {
	const found = await page(functions, from, reading.types, wait);
	if (found) return found;
	reading.state.after = undefined;
	return (await page(functions, {}, reading.types, 0)) ?? { events: [], more: false };
}

/** The statuses of a webhook's deliveries since the day of an event, by event. */
async function fates(functions: Functions, webhookId: number, since: string): Promise<Fates> {
	const found = new Map<string, string>();
	for (let number = 1, last = 1; number <= last; number++) {
		const qs = { from: since.slice(0, 10), per_page: 200, page: number };
		const path = `/webhooks/${webhookId}/deliveries`;
		const { body } = await call(functions, { method: 'GET', path, qs });
		for (const delivery of body.data as Array<{ event_id: string; status: string }>) {
			if (!found.has(delivery.event_id)) found.set(delivery.event_id, delivery.status);
		}
		last = (body.meta?.last_page as number | undefined) ?? 1;
	}
	return found;
}

/** Walks the feed to its end and returns what the webhook missed; `state` moves past what is done. */
export async function catchUp(functions: Functions, reading: Reading): Promise<Event[]> {
	const { state } = reading;
	const found: Event[] = [];
	let from = place(state);
	for (let waiting = false, more = true; more && !reading.stopped(); ) {
		const part = await next(functions, reading, from, 0);
		const first = part.events[0];
		const known = first && state.webhookId ? await fates(functions, state.webhookId, first.occurred_at) : new Map<string, string>();
		const looked = missed({ ...part, waiting, giving: reading.giving }, known, state);
		found.push(...looked.events);
		waiting = looked.waiting;
		more = part.more && Boolean(part.lastId);
		from = { after: part.lastId };
	}
	return found;
}

/** Makes sure that the webhook is there and switched on; false when somebody deleted it. */
async function isKept(functions: Functions, webhookId: number): Promise<boolean> {
	const path = `/webhooks/${webhookId}`;
	const { statusCode, body } = await call(functions, { method: 'GET', path, accept: [404] });
	if (statusCode === 404) return false;
	const { active } = body.data as { active: boolean };
	if (!active) await call(functions, { method: 'PUT', path, body: { active: true } });
	return true;
}

async function pause(reading: Reading, steps: number): Promise<void> {
	for (let step = 0; step < steps && !reading.stopped(); step++) await sleep(5000);
}

function give(reading: Reading, events: Event[]): void {
	if (!reading.stopped()) events.forEach((event) => reading.emit(event));
}

/** With a webhook: looks now and then for what it did not bring. */
async function lookAfterWebhook(functions: ITriggerFunctions, reading: Reading): Promise<void> {
	const { state } = reading;
	const asked = state.webhookId as number;
	if (!(await isKept(functions, asked))) {
		if (state.webhookId === asked) state.webhookId = undefined;
		return;
	}
	give(reading, await catchUp(functions, reading));
	await pause(reading, stepsBetweenLooks);
}

/** Without one: waits for the next events of the feed. */
async function follow(functions: ITriggerFunctions, reading: Reading): Promise<void> {
	const began = Date.now();
	const part = await next(functions, reading, place(reading.state), feedWait);
	if (reading.state.webhookId) return; // it was registered meanwhile, and brings what this part may have too
	const { events } = missed({ ...part, waiting: false, giving: true }, new Map(), reading.state);
	give(reading, events);
	// A busy feed, or one where too many wait already and that answers at once, must not use up the token's calls.
	if (events.length > 0) await sleep(1000);
	else if (Date.now() - began < shortestWait) await pause(reading, 1);
}

/** n8n 2 starts the trigger while it registers the webhook, n8n 1 after it. An event read meanwhile would come twice. */
async function registration(reading: Reading): Promise<void> {
	const late = Date.now() + longestRegistration;
	while (!reading.decided() && !reading.stopped() && Date.now() < late) await sleep(registrationLook);
}

/** Goes on until the workflow is switched off. What fails is tried again. */
export async function read(functions: ITriggerFunctions, reading: Reading): Promise<void> {
	await registration(reading);
	while (!reading.stopped()) {
		try {
			await (reading.state.webhookId ? lookAfterWebhook : follow)(functions, reading);
		} catch (error) {
			functions.logger.warn(`Carteira Trigger: reading the events failed, trying again: ${(error as Error).message}`);
			await pause(reading, 2);
		}
	}
}
