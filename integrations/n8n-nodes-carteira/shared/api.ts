import {
	NodeApiError,
	sleep,
	type IDataObject,
	type IHookFunctions,
	type IHttpRequestMethods,
	type ITriggerFunctions,
	type JsonObject,
} from 'n8n-workflow';
import { baseUrl } from './address';

export interface Answer {
	statusCode: number;
	headers: IDataObject;
	body: { message?: string; data?: unknown; meta?: IDataObject };
}

export interface Call {
	method: IHttpRequestMethods;
	path: string;
	qs?: IDataObject;
	body?: IDataObject;
	/** Statuses besides 200 that the caller handles. */
	accept?: number[];
}

const attempts = 4;
const longestWait = 60;

/** Calls the API as the credential says, and again after 429 and 503 when the server says to. */
export async function call(functions: IHookFunctions | ITriggerFunctions, request: Call): Promise<Answer> {
	const { url } = await functions.getCredentials('carteiraApi');
	for (let attempt = 1; ; attempt++) {
		const answer = (await functions.helpers.httpRequestWithAuthentication.call(functions, 'carteiraApi', {
			method: request.method,
			baseURL: baseUrl(url as string),
			url: request.path,
			qs: request.qs,
			body: request.body,
			json: true,
			timeout: 40_000,
			returnFullResponse: true,
			ignoreHttpStatusErrors: true,
		})) as Answer;
		if (answer.statusCode === 200 || request.accept?.includes(answer.statusCode)) return answer;
		const wait = secondsToWait(answer);
		if (wait === null || attempt === attempts) throw failure(functions, answer);
		await sleep(wait * 1000);
	}
}

function secondsToWait({ statusCode, headers }: Answer): number | null {
	if (statusCode !== 429 && statusCode !== 503) return null;
	const told = Number(headers['retry-after'] ?? 1);
	return told <= longestWait ? told : null;
}

function failure(functions: IHookFunctions | ITriggerFunctions, { statusCode, body }: Answer): NodeApiError {
	const message = body?.message ?? `HTTP ${statusCode}`;
	return new NodeApiError(functions.getNode(), (body ?? {}) as JsonObject, { message, httpCode: String(statusCode) });
}
