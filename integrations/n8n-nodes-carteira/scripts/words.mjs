// How names and sentences of the document are said in n8n.
import { titleCase } from 'title-case';

const spelled = {
	id: 'ID', url: 'URL', cep: 'CEP', pix: 'PIX', whatsapp: 'WhatsApp', cpf_cnpj: 'CPF or CNPJ', email: 'Email',
	data_de_vencimento: 'Due Date', usuario: 'Username', custom: 'Custom Fields', notification_url: 'Notification URL',
	paid_via: 'Paid Via', price: 'Own Price', per_page: 'Limit',
};

/** The label of a field. */
export function label(name) {
	if (spelled[name]) return spelled[name];
	return title(name.replaceAll('_', ' '));
}

/** A heading as n8n's linter has it. */
export function title(text) {
	return titleCase(text.replace(/`/g, '')).replace(/\bId\b/g, 'ID').replace(/\bUrl\b/g, 'URL');
}

/** The first sentence of a description, plain and without its period. */
export function sentence(text = '') {
	const spaced = text.replace(/\s+/g, ' ').trim();
	if (spaced.startsWith('|')) return ''; // a table
	const first = spaced
		.split(/(?<=[.!?])\s(?=[A-Z0-9`])/)[0]
		.replace(/`|\.$/g, '')
		.replace(/\be-mail\b/g, 'email')
		.replace(/\bid(s?)\b/g, 'ID$1');
	return first.charAt(0).toUpperCase() + first.slice(1);
}

const whether = {
	cancelled: 'Whether the customer is cancelled; false takes it back',
	recurring: 'Whether only customers who are worth something a month are wanted, or only the others',
	renews: 'Whether it is the invoice of the customer\'s due date',
	active: 'Whether it is in use',
	overdue: 'Whether only overdue invoices are wanted, or only the others',
};

/** What n8n's linter wants of a switch: a sentence that begins with Whether. */
export function whetherSentence(name, text) {
	const said = sentence(text);
	if (said.startsWith('Whether')) return said;
	return whether[name] ?? `Whether ${label(name).toLowerCase()} applies`;
}
