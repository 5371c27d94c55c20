import { NodeConnectionTypes, type INodeType, type INodeTypeDescription } from 'n8n-workflow';
import { properties } from './generated';
import { getCustomerPlans, getEvents, getProducts, getSubscriptionPlans } from './loadOptions';

/** Calls every operation of the API. What it offers is made from the API's own document. */
export class Carteira implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Carteira',
		name: 'carteira',
		icon: { light: 'file:../../icons/carteira.svg', dark: 'file:../../icons/carteira.dark.svg' },
		group: ['transform'],
		version: 1,
		subtitle: '={{$parameter["operation"]}}',
		description: 'Customers, invoices, PIX, resellers and webhooks of Carteira',
		defaults: { name: 'Carteira' },
		usableAsTool: true,
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
		credentials: [{ name: 'carteiraApi', required: true }],
		requestDefaults: {
			baseURL: '={{ $credentials.url.replace(/\\/+$/, "") }}/api/v1',
			headers: { Accept: 'application/json' },
		},
		properties,
	};

	methods = { loadOptions: { getCustomerPlans, getEvents, getProducts, getSubscriptionPlans } };
}
