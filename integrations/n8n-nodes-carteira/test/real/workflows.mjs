// The workflows of the run.

const node = (name, type, position, parameters, credential) => ({
	id: crypto.randomUUID(),
	name,
	type,
	typeVersion: type.startsWith('n8n-nodes-base') ? 2 : 1,
	position: [position * 200, 0],
	parameters,
	...(credential && { credentials: { carteiraApi: { id: credential.id, name: credential.name } } }),
});

const chain = (...names) =>
	Object.fromEntries(names.slice(0, -1).map((name, i) => [name, { main: [[{ node: names[i + 1], type: 'main', index: 0 }]] }]));

/** When a customer is created, its open invoices are paid in cash. */
export function payOnCreation(credential) {
	const nodes = [
		{ ...node('Created', 'n8n-nodes-carteira.carteiraTrigger', 0, { events: ['customer.created'] }, credential), webhookId: crypto.randomUUID() },
		node('Invoices', 'n8n-nodes-carteira.carteira', 1, {
			resource: 'customer',
			operation: 'listCustomerInvoices',
			id: '={{ $json.data.customer.id }}',
			returnAll: true,
			filters: { status: 'em aberto' },
		}, credential),
		node('Pay', 'n8n-nodes-carteira.carteira', 2, {
			resource: 'invoice',
			operation: 'setInvoiceStatus',
			id: '={{ $json.id }}',
			status: 'Pago',
			additionalFields: { paid_via: 'cash', note: 'n8n' },
		}, credential),
	];
	return [nodes, chain('Created', 'Invoices', 'Pay')];
}

/** Answers a request with every customer that is searched for. */
export function listOnRequest(credential) {
	const nodes = [
		{ ...node('Request', 'n8n-nodes-base.webhook', 0, { path: 'all-customers', responseMode: 'lastNode', responseData: 'allEntries', options: {} }), webhookId: crypto.randomUUID() },
		node('Customers', 'n8n-nodes-carteira.carteira', 1, {
			resource: 'customer',
			operation: 'listCustomers',
			returnAll: true,
			filters: { search: 'página', invoices_limit: 1 },
		}, credential),
	];
	return [nodes, chain('Request', 'Customers')];
}
