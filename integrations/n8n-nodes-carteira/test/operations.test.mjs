// Every operation of the API is in the node, with its path, its fields and its paging.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { operations } from '../scripts/document.mjs';

const require = createRequire(import.meta.url);
const { Carteira } = require('../dist/nodes/Carteira/Carteira.node.js');
const { description, methods } = new Carteira();

const offered = description.properties
	.filter(({ name }) => name === 'operation')
	.flatMap(({ options, displayOptions }) => options.map((option) => ({ ...option, resource: displayOptions.show.resource[0] })));

/** The parameters that a person sees for an operation, those inside collections too. */
function fieldsOf(operation) {
	return description.properties
		.filter(({ displayOptions }) => displayOptions?.show?.operation?.includes(operation))
		.flatMap((property) => (property.type === 'collection' ? property.options : [property]));
}

test('every operation of the document is offered, and no other', () => {
	const wanted = operations().map(({ operationId, method, path }) => `${operationId} ${method.toUpperCase()} ${path}`);
	assert.ok(wanted.length >= 44, `${wanted.length} operations`);
	const got = offered.map(({ value, routing: { request } }) => {
		const path = request.url.replace(/^=/, '').replace(/\{\{ encodeURIComponent\(String\(\$parameter\["(\w+)"\]\)\) \}\}/g, '{$1}');
		return `${value} ${request.method} ${path}`;
	});
	assert.deepEqual(got.sort(), wanted.sort());
	const resources = description.properties.find(({ name }) => name === 'resource').options.map(({ value }) => value);
	assert.ok(offered.every(({ resource }) => resources.includes(resource)));
});

test('every field that can be sent is offered', () => {
	for (const { operationId, parameters, body } of operations()) {
		const sent = new Set(fieldsOf(operationId).map(({ name, routing }) => routing?.send?.property?.split('.')[0] ?? name));
		const aside = new Set(['page', 'per_page', 'wait']);
		for (const { name } of parameters.filter((parameter) => parameter.in !== 'header' && !aside.has(parameter.name))) {
			assert.ok(sent.has(name), `${operationId} lacks ${name}`);
		}
		for (const { name, schema } of body) {
			const left = schema.readOnly || /^Another name for/.test(schema.description ?? '');
			const inPath = parameters.some((parameter) => parameter.name === name);
			assert.equal(sent.has(name), !left || inPath, `${operationId}: ${name}`);
		}
	}
});

test('lists are paged, and every POST has an idempotency key', () => {
	for (const { operationId, parameters, method } of operations()) {
		const fields = fieldsOf(operationId);
		const paged = parameters.some(({ name }) => name === 'page' || name === 'after');
		assert.equal(fields.some(({ routing }) => routing?.operations?.pagination), paged, operationId);
		const { routing } = offered.find(({ value }) => value === operationId);
		assert.equal(Boolean(routing.send?.preSend), method === 'post', operationId);
	}
});

test('plans, products and events are chosen from lists that exist', () => {
	const methodsUsed = new Set(
		offered.flatMap(({ value }) => fieldsOf(value).map(({ typeOptions }) => typeOptions?.loadOptionsMethod).filter(Boolean)),
	);
	assert.deepEqual([...methodsUsed].sort(), Object.keys(methods.loadOptions).sort());
});
