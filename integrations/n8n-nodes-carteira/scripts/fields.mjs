// Makes n8n parameters from fields of the document.
import { label, sentence, title, whetherSentence } from './words.mjs';

const expression = 'https://docs.n8n.io/code/expressions/';
const dateOnly = '={{ $value ? String($value).slice(0, 10) : $value }}';
const instant = '={{ $value ? DateTime.fromISO(String($value)).toISO() : $value }}';
const parsed = '={{ typeof $value === "string" ? JSON.parse($value || "{}") : $value }}';
const commas = '={{ Array.isArray($value) ? $value.join(",") : $value }}';

/** The dropdowns: what is chosen from, by the name of a field. */
function dropdown(name, resource) {
	if (name === 'plan_id') return resource === 'reseller' ? 'getSubscriptionPlans' : 'getCustomerPlans';
	return { product_id: 'getProducts', events: 'getEvents', types: 'getEvents' }[name];
}

/** Whether a person sends the field: not what is only read, nor a second name for another. */
export function isSent({ schema }) {
	return !schema.readOnly && !/^Another name for/.test(schema.description ?? '');
}

/** The parameters of a field of a body: one, or one for each part of an object. */
export function bodyField(field, resource) {
	const { name, schema } = field;
	if (!schema.properties) return [parameter({ ...field, resource, type: 'body' })];
	return Object.entries(schema.properties).map(([part, partSchema]) => {
		const made = parameter({ name: part, schema: partSchema, resource, type: 'body', property: `${name}.${part}` });
		return { ...made, displayName: `${label(name)} ${made.displayName}`, name: `${name}_${part}` };
	});
}

/** The parameter of a query. */
export function queryField(field, resource) {
	return parameter({ ...field, resource, type: 'query' });
}

function parameter({ name, schema, description, resource, type, required, property = name }) {
	const said = sentence(description ?? schema.description);
	const control = controlOf(name, schema, resource);
	const { value, ...shown } = control;
	if (type === 'query' && shown.type === 'multiOptions') control.value = commas;
	const send = { type, property, ...(control.value && { value: control.value }) };
	const text = shown.type === 'boolean' ? whetherSentence(name, description ?? schema.description) : said;
	return {
		displayName: shown.displayName ?? label(name),
		name,
		...(required && { required: true }),
		...shown,
		...((shown.description ?? text) && { description: shown.description ?? text }),
		routing: { send },
	};
}

function controlOf(name, schema, resource) {
	const method = dropdown(name, resource);
	if (method) return chosen(name, method);
	const options = valuesOf(schema);
	const types = [schema.type].flat();
	if (types.includes('array') || schema.items) return listOf(schema);
	if (options) return { type: 'options', options: options.map(option).sort(byName), default: options[0] };
	if (isDate(schema)) return { type: 'dateTime', default: '', value: dateOnly };
	if (schema.format === 'date-time') return { type: 'dateTime', default: '', value: instant };
	if (types.includes('boolean')) return { type: 'boolean', default: false };
	if (types.includes('integer')) return { type: 'number', default: schema.default ?? schema.minimum ?? 0 };
	if (types.includes('object')) return { type: 'json', default: '{}', value: parsed };
	if (name === 'email') return { type: 'string', placeholder: 'name@email.com', default: '' };
	if (name === 'password') return { type: 'string', typeOptions: { password: true }, default: '' };
	return { type: 'string', default: '' };
}

function chosen(name, method) {
	const many = name === 'events' || name === 'types';
	const what = many ? 'Names or IDs' : 'Name or ID';
	const description = many
		? `Choose from the list, or specify IDs using an <a href="${expression}">expression</a>`
		: `Choose from the list, or specify an ID using an <a href="${expression}">expression</a>`;
	return {
		displayName: `${many ? 'Event' : label(name.replace(/_id$/, ''))} ${what}`,
		type: many ? 'multiOptions' : 'options',
		typeOptions: { loadOptionsMethod: method },
		default: many ? [] : '',
		description,
	};
}

function listOf(schema) {
	const options = valuesOf(schema.items ?? {});
	if (options) return { type: 'multiOptions', options: options.map(option).sort(byName), default: [] };
	return { type: 'json', default: '[]', value: parsed.replaceAll('{}', '[]') };
}

// The values of an enum, also where it is one of several schemas or written as a pattern.
function valuesOf(schema) {
	const listed = schema.enum ?? (schema.anyOf ?? schema.oneOf ?? []).find((part) => part?.enum)?.enum;
	if (listed) return listed.filter((value) => value !== null).map(String);
	const pattern = /^\^\(([a-z_|]+)\)\??\$$/.exec(schema.pattern ?? '');
	return pattern?.[1].split('|');
}

function option(value) {
	return { name: title(value.replaceAll('_', ' ').replace(/^./, (letter) => letter.toUpperCase())), value };
}

const byName = (one, other) => one.name.localeCompare(other.name);

function isDate(schema) {
	return schema.format === 'date' || /\[0-9\]\{4\}-\[0-9\]\{2\}-\[0-9\]\{2\}/.test(schema.pattern ?? '') || /`YYYY-MM-DD`/.test(schema.description ?? '');
}
