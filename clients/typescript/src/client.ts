import type { paths } from "./api.js";
import { CarteiraError } from "./error.js";
import { retryDelay, sleep } from "./retry.js";
import type { EventName, EventOf } from "./webhook.js";

type Method = "get" | "post" | "put" | "delete";

/** The paths that can be called with a method. */
type PathWith<M extends Method> = { [P in keyof paths]: paths[P] extends Record<M, { responses: object }> ? P : never }[keyof paths];
type Operation<M extends Method, P extends PathWith<M>> = paths[P][M];

type Answer<O> = O extends { responses: { 200: { content: { "application/json": infer A } } } } ? A : never;
type Data<O> = Answer<O> extends { data: infer D } ? D : never;
type Item<O> = Data<O> extends readonly (infer I)[] ? I : never;
type Query<O> = O extends { parameters: { query?: infer Q } } ? Q : never;
type Path<O> = O extends { parameters: { path: infer I } } ? I : never;
type Json<R> = R extends { content: { "application/json": infer B } } ? B : never;
type Body<O> = O extends { requestBody?: infer R } ? Json<NonNullable<R>> : never;

/** The paths whose answer is a list in pages. */
type ListPath = { [P in PathWith<"get">]: IsPaged<NonNullable<Query<Operation<"get", P>>>> extends true ? P : never }[PathWith<"get">];
type IsPaged<Q> = [Q] extends [never] ? false : "page" extends keyof Q ? true : false;

export interface ClientOptions {
  /** What the addresses of the installation's pages begin with, such as https://clientes.example.com. */
  url: string;
  token: string;
  /** How often a call is repeated after 429, 502, 503, 504 or a broken connection; 4 unless told. */
  retries?: number;
  /** The longest wait before a repeat, in milliseconds; 60 seconds unless told. */
  longestWait?: number;
  /** How long one attempt may take, in milliseconds; 35 seconds unless told. */
  timeout?: number;
  fetch?: typeof fetch;
}

export type CallOptions<O> = {
  signal?: AbortSignal;
  /** Names this one request, so that a repeat by another process does nothing twice. Made by itself otherwise. */
  idempotencyKey?: string;
} & ([Path<O>] extends [never] ? { path?: never } : { path: Path<O> }) &
  ([Query<O>] extends [never] ? { query?: never } : { query?: Query<O> }) &
  ([Body<O>] extends [never] ? { body?: never } : O extends { requestBody: object } ? { body: Body<O> } : { body?: Body<O> });

export interface EventOptions<N extends EventName = EventName> {
  /** The id of the last event that you have dealt with; those after it follow. `latest`: what happens from now on. */
  after?: string;
  /** Where to begin without `after`: a time as RFC 3339. Without either, at the oldest event that is kept. */
  since?: string;
  /** Only these, such as `invoice.paid`. */
  types?: readonly N[];
  /** How many seconds one call waits for an event; 25 unless told. With 0 the reading ends where the events do. */
  wait?: number;
  signal?: AbortSignal;
}

/** An answer: the record, or the records of one page with `meta`. */
export type Result<O> = Omit<Answer<O>, "success">;

/** Operations that need nothing may be called without options. */
type Arguments<O> = {} extends CallOptions<O> ? [options?: CallOptions<O>] : [options: CallOptions<O>];

interface FeedPage<N extends EventName> {
  data: EventOf<N>[];
  meta: { last_id?: string | null; has_more: boolean };
}

interface Request {
  method: Method;
  url: URL;
  headers: Record<string, string>;
  body?: string;
  signal?: AbortSignal | undefined;
}

/**
 * Calls the API of one installation with one token. Calls are repeated when that does no harm: those that read, and
 * every POST, since each carries an `Idempotency-Key`. `Retry-After` is heeded.
 */
export class CarteiraClient {
  readonly #options: Required<Omit<ClientOptions, "url">> & { base: string };

  constructor(options: ClientOptions) {
    if (!options.token) throw new TypeError("CarteiraClient needs a token");
    this.#options = {
      base: options.url.replace(/\/+$/, "") + "/api/v1",
      token: options.token,
      retries: options.retries ?? 4,
      longestWait: options.longestWait ?? 60_000,
      timeout: options.timeout ?? 35_000,
      fetch: options.fetch ?? fetch,
    };
  }

  get<P extends PathWith<"get">>(path: P, ...[options]: Arguments<Operation<"get", P>>): Promise<Result<Operation<"get", P>>> {
    return this.#call("get", path, options);
  }

  post<P extends PathWith<"post">>(path: P, ...[options]: Arguments<Operation<"post", P>>): Promise<Result<Operation<"post", P>>> {
    return this.#call("post", path, options);
  }

  put<P extends PathWith<"put">>(path: P, ...[options]: Arguments<Operation<"put", P>>): Promise<Result<Operation<"put", P>>> {
    return this.#call("put", path, options);
  }

  delete<P extends PathWith<"delete">>(
    path: P, ...[options]: Arguments<Operation<"delete", P>>
  ): Promise<Result<Operation<"delete", P>>> {
    return this.#call("delete", path, options);
  }

  /** Every record of a list, page after page: `for await (const customer of client.list("/customers")) …` */
  async *list<P extends ListPath>(path: P, ...[options]: Arguments<Operation<"get", P>>): AsyncGenerator<Item<Operation<"get", P>>> {
    for (let page = 1, last = 1; page <= last; page++) {
      const query = { per_page: 200, ...(options as { query?: object } | undefined)?.query, page };
      const answer = await this.#call<{ data: Item<Operation<"get", P>>[]; meta: { last_page?: number } }>("get", path, { ...options, query });
      yield* answer.data;
      last = answer.meta.last_page ?? 1;
    }
  }

  /**
   * The company's events as webhooks get them, oldest first, each once: `for await (const event of client.events({ after })) …`.
   * It goes on for ever, unless `wait` is 0 or the signal says to stop. Keep `event.id` with your work, and begin after it next time.
   */
  async *events<N extends EventName = EventName>({ after, since, types, wait = 25, signal }: EventOptions<N> = {}): AsyncGenerator<EventOf<N>> {
    for (let place = after, more = true; more || wait > 0; ) {
      const began = Date.now();
      const query = { after: place, since: place ? undefined : since, types: types?.join(","), limit: 200, wait: wait || undefined };
      const answer = await this.#call<FeedPage<N>>("get", "/events", { query, signal });
      yield* answer.data;
      // Without any event yet, "latest" becomes the beginning: what comes next is all there is.
      place = answer.meta.last_id ?? (place === "latest" ? undefined : place);
      more = answer.meta.has_more;
      // Where too many wait already, the answer comes at once.
      if (!more && !answer.data.length && Date.now() - began < wait * 500) await sleep(Math.min(wait * 1000, 5000), signal);
    }
  }

  async #call<T>(method: Method, path: string, options: object = {}): Promise<T> {
    const request = this.#request(method, path, options as CallOptions<never>);
    for (let attempt = 0; ; attempt++) {
      const answer = await this.#attempt(request).catch((failure: unknown) => {
        if (request.signal?.aborted || attempt >= this.#options.retries || method === "put" || method === "delete") throw failure;
        return null; // the connection broke, and whether it was done is not known; repeating is safe
      });
      if (answer?.ok) return (await answer.json()) as T;
      const wait = retryDelay(answer, attempt, this.#options.longestWait);
      if (answer && (wait === null || attempt >= this.#options.retries)) throw await failureOf(answer);
      await answer?.body?.cancel();
      await sleep(wait ?? 0, request.signal);
    }
  }

  #attempt(request: Request): Promise<Response> {
    const limit = AbortSignal.timeout(this.#options.timeout);
    return this.#options.fetch(request.url, {
      method: request.method.toUpperCase(),
      headers: request.headers,
      body: request.body ?? null,
      signal: request.signal ? AbortSignal.any([limit, request.signal]) : limit,
    });
  }

  #request(method: Method, path: string, options: CallOptions<never> & { path?: object; query?: object; body?: unknown }): Request {
    const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
      const value = (options.path as Record<string, unknown> | undefined)?.[name];
      if (value === undefined || value === null || value === "") throw new TypeError(`${path} needs ${name}`);
      return encodeURIComponent(String(value));
    });
    const url = new URL(this.#options.base + filled);
    for (const [name, value] of Object.entries(options.query ?? {})) {
      if (value !== undefined && value !== null) url.searchParams.set(name, String(value));
    }
    const headers: Record<string, string> = { Authorization: `Bearer ${this.#options.token}`, Accept: "application/json" };
    if (method === "post") headers["Idempotency-Key"] = options.idempotencyKey ?? crypto.randomUUID();
    const request: Request = { method, url, headers, signal: options.signal };
    if (options.body !== undefined) {
      headers["Content-Type"] = "application/json";
      request.body = JSON.stringify(options.body);
    }
    return request;
  }
}

async function failureOf(answer: Response): Promise<CarteiraError> {
  const body = (await answer.json().catch(() => ({}))) as { message?: string; errors?: Record<string, string[]> };
  return new CarteiraError(answer.status, body.message ?? `HTTP ${answer.status}`, answer.headers.get("X-Request-Id"), body.errors);
}
