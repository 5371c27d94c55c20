import type { components } from "./api.js";

/** What a webhook is sent and the feed carries: `switch (event.event)` tells the compiler what `event.data` is. */
export type WebhookEvent = components["schemas"]["AnyEvent"];

/** The names of events. */
export type EventName = WebhookEvent["event"];

/** The event of a name: `EventOf<"invoice.paid">`. */
export type EventOf<N extends EventName> = Extract<WebhookEvent, { event: N }>;

/** A request that is not from the installation, or not an event. `status` is what to answer with. */
export class WebhookError extends Error {
  override readonly name = "WebhookError";

  constructor(
    readonly status: 400 | 401 | 408,
    message: string,
  ) {
    super(message);
  }
}

type Headers = Record<string, string | string[] | undefined> | { get(name: string): string | null };

/**
 * Checks the signature and the time of a request and returns its event. `body` must be the raw bytes, or their text
 * before anything parsed it. One event may come more than once: remember `id`. It uses the Web Cryptography API, which
 * Node, Deno, Bun, browsers and workers have.
 */
export async function verifyWebhook(body: Uint8Array | string, headers: Headers, secret: string, now = Date.now()): Promise<WebhookEvent> {
  if (!secret) throw new TypeError("verifyWebhook needs the webhook's secret: with an empty one everybody's signature is right");
  const encoder = new TextEncoder();
  const timestamp = header(headers, "X-Service-Timestamp");
  const raw = typeof body === "string" ? encoder.encode(body) : body;
  const signed = new Uint8Array([...encoder.encode(timestamp + "."), ...raw]);
  const key = await crypto.subtle.importKey("raw", encoder.encode(secret), { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
  const given = bytes(header(headers, "X-Service-Signature"));
  if (!given || !(await crypto.subtle.verify("HMAC", key, given, signed))) throw new WebhookError(401, "wrong signature");
  if (!/^\d{1,12}$/.test(timestamp) || Math.abs(now / 1000 - Number(timestamp)) > 300) {
    throw new WebhookError(408, "sent more than 300 seconds ago, or from the future");
  }
  return parse(new TextDecoder().decode(raw));
}

/** The bytes of `sha256=` and 64 hexadecimal digits; null for anything else. */
function bytes(signature: string): Uint8Array<ArrayBuffer> | null {
  const [, digits] = /^sha256=([0-9a-f]{64})$/.exec(signature) ?? [];
  return digits ? Uint8Array.from(digits.match(/../g) ?? [], (pair) => parseInt(pair, 16)) : null;
}

function header(headers: Headers, name: string): string {
  if (typeof headers.get === "function") return headers.get(name) ?? "";
  const value = (headers as Record<string, string | string[] | undefined>)[name.toLowerCase()] ?? (headers as Record<string, string>)[name];
  return (Array.isArray(value) ? value[0] : value) ?? "";
}

function parse(text: string): WebhookEvent {
  let event: unknown;
  try {
    event = JSON.parse(text);
  } catch {
    throw new WebhookError(400, "not JSON");
  }
  const { id, event: name } = (event ?? {}) as { id?: unknown; event?: unknown };
  if (typeof id !== "string" || !id || typeof name !== "string" || !name) throw new WebhookError(400, "not an event");
  return event as WebhookEvent;
}
