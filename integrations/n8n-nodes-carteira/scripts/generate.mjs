// Makes nodes/Carteira/generated from openapi/openapi.yaml: one file for each resource, with its operations and their
// fields, so that the node has whatever the API has.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { operations } from './document.mjs';
import { bodyField, isSent, queryField } from './fields.mjs';
import { Name, print } from './print.mjs';
import { label, sentence, title } from './words.mjs';

const folder = fileURLToPath(new URL('../nodes/Carteira/generated/', import.meta.url));
const byLabel = (one, other) => one.displayName.localeCompare(other.displayName);
const byName = (one, other) => one.name.localeCompare(other.name);

// The first part of a path is the resource.
const resources = { plans: 'subscription plan', 'customer-plans': 'customer plan' };

function resourceOf(path) {
	const first = path.split('/')[1];
	const words = resources[first] ?? first.replaceAll('-', ' ').replace(/s$/, '');
	return { value: words.replace(/ (.)/g, (_, letter) => letter.toUpperCase()), name: title(words) };
}

const isPaged = (operation) => operation.parameters.some(({ name }) => name === 'page');
const isFeed = (operation) => operation.parameters.some(({ name }) => name === 'after') && !isPaged(operation);

function operationOption(operation) {
	const { method, path, summary, description, operationId } = operation;
	const said = sentence(description);
	return {
		name: title(summary),
		value: operationId,
		action: summary.replace(/\bQR\b/, 'qr').replace(/^PIX\b/, 'Pix'), // n8n's sentence case knows no abbreviations
		...(said && said !== title(summary) && { description: said }),
		routing: {
			request: { method: method.toUpperCase(), url: urlOf(path) },
			...(method === 'post' && { send: { preSend: [new Name('addIdempotencyKey')] } }),
			output: { postReceive: [{ type: 'rootProperty', properties: { property: 'data' } }] },
		},
	};
}

function urlOf(path) {
	if (!path.includes('{')) return path;
	return `=${path.replace(/\{(\w+)\}/g, '{{ encodeURIComponent(String($parameter["$1"])) }}')}`;
}

function pathField(parameter, resource) {
	const named = { customerPlan: 'getCustomerPlans', product: 'getProducts', subscriptionPlan: 'getSubscriptionPlans' }[resource.value];
	if (named && parameter.name === 'id') {
		return {
			displayName: `${resource.name} Name or ID`,
			name: 'id',
			type: 'options',
			typeOptions: { loadOptionsMethod: named },
			required: true,
			default: '',
			description: 'Choose from the list, or specify an ID using an <a href="https://docs.n8n.io/code/expressions/">expression</a>',
		};
	}
	const displayName = parameter.name === 'id' ? `${resource.name} ID` : label(parameter.name);
	return { displayName, name: parameter.name, type: 'string', required: true, default: '', description: sentence(parameter.description) };
}

function pageFields(operation) {
	const paging = new Name(isFeed(operation) ? 'feedPagination' : 'pagePagination');
	const limit = isFeed(operation) ? 'limit' : 'per_page';
	return [
		{
			displayName: 'Return All',
			name: 'returnAll',
			type: 'boolean',
			default: false,
			description: 'Whether to return all results or only up to a given limit',
			routing: { send: { paginate: '={{ $value }}' }, operations: { pagination: paging } },
		},
		{
			displayName: 'Limit',
			name: 'limit',
			type: 'number',
			typeOptions: { minValue: 1, maxValue: 200 },
			default: 50,
			description: 'Max number of results to return',
			displayOptions: { show: { returnAll: [false] } },
			routing: { send: { type: 'query', property: limit }, output: { maxResults: '={{ $value }}' } },
		},
	];
}

const paging = new Set(['page', 'per_page', 'limit', 'wait']);

function collection(name, displayName, options) {
	if (!options.length) return [];
	return [{ displayName, name, type: 'collection', placeholder: name === 'filters' ? 'Add Filter' : 'Add Field', default: {}, options: options.sort(byLabel) }];
}

function fieldsOf(operation, resource) {
	const queries = operation.parameters.filter((parameter) => parameter.in === 'query' && !paging.has(parameter.name));
	const fields = operation.body.filter(isSent);
	const withoutRequired = ({ required, ...field }) => field;
	const fieldsFor = (chosen) => chosen.flatMap((field) => bodyField(field, resource.value));
	const lists = operation.method === 'get';
	return [
		...operation.parameters.filter((parameter) => parameter.in === 'path').map((parameter) => pathField(parameter, resource)),
		...fieldsFor(fields.filter((field) => field.required)),
		...(isPaged(operation) || isFeed(operation) ? pageFields(operation) : []),
		...collection(lists ? 'filters' : 'options', lists ? 'Filters' : 'Options', queries.map((field) => withoutRequired(queryField(field, resource.value)))),
		...collection(
			operation.method === 'put' ? 'updateFields' : 'additionalFields',
			operation.method === 'put' ? 'Update Fields' : 'Additional Fields',
			fieldsFor(fields.filter((field) => !field.required)),
		),
	];
}

function shownFor(property, resource, operation) {
	const { displayOptions, ...rest } = property;
	const show = { resource: [resource.value], operation: [operation.operationId], ...displayOptions?.show };
	const { displayName, name, type, required, ...others } = rest;
	return { displayName, name, type, ...(required && { required }), ...others, displayOptions: { show } };
}

function resourceProperties(resource, members) {
	const options = members.map(operationOption).sort(byName);
	return [
		{
			displayName: 'Operation',
			name: 'operation',
			type: 'options',
			noDataExpression: true,
			displayOptions: { show: { resource: [resource.value] } },
			options,
			default: options[0].value,
		},
		...members.flatMap((operation) => fieldsOf(operation, resource).map((property) => shownFor(property, resource, operation))),
	];
}

const banner = '// Made from openapi/openapi.yaml by scripts/generate.mjs. Change that, not this.\n';

function writeResource(resource, properties) {
	const body = print(properties);
	const imported = ['addIdempotencyKey', 'feedPagination', 'pagePagination'].filter((name) => body.includes(name));
	const imports = imported.length ? `import { ${imported.join(', ')} } from '../request';\n` : '';
	const file = `${banner}import type { INodeProperties } from 'n8n-workflow';\n${imports}\nexport const ${resource.value}Properties: INodeProperties[] = ${body};\n`;
	writeFileSync(`${folder}${resource.name.replaceAll(' ', '')}Description.ts`, file);
}

function writeIndex(all) {
	const files = all.map(({ value, name }) => [`${value}Properties`, `./${name.replaceAll(' ', '')}Description`]);
	const property = {
		displayName: 'Resource',
		name: 'resource',
		type: 'options',
		noDataExpression: true,
		options: all.map(({ name, value }) => ({ name, value })),
		default: 'customer',
	};
	writeFileSync(
		`${folder}index.ts`,
		`${banner}import type { INodeProperties } from 'n8n-workflow';\n${files.map(([name, file]) => `import { ${name} } from '${file}';\n`).join('')}` +
			`\nconst resource: INodeProperties = ${print(property)};\n` +
			`\nexport const properties: INodeProperties[] = [resource, ${files.map(([name]) => `...${name}`).join(', ')}];\n`,
	);
}

const grouped = new Map();
for (const operation of operations()) {
	const resource = resourceOf(operation.path);
	if (!grouped.has(resource.value)) grouped.set(resource.value, { resource, members: [] });
	grouped.get(resource.value).members.push(operation);
}
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
const all = [...grouped.values()].sort((one, other) => byName(one.resource, other.resource));
for (const { resource, members } of all) writeResource(resource, resourceProperties(resource, members));
writeIndex(all.map(({ resource }) => resource));
