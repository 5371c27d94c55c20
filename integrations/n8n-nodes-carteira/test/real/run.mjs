// Runs the node inside a real n8n against a real Carteira: `make n8n`.
//
//   node test/real/run.mjs N8N CARTEIRA
//
// N8N is n8n's program, CARTEIRA the binary. The run ends by itself within ten minutes.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:https';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Server } from './carteira.mjs';
import { N8n } from './n8n.mjs';
import { freePort, stopAll, tail, until } from './processes.mjs';
import { listOnRequest, payOnCreation } from './workflows.mjs';

const [program, binary] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'carteira-n8n-'));
const step = (text) => console.log(`${new Date().toISOString().slice(11, 19)} ${text}`);

/** Installs what npm would publish where n8n looks for community nodes. */
function install() {
	const modules = join(folder, '.n8n', 'nodes', 'node_modules', 'n8n-nodes-carteira');
	mkdirSync(modules, { recursive: true });
	const source = fileURLToPath(new URL('../..', import.meta.url));
	const [{ filename }] = JSON.parse(execFileSync('npm', ['pack', source, '--json', '--ignore-scripts'], { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }));
	execFileSync('tar', ['-xzf', join(folder, filename), '--strip-components=1', '-C', modules]);
}

/** An https address before n8n, with a certificate that only this Carteira trusts. */
async function front(n8nPort) {
	const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')];
	execFileSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '1',
		'-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', key, '-out', certificate], { stdio: 'ignore' });
	const server = createServer({ key: readFileSync(key), cert: readFileSync(certificate) }, (incoming, answer) => {
		const onward = request({ port: n8nPort, host: '127.0.0.1', path: incoming.url, method: incoming.method, headers: incoming.headers }, (got) => {
			answer.writeHead(got.statusCode, got.headers);
			got.pipe(answer);
		});
		onward.on('error', () => answer.writeHead(502).end());
		incoming.pipe(onward);
	});
	const port = await freePort();
	await new Promise((done) => server.listen(port, '127.0.0.1', done));
	server.unref();
	return { url: `https://127.0.0.1:${port}/`, certificate };
}

const paid = (carteira, count) => until(`${count} invoices are paid`, async () => (await carteira.invoices('pago')) === count, 90);

/** Waits for so many webhooks: n8n registers and removes them after it has answered. */
const hooks = (carteira, count) => until(`${count} webhooks`, async () => {
	const all = await carteira.webhooks();
	return all.length === count && all;
});

async function wantExecutions(n8n, workflow, count) {
	const found = await until(`${count} executions have ended`, async () => {
		const all = await n8n.executions(workflow);
		return all.length >= count && all.every(({ status }) => !['new', 'running', 'waiting'].includes(status)) && all;
	});
	assert.deepEqual([found.length, found.filter(({ status }) => status !== 'success')], [count, []]);
}

/** Registers, receives, pays; refuses what Carteira did not sign. */
async function receive({ carteira, n8n, workflow }) {
	await n8n.activate(workflow);
	const [hook] = await hooks(carteira, 1);
	assert.deepEqual([hook.events, hook.active], [['customer.created'], true]);
	assert.ok(hook.url.startsWith(n8n.publicUrl), hook.url);
	await carteira.createCustomers('Ana', 'Bia', 'Caio');
	await paid(carteira, 3);
	const tested = await carteira.call('POST', `/webhooks/${hook.id}/test`);
	assert.ok(tested.data.delivered, JSON.stringify(tested.data));
	const forged = { event: 'customer.created', id: 'evt_FORGED', data: { customer: { id: 1 } } };
	const answer = await fetch(hook.url.replace(n8n.publicUrl, `${n8n.url}/`), {
		method: 'POST', headers: { 'Content-Type': 'application/json', 'X-Service-Signature': 'sha256=00' }, body: JSON.stringify(forged),
	});
	assert.equal(answer.status, 401);
	await wantExecutions(n8n, workflow, 3);
	step('registered its webhook, received 3 events and paid their invoices, refused a forged one');
}

/** Walks several pages with filters, and fills the dropdowns. */
async function page({ carteira, n8n, credential }) {
	for (let n = 0; n < 450; n++) await carteira.call('POST', '/customers', { name: `Página ${n}`, data_de_vencimento: '2030-01-01' });
	const lister = await n8n.workflow('List', ...listOnRequest(credential));
	await n8n.activate(lister);
	const answer = await until('the list is served', async () => {
		const got = await fetch(`${n8n.url}/webhook/all-customers`);
		return got.ok && got;
	});
	const customers = await answer.json();
	assert.deepEqual([answer.status, customers.length, new Set(customers.map(({ id }) => id)).size], [200, 450, 450]);
	assert.ok(customers.every(({ name, invoices }) => name.startsWith('Página') && Array.isArray(invoices)));
	assert.deepEqual(await n8n.choices(credential, 'getCustomerPlans'), ['Mensal']);
	assert.deepEqual(await n8n.choices(credential, 'getProducts'), ['Internet 300']);
	assert.ok((await n8n.choices(credential, 'getEvents')).includes('invoice.paid'));
	step('listed 450 customers over 3 pages with their filters; plans, products and events can be chosen');
}

/** While n8n is down every delivery fails for good and the webhook goes inactive; nothing is lost. */
async function restart({ carteira, n8n, workflow }) {
	await n8n.stop();
	await carteira.createCustomers('Davi', 'Eva', 'Fábio', 'Gil', 'Hugo');
	await until('the webhook is switched off', async () => !(await carteira.webhooks())[0].active);
	await n8n.start();
	await paid(carteira, 8);
	assert.ok((await carteira.webhooks())[0].active);
	await carteira.createCustomers('Inês');
	await paid(carteira, 9);
	step('was stopped, missed 5 events, switched its webhook on again, and lost none');
	return workflow;
}

/** A workflow that was off catches up; its webhook is removed meanwhile. */
async function pause({ carteira, n8n, workflow }) {
	await n8n.deactivate(workflow);
	await hooks(carteira, 0);
	await carteira.createCustomers('João', 'Kátia');
	await n8n.activate(workflow);
	await paid(carteira, 11);
	step('removed its webhook when switched off, and caught up with 2 events when on again');
}

/** With both webhooks taken the feed is read. */
async function fallBack({ carteira, n8n, workflow }) {
	await n8n.deactivate(workflow);
	await hooks(carteira, 0);
	for (const name of ['one', 'two']) await carteira.call('POST', '/webhooks', { url: `https://${name}.invalid/`, events: ['invoice.paid'] });
	await n8n.activate(workflow);
	assert.equal((await carteira.webhooks()).length, 2);
	await carteira.createCustomers('Lia', 'Mia');
	await paid(carteira, 13);
	await n8n.stop();
	await carteira.createCustomers('Nuno');
	await n8n.start();
	await paid(carteira, 14);
	await n8n.deactivate(workflow);
	assert.equal((await carteira.webhooks()).length, 2);
	step('read the feed while both webhooks were taken, over a restart too');
}

async function main() {
	install();
	const port = await freePort();
	const { url: publicUrl, certificate } = await front(port);
	const carteira = await Server.start({ binary, folder, certificate });
	const n8n = new N8n({ program, folder, port, publicUrl });
	await n8n.start();
	await n8n.setUp();
	const credential = await n8n.credential({ url: `${carteira.url}/`, token: carteira.token });
	assert.equal(credential.tested.status, 'OK', JSON.stringify(credential.tested));
	const wrong = await n8n.credential({ url: carteira.url, token: 'cart_wrong' });
	assert.equal(wrong.tested.status, 'Error');
	const workflow = await n8n.workflow('Pay', ...payOnCreation(credential));
	const run = { carteira, n8n, credential, workflow };
	step('n8n is up, and its credential was tested');
	await receive(run);
	await restart(run);
	await pause(run);
	await fallBack(run);
	await wantExecutions(n8n, workflow, 14);
	await page(run);
	step('every event was brought exactly once: 14 executions for 14 customers');
}

const limit = setTimeout(() => {
	console.error('the run took longer than ten minutes');
	void stopAll().then(() => process.exit(1));
}, 600_000);

try {
	await main();
	console.log('ok');
} catch (error) {
	console.error(error);
	for (const log of ['n8n.log', 'carteira.log']) console.error(`--- ${log}\n${tail(join(folder, log))}`);
	process.exitCode = 1;
} finally {
	clearTimeout(limit);
	await stopAll();
	if (!process.env.KEEP) rmSync(folder, { recursive: true, force: true });
}
