/** The address of the API, from that of the installation. */
export function baseUrl(installation: string): string {
	return `${installation.replace(/\/+$/, '')}/api/v1`;
}
