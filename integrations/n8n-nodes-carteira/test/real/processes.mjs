// Starts and stops the programs of a run. What was started is stopped at the end, whatever happens.
import { spawn } from 'node:child_process';
import { openSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';

const running = new Set();

/** Starts a program that writes to a log file. */
export function start(command, args, { env, log, cwd }) {
	const out = openSync(log, 'a');
	const child = spawn(command, args, { env: { ...process.env, ...env }, cwd, stdio: ['ignore', out, out] });
	running.add(child);
	child.once('exit', () => running.delete(child));
	return child;
}

/** Stops a program and waits until it is gone. */
export async function stop(child, signal = 'SIGTERM') {
	if (child.exitCode !== null || child.signalCode !== null) return;
	const gone = new Promise((done) => child.once('exit', done));
	child.kill(signal);
	await gone;
}

export async function stopAll() {
	await Promise.all([...running].map((child) => stop(child, 'SIGKILL')));
}

/** Calls until it returns something; fails with what it was waiting for. */
export async function until(what, check, seconds = 60) {
	const late = Date.now() + seconds * 1000;
	for (let last; ; ) {
		try {
			const found = await check();
			if (found) return found;
			last = found;
		} catch (error) {
			if (error.final) throw error;
			last = error;
		}
		if (Date.now() > late) throw new Error(`${what}: not within ${seconds} s: ${last}`);
		await new Promise((done) => setTimeout(done, 250));
	}
}

export function freePort() {
	return new Promise((done) => {
		const server = createServer();
		server.listen(0, '127.0.0.1', () => {
			const { port } = server.address();
			server.close(() => done(port));
		});
	});
}

/** The end of a log, for a failure. */
export function tail(file) {
	try {
		return readFileSync(file, 'utf8').split('\n').slice(-40).join('\n');
	} catch {
		return '';
	}
}
