// Prints values as TypeScript.

/** A name that is printed as it is, not as a text. */
export class Name {
	constructor(name) {
		this.name = name;
	}
}

export function print(value, depth = 0) {
	const indent = '\t'.repeat(depth + 1);
	const end = '\t'.repeat(depth);
	if (value instanceof Name) return value.name;
	if (Array.isArray(value)) {
		if (value.every((item) => typeof item !== 'object')) return `[${value.map((item) => print(item)).join(', ')}]`;
		return `[\n${value.map((item) => `${indent}${print(item, depth + 1)},\n`).join('')}${end}]`;
	}
	if (value && typeof value === 'object') {
		const lines = Object.entries(value).map(([key, item]) => `${indent}${keyOf(key)}: ${print(item, depth + 1)},\n`);
		return lines.length ? `{\n${lines.join('')}${end}}` : '{}';
	}
	return typeof value === 'string' ? text(value) : String(value);
}

const keyOf = (key) => (/^[A-Za-z_]\w*$/.test(key) ? key : text(key));
const text = (value) => `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', '\\n')}'`;
