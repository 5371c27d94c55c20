import type { IDataObject, ILoadOptionsFunctions, INodePropertyOptions } from 'n8n-workflow';
import { baseUrl } from '../../shared/address';

interface Page {
	data: IDataObject[];
	meta: { current_page: number; last_page?: number };
}

/** Reads a whole list for a dropdown, sorted by name. */
async function choices(functions: ILoadOptionsFunctions, path: string): Promise<INodePropertyOptions[]> {
	const { url } = await functions.getCredentials('carteiraApi');
	const found: INodePropertyOptions[] = [];
	for (let page = 1, last = 1; page <= last; page++) {
		const answer = (await functions.helpers.httpRequestWithAuthentication.call(functions, 'carteiraApi', {
			method: 'GET',
			baseURL: baseUrl(url as string),
			url: path,
			qs: { per_page: 200, page },
			json: true,
		})) as Page;
		found.push(...answer.data.map(({ name, id }) => ({ name: name as string, value: id as number })));
		last = answer.meta.last_page ?? 1;
	}
	return found.sort((one, other) => one.name.localeCompare(other.name));
}

export async function getCustomerPlans(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
	return await choices(this, '/customer-plans');
}

export async function getProducts(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
	return await choices(this, '/products');
}

export async function getSubscriptionPlans(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
	return await choices(this, '/plans');
}

/** The events that can be subscribed to, which are all of them but ping. */
export async function getEvents(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
	const { url } = await this.getCredentials('carteiraApi');
	const answer = (await this.helpers.httpRequestWithAuthentication.call(this, 'carteiraApi', {
		method: 'GET',
		baseURL: baseUrl(url as string),
		url: '/webhooks/events',
		json: true,
	})) as Page;
	return answer.data
		.filter(({ event }) => event !== 'ping')
		.map(({ event, description }) => ({ name: event as string, value: event as string, description: description as string }));
}
