import {
	NodeConnectionTypes,
	type IHookFunctions,
	type INodeType,
	type INodeTypeDescription,
	type ITriggerFunctions,
	type ITriggerResponse,
	type IWebhookFunctions,
	type IWebhookResponseData,
} from 'n8n-workflow';
import { call } from '../../shared/api';
import { getEvents } from '../Carteira/loadOptions';
import type { Event, State } from './feed';
import { catchUp, read, type Reading } from './reader';
import { refusal } from './signature';

/**
 * Starts a workflow when something happens in Carteira. It registers a webhook of its own; what that does not bring
 * (n8n was down, the workflow was off) it reads from the feed of events, and all of it when there is no webhook to have.
 */
export class CarteiraTrigger implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Carteira Trigger',
		name: 'carteiraTrigger',
		icon: { light: 'file:../../icons/carteira.svg', dark: 'file:../../icons/carteira.dark.svg' },
		group: ['trigger'],
		version: 1,
		subtitle: '={{$parameter["events"].join(", ")}}',
		description: 'Starts the workflow when something happens in Carteira',
		defaults: { name: 'Carteira Trigger' },
		inputs: [],
		outputs: [NodeConnectionTypes.Main],
		credentials: [{ name: 'carteiraApi', required: true }],
		webhooks: [{ name: 'default', httpMethod: 'POST', responseMode: 'onReceived', path: 'webhook' }],
		properties: [
			{
				displayName: 'Event Names or IDs',
				name: 'events',
				type: 'multiOptions',
				required: true,
				typeOptions: { loadOptionsMethod: 'getEvents' },
				default: [],
				description:
					'Choose from the list, or specify IDs using an <a href="https://docs.n8n.io/code/expressions/">expression</a>',
			},
			{
				displayName: 'Receive By',
				name: 'receiveBy',
				type: 'options',
				options: [
					{
						name: 'Webhook, or the Feed Where There Is None',
						value: 'webhook',
						description: 'Registers a webhook; reads the feed when both webhooks are taken or this address cannot be called',
					},
					{
						name: 'Feed Only',
						value: 'feed',
						description: 'Registers nothing; for an n8n that cannot be reached from outside',
					},
				],
				default: 'webhook',
			},
		],
	};

	methods = { loadOptions: { getEvents } };

	webhookMethods = {
		default: {
			async checkExists(this: IHookFunctions): Promise<boolean> {
				const state = stateOf(this);
				const feedOnly = this.getNodeParameter('receiveBy') === 'feed';
				const exists = feedOnly ? !state.webhookId : Boolean(state.webhookId) && (await renewed(this, state));
				if (exists) decided.add(keyOf(this));
				return exists;
			},

			async create(this: IHookFunctions): Promise<boolean> {
				if (this.getNodeParameter('receiveBy') !== 'feed') await register(this, stateOf(this));
				decided.add(keyOf(this));
				return true;
			},

			async delete(this: IHookFunctions): Promise<boolean> {
				await deregister(this, stateOf(this));
				return true;
			},
		},
	};

	async webhook(this: IWebhookFunctions): Promise<IWebhookResponseData> {
		const state = this.getWorkflowStaticData('node') as State;
		const request = this.getRequestObject();
		if (!request.rawBody) await request.readRawBody();
		const signed = {
			rawBody: request.rawBody,
			timestamp: String(request.headers['x-service-timestamp'] ?? ''),
			signature: String(request.headers['x-service-signature'] ?? ''),
		};
		const reason = refusal(signed, state.secret ?? '', Date.now());
		if (reason) {
			this.getResponseObject().status(401).json({ message: reason });
			return { noWebhookResponse: true };
		}
		const event = this.getBodyData() as Event;
		if (event.event === 'ping') return { webhookResponse: { message: 'pong' } };
		return { workflowData: [this.helpers.returnJsonArray([event])] };
	}

	async trigger(this: ITriggerFunctions): Promise<ITriggerResponse> {
		let stopped = false;
		const reading: Reading = {
			types: this.getNodeParameter('events') as string[],
			state: stateOf(this),
			emit: (event) => this.emit([this.helpers.returnJsonArray([event])]),
			stopped: () => stopped,
			decided: () => decided.has(keyOf(this)),
			giving: true,
		};
		const closeFunction = async () => {
			stopped = true;
			decided.delete(keyOf(this));
		};
		if (this.getMode() === 'manual') {
			return { closeFunction, manualTriggerFunction: async () => await showLatest(this, reading) };
		}
		void read(this, reading);
		return { closeFunction };
	}
}

/** The nodes of this process for which n8n is done with the webhook. Not in the state: another start asks anew. */
const decided = new Set<string>();

const keyOf = (functions: IHookFunctions | ITriggerFunctions) => `${functions.getWorkflow().id}/${functions.getNode().id}`;

function stateOf(functions: IHookFunctions | ITriggerFunctions): State {
	const state = functions.getWorkflowStaticData('node') as State;
	state.since ??= new Date().toISOString();
	return state;
}

/** A test in the editor shows the newest event of the last seven days. */
async function showLatest(functions: ITriggerFunctions, reading: Reading): Promise<void> {
	const state: State = { since: new Date(Date.now() - 7 * 24 * 3600 * 1000).toISOString() };
	const events = await catchUp(functions, { ...reading, state });
	const newest = events.at(-1);
	if (newest) reading.emit(newest);
}

/** Brings the webhook up to date; false when it is not there any more. */
async function renewed(functions: IHookFunctions, state: State): Promise<boolean> {
	const body = { url: functions.getNodeWebhookUrl('default'), events: functions.getNodeParameter('events') as string[], active: true };
	const path = `/webhooks/${state.webhookId}`;
	const { statusCode } = await call(functions, { method: 'PUT', path, body, accept: [404] });
	if (statusCode === 404) state.webhookId = undefined;
	return statusCode !== 404;
}

/** Makes the webhook. Without a free one, or with an address that Carteira does not call, the feed is read instead. */
async function register(functions: IHookFunctions, state: State): Promise<void> {
	const body = {
		url: functions.getNodeWebhookUrl('default'),
		events: functions.getNodeParameter('events') as string[],
		description: `n8n: ${functions.getWorkflow().name ?? functions.getWorkflow().id}`.slice(0, 255),
	};
	const answer = await call(functions, { method: 'POST', path: '/webhooks', body, accept: [422] });
	if (answer.statusCode === 422) {
		functions.logger.info(`Carteira Trigger: reading the feed of events instead of a webhook: ${answer.body.message}`);
		return;
	}
	const { id, secret } = answer.body.data as { id: number; secret: string };
	state.webhookId = id;
	state.secret = secret;
}

/** Removes the webhook, and remembers which events it has brought: the rest is read when the workflow is on again. */
async function deregister(functions: IHookFunctions, state: State): Promise<void> {
	if (!state.webhookId) return;
	const path = `/webhooks/${state.webhookId}`;
	if (functions.getMode() !== 'manual') await settle(functions, state);
	await call(functions, { method: 'DELETE', path, accept: [404] });
	state.webhookId = undefined;
	state.secret = undefined;
}

/** Without it an event may come twice when the workflow is on again, but none is lost: that must not keep the webhook. */
async function settle(functions: IHookFunctions, state: State): Promise<void> {
	const types = functions.getNodeParameter('events') as string[];
	try {
		await catchUp(functions, { types, state, emit: () => undefined, stopped: () => false, decided: () => true, giving: false });
	} catch (error) {
		functions.logger.warn(`Carteira Trigger: what the webhook has brought is not known: ${(error as Error).message}`);
	}
}
