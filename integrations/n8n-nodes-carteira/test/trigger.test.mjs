// What the trigger believes, and what it finds that its webhook did not bring.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { createRequire } from 'node:module';
import { test } from 'node:test';

const require = createRequire(import.meta.url);
const { refusal } = require('../dist/nodes/CarteiraTrigger/signature.js');
const { missed, place } = require('../dist/nodes/CarteiraTrigger/feed.js');

test('only what Carteira signed, and recently, is believed', () => {
	const rawBody = Buffer.from('{"event":"ping","id":"evt_1"}');
	const now = 1_800_000_000_000;
	const signed = (secret, timestamp = '1800000000', body = rawBody) => ({
		rawBody,
		timestamp,
		signature: `sha256=${createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest('hex')}`,
	});
	assert.equal(refusal(signed('whsec_1'), 'whsec_1', now), null);
	assert.match(refusal(signed('whsec_2'), 'whsec_1', now), /signature/);
	assert.match(refusal(signed('whsec_1', '1800000000', 'another'), 'whsec_1', now), /signature/);
	assert.match(refusal({ rawBody, timestamp: '', signature: '' }, 'whsec_1', now), /signature/);
	assert.match(refusal(signed('whsec_1'), 'whsec_1', now + 301_000), /old/);
	assert.match(refusal(signed('whsec_1', 'soon'), 'whsec_1', now), /old/);
	assert.match(refusal(signed(''), '', now), /no secret/);
});

const events = ['a', 'b', 'c', 'd'].map((id) => ({ id, event: 'invoice.paid', occurred_at: '2026-01-05T11:21:30-03:00' }));
const part = { events, lastId: 'd', waiting: false, giving: true };
const ids = (found) => found.events.map(({ id }) => id).join('');

test('what was delivered is passed, what was refused or never sent is found once', () => {
	const state = { since: '2026-01-01T00:00:00Z' };
	assert.deepEqual(place(state), { since: '2026-01-01T00:00:00Z' });
	const fates = new Map([['a', 'delivered'], ['b', 'refused'], ['d', 'delivered']]);
	assert.equal(ids(missed(part, fates, state)), 'bc');
	assert.deepEqual(place(state), { after: 'd' });
	assert.deepEqual(state.handled, []);
});

test('what is still being delivered is found again, and nothing after it twice', () => {
	const state = { after: 'z' };
	const first = missed(part, new Map([['a', 'delivered'], ['b', 'pending'], ['d', 'delivered']]), state);
	assert.equal(ids(first), 'c');
	assert.ok(first.waiting);
	assert.deepEqual(place(state), { after: 'a' });
	const rest = { ...part, events: events.slice(1) };
	assert.equal(ids(missed(rest, new Map([['b', 'failed'], ['d', 'delivered']]), state)), 'b');
	assert.deepEqual([place(state), state.handled], [{ after: 'd' }, []]);
});

test('when the workflow is switched off, what was not brought stays to be read', () => {
	const state = {};
	const off = missed({ ...part, giving: false }, new Map([['a', 'delivered'], ['b', 'pending'], ['d', 'delivered']]), state);
	assert.equal(ids(off), '');
	assert.deepEqual([place(state), state.handled], [{ after: 'a' }, ['d']]);
	assert.equal(ids(missed({ ...part, events: events.slice(1) }, new Map(), state)), 'bc');
	assert.deepEqual(place(state), { after: 'd' });
});

test('a part without wanted events moves on', () => {
	const state = { after: 'a' };
	missed({ events: [], lastId: 'q', waiting: false, giving: true }, new Map(), state);
	assert.deepEqual(place(state), { after: 'q' });
	missed({ events: [], lastId: null, waiting: false, giving: true }, new Map(), state);
	assert.deepEqual(place(state), { after: 'q' });
});

/** n8n as the trigger sees it: `answers` by method and path, an event more than once is a fault. */
function n8n(state, answers) {
	const emitted = [];
	const functions = {
		getWorkflowStaticData: () => state,
		getWorkflow: () => ({ id: 'workflow', name: 'Pay' }),
		getNode: () => ({ id: 'node', name: 'Created' }),
		getNodeParameter: (name) => ({ events: ['invoice.paid'], receiveBy: 'webhook' })[name],
		getNodeWebhookUrl: () => 'https://n8n.example.com/webhook/1',
		getMode: () => 'trigger',
		getCredentials: async () => ({ url: 'https://clientes.example.com' }),
		logger: { info() {}, warn() {} },
		emit: ([[item]]) => emitted.push(item.id),
		helpers: {
			returnJsonArray: (items) => items,
			httpRequestWithAuthentication: async (_, { method, url }) => ({ statusCode: 200, headers: {}, body: await answers[`${method} ${url}`]() }),
		},
	};
	return { functions, emitted };
}

test('an event that happens while n8n registers the webhook comes by the webhook alone', async () => {
	const { CarteiraTrigger } = require('../dist/nodes/CarteiraTrigger/CarteiraTrigger.node.js');
	const order = [];
	let seen;
	const looked = new Promise((resolve) => (seen = resolve));
	const answers = {
		'POST /webhooks': async () => {
			order.push('webhook');
			return { data: { id: 1, secret: 'whsec_1' } };
		},
		'GET /webhooks/1': async () => ({ data: { active: true } }),
		'GET /events': async () => {
			order.push('feed');
			return { data: [events[0]], meta: { last_id: 'a', has_more: false } };
		},
		'GET /webhooks/1/deliveries': async () => {
			setImmediate(seen);
			return { data: [{ event_id: 'a', status: 'pending' }], meta: { last_page: 1 } };
		},
	};
	const state = { since: '2026-01-01T00:00:00Z' };
	const { functions, emitted } = n8n(state, answers);
	const trigger = new CarteiraTrigger();
	const { closeFunction } = await trigger.trigger.call(functions);
	const hook = trigger.webhookMethods.default;
	assert.equal(await hook.checkExists.call(functions), false);
	await hook.create.call(functions);
	await looked;
	await closeFunction();
	assert.deepEqual([order, emitted, place(state)], [['webhook', 'feed'], [], { since: '2026-01-01T00:00:00Z' }]);
});

test('a webhook that appears while the feed waits takes what the feed has', async () => {
	const { read } = require('../dist/nodes/CarteiraTrigger/reader.js');
	const state = { after: 'z' };
	let stopped = false;
	const { functions, emitted } = n8n(state, {
		'GET /events': async () => {
			state.webhookId = 1;
			stopped = true;
			return { data: events, meta: { last_id: 'd', has_more: false } };
		},
	});
	await read(functions, { types: ['invoice.paid'], state, emit: (event) => emitted.push(event.id), stopped: () => stopped, decided: () => true, giving: true });
	assert.deepEqual([emitted, place(state)], [[], { after: 'z' }]);
});
