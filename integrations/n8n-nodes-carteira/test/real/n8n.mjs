// A real n8n, driven as its editor drives it.
import { join } from 'node:path';
import { start, stop, until } from './processes.mjs';

export class N8n {
	constructor({ program, folder, port, publicUrl }) {
		Object.assign(this, { program, folder, port, publicUrl, cookie: '' });
		this.url = `http://127.0.0.1:${port}`;
	}

	async start() {
		const env = {
			N8N_USER_FOLDER: this.folder,
			N8N_LISTEN_ADDRESS: '127.0.0.1',
			N8N_PORT: String(this.port),
			WEBHOOK_URL: this.publicUrl,
			N8N_DIAGNOSTICS_ENABLED: 'false',
			N8N_VERSION_NOTIFICATIONS_ENABLED: 'false',
			N8N_TEMPLATES_ENABLED: 'false',
			N8N_RUNNERS_ENABLED: 'false',
			N8N_SECURE_COOKIE: 'false',
			EXECUTIONS_DATA_SAVE_ON_SUCCESS: 'all',
			N8N_EXPRESSION_ENGINE: 'legacy', // the other one needs a native module that not every machine can build
			N8N_DISABLED_MODULES: 'mcp',
			DB_SQLITE_POOL_SIZE: '2',
		};
		this.child = start(this.program, ['start'], { env, log: join(this.folder, 'n8n.log'), cwd: this.folder });
		await until('n8n is ready', async () => {
			if (this.child.exitCode !== null) throw Object.assign(new Error('n8n has ended'), { final: true });
			const answer = await fetch(`${this.url}/rest/settings`);
			return answer.ok && (await answer.json()).data;
		}, 240);
	}

	async stop() {
		await stop(this.child);
	}

	async call(method, path, body) {
		const answer = await fetch(`${this.url}/rest${path}`, {
			method,
			headers: { 'Content-Type': 'application/json', Cookie: this.cookie },
			...(body && { body: JSON.stringify(body) }),
		});
		const set = answer.headers.getSetCookie().find((cookie) => cookie.startsWith('n8n-auth='));
		if (set) this.cookie = set.split(';')[0];
		const text = await answer.text();
		if (!answer.ok) throw new Error(`n8n ${method} ${path}: ${answer.status} ${text}`);
		return JSON.parse(text).data;
	}

	async setUp() {
		await until('n8n takes its owner', () =>
			this.call('POST', '/owner/setup', { email: 'ana@example.com', firstName: 'Ana', lastName: 'Lima', password: 'Senha-segura-1' }),
		);
	}

	/** Makes the credential and runs its test. */
	async credential(data) {
		const made = await this.call('POST', '/credentials', { name: 'Carteira', type: 'carteiraApi', data });
		const tested = await this.call('POST', '/credentials/test', { credentials: { id: made.id, name: made.name, type: made.type, data } });
		return { id: made.id, name: made.name, tested };
	}

	async workflow(name, nodes, connections) {
		return await this.call('POST', '/workflows', { name, nodes, connections, settings: {}, active: false });
	}

	async activate({ id }) {
		const { versionId } = await this.call('GET', `/workflows/${id}`);
		await this.call('POST', `/workflows/${id}/activate`, { versionId });
	}

	async deactivate({ id }) {
		await this.call('POST', `/workflows/${id}/deactivate`);
	}

	/** How many executions a workflow had, by status. */
	async executions({ id }) {
		const filter = encodeURIComponent(JSON.stringify({ workflowId: id }));
		const { results } = await this.call('GET', `/executions?filter=${filter}&limit=100`);
		return results;
	}

	/** The choices of a dropdown. */
	async choices(credential, method) {
		const found = await this.call('POST', '/dynamic-node-parameters/options', {
			path: 'parameters.id',
			nodeTypeAndVersion: { name: 'n8n-nodes-carteira.carteira', version: 1 },
			methodName: method,
			currentNodeParameters: {},
			credentials: { carteiraApi: credential },
		});
		return found.map(({ name }) => name);
	}
}
