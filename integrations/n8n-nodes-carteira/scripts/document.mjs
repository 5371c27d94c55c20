// Reads openapi/openapi.yaml as a list of operations, with every $ref followed.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

const file = fileURLToPath(new URL('../../../openapi/openapi.yaml', import.meta.url));
const document = parse(readFileSync(file, 'utf8'), { maxAliasCount: -1 });
const methods = ['get', 'post', 'put', 'delete'];

/** Every operation of the document: method, path, operationId, summary, description, parameters, body. */
export function operations() {
	const follow = (value) => dereference(document, value);
	return Object.entries(document.paths).flatMap(([path, item]) =>
		methods
			.filter((method) => item[method])
			.map((method) => operation({ path, method, item, follow })),
	);
}

function operation({ path, method, item, follow }) {
	const { operationId, summary, description, parameters = [], requestBody } = item[method];
	const all = [...(item.parameters ?? []), ...parameters].map((parameter) => {
		const followed = follow(parameter);
		return { ...followed, schema: follow(followed.schema) };
	});
	const body = requestBody && bodyFields(follow(requestBody), follow);
	return { path, method, operationId, summary, description, parameters: all, body: body ?? [] };
}

function bodyFields(requestBody, follow) {
	const schema = follow(requestBody.content['application/json'].schema);
	const required = new Set(schema.required ?? []);
	return Object.entries(schema.properties ?? {}).map(([name, property]) => ({
		name,
		required: required.has(name),
		schema: deep(follow(property), follow),
	}));
}

// A field's schema may have parts of its own, such as an address or a list of events.
function deep(schema, follow) {
	const followed = { ...schema };
	if (schema.items) followed.items = follow(schema.items);
	if (schema.anyOf) followed.anyOf = schema.anyOf.map(follow);
	if (schema.oneOf) followed.oneOf = schema.oneOf.map(follow);
	if (schema.properties) {
		followed.properties = Object.fromEntries(
			Object.entries(schema.properties).map(([name, part]) => [name, follow(part)]),
		);
	}
	return followed;
}

function dereference(document, value) {
	if (!value?.$ref) return value;
	const { $ref, ...beside } = value;
	const target = $ref
		.slice(2)
		.split('/')
		.reduce((at, key) => at[key], document);
	return { ...dereference(document, target), ...beside };
}
