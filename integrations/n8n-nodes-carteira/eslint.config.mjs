// The rules of n8n's own linter for community nodes, as `n8n-node lint` applies them, without the rest of that program.
import js from '@eslint/js';
import { n8nCommunityNodesPlugin } from '@n8n/eslint-plugin-community-nodes';
import { globalIgnores } from 'eslint/config';
import nodesBase from 'eslint-plugin-n8n-nodes-base';
import typescript from 'typescript-eslint';

const community = n8nCommunityNodesPlugin.configs.recommended;

export default typescript.config(
	globalIgnores(['dist', 'scripts', 'test', 'eslint.config.mjs']),
	{
		files: ['**/*.ts'],
		extends: [js.configs.recommended, typescript.configs.recommended, community],
		rules: { 'no-console': 'error' },
	},
	{ plugins: { 'n8n-nodes-base': nodesBase } },
	{
		files: ['package.json'],
		extends: [community],
		rules: {
			...nodesBase.configs.community.rules,
			// n8n lists only packages under MIT; this one is under the licence of the project that it is a part of.
			'n8n-nodes-base/community-package-json-license-not-default': 'off',
		},
		languageOptions: { parser: typescript.parser, parserOptions: { extraFileExtensions: ['.json'] } },
	},
	{
		files: ['credentials/**/*.ts'],
		rules: {
			...nodesBase.configs.credentials.rules,
			// These two contradict rules of the newer plugin, and n8n switches them off as well.
			'n8n-nodes-base/cred-class-field-documentation-url-miscased': 'off',
			'n8n-nodes-base/cred-class-field-type-options-password-missing': 'off',
		},
	},
	{
		files: ['nodes/**/*.ts'],
		rules: {
			...nodesBase.configs.nodes.rules,
			// So do these three.
			'n8n-nodes-base/node-class-description-inputs-wrong-regular-node': 'off',
			'n8n-nodes-base/node-class-description-outputs-wrong': 'off',
			'n8n-nodes-base/node-param-type-options-max-value-present': 'off',
		},
	},
);
