// A real Carteira with a company in it.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { freePort, start, until } from './processes.mjs';

export class Server {
	static async start({ binary, folder, certificate }) {
		const server = new Server();
		const port = await freePort();
		server.url = `http://127.0.0.1:${port}`;
		const env = {
			CARTEIRA_DATA_DIR: join(folder, 'carteira'),
			CARTEIRA_LISTEN: `127.0.0.1:${port}`,
			CARTEIRA_RATE_LIMIT: '0',
			CARTEIRA_WEBHOOK_ALLOW_NETWORKS: '127.0.0.0/8',
			CARTEIRA_WEBHOOK_RETRY_DELAYS: '0s,1s,1s,1s,1s,1s',
			SSL_CERT_FILE: certificate,
		};
		const run = (...args) => execFileSync(binary, args, { env: { ...process.env, ...env }, encoding: 'utf8' }).trim();
		run('company', 'create', '--name', 'Ana Internet', '--email', 'ana@example.com');
		run('plan', 'create', '--company', '1', '--name', 'Mensal', '--value', '35.00', '--period', '1month');
		run('product', 'create', '--company', '1', '--name', 'Internet 300');
		server.token = run('token', 'create', '--company', '1', '--name', 'n8n');
		start(binary, ['serve'], { env, log: join(folder, 'carteira.log') });
		await until('Carteira is ready', async () => (await fetch(`${server.url}/readyz`)).ok);
		return server;
	}

	async call(method, path, body) {
		const answer = await fetch(`${this.url}/api/v1${path}`, {
			method,
			headers: { Authorization: `Bearer ${this.token}`, 'Content-Type': 'application/json' },
			...(body && { body: JSON.stringify(body) }),
		});
		const read = await answer.json();
		if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(read)}`);
		return read;
	}

	/** Creates customers with a plan, each of which has an open invoice. */
	async createCustomers(...names) {
		for (const name of names) await this.call('POST', '/customers', { name, plan_id: 1 });
	}

	/** How many invoices have a status. */
	async invoices(status) {
		return (await this.call('GET', `/invoices?status=${encodeURIComponent(status)}`)).meta.total;
	}

	async webhooks() {
		return (await this.call('GET', '/webhooks')).data;
	}
}
