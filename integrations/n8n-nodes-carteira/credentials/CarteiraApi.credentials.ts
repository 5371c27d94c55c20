import type {
	IAuthenticateGeneric,
	Icon,
	ICredentialTestRequest,
	ICredentialType,
	INodeProperties,
} from 'n8n-workflow';

/** Where the installation is, and the token to call it with. */
export class CarteiraApi implements ICredentialType {
	name = 'carteiraApi';

	displayName = 'Carteira API';

	icon: Icon = { light: 'file:../icons/carteira.svg', dark: 'file:../icons/carteira.dark.svg' };

	documentationUrl = 'https://example.com/carteira/integrations/n8n';

	properties: INodeProperties[] = [
		{
			displayName: 'Address',
			name: 'url',
			type: 'string',
			default: '',
			required: true,
			placeholder: 'https://clientes.example.com',
			description: 'What the addresses of the panel begin with',
		},
		{
			displayName: 'API Token',
			name: 'token',
			type: 'string',
			typeOptions: { password: true },
			default: '',
			required: true,
			description: 'From the menu API tokens of the panel, where it is shown once',
		},
	];

	authenticate: IAuthenticateGeneric = {
		type: 'generic',
		properties: { headers: { Authorization: '=Bearer {{$credentials.token}}' } },
	};

	test: ICredentialTestRequest = {
		request: {
			baseURL: '={{ $credentials.url.replace(/\\/+$/, "") }}/api/v1',
			url: '/account',
		},
	};
}
