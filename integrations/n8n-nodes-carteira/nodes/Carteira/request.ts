import type {
	IDataObject,
	IExecuteSingleFunctions,
	IHttpRequestOptions,
	IN8nRequestOperations,
} from 'n8n-workflow';

/**
 * Names the request after the execution, the node's run and the item, so that n8n's own "Retry On Fail" repeats it
 * without doing anything twice.
 */
export async function addIdempotencyKey(
	this: IExecuteSingleFunctions,
	requestOptions: IHttpRequestOptions,
): Promise<IHttpRequestOptions> {
	const item = this.getItemIndex();
	const run = this.evaluateExpression('{{ $runIndex }}', item) as number;
	const key = ['n8n', this.getWorkflow().id, this.getExecutionId(), this.getNode().id, run, item].join('-');
	requestOptions.headers = { ...requestOptions.headers, 'Idempotency-Key': key.slice(0, 255) };
	return requestOptions;
}

type Pagination = IN8nRequestOperations['pagination'];

// n8n puts what a page asks for in place of the whole query, so that the filters must be said again.
const withFilters = (more: string) => `={{ Object.assign({}, $request.qs, ${more}) }}` as unknown as IDataObject;

/** Walks a list by its pages. */
export const pagePagination: Pagination = {
	type: 'generic',
	properties: {
		continue: '={{ $response.body.meta.current_page < $response.body.meta.last_page }}',
		request: { qs: withFilters('{ per_page: 200, page: ($response.body?.meta?.current_page ?? 0) + 1 }') },
	},
};

/** Walks the events from where the last answer ended. */
export const feedPagination: Pagination = {
	type: 'generic',
	properties: {
		continue: '={{ $response.body.meta.has_more }}',
		request: { qs: withFilters('{ limit: 200, after: $response.body?.meta?.last_id ?? $request.qs.after }') },
	},
};
