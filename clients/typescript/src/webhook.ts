import { createHmac, timingSafeEqual } from "node:crypto";

/** What a webhook is sent. `data` depends on `event`; GET /webhooks/events has a sample of each. */
export interface WebhookEvent {
  event: string;
  id: string;
  platform: string;
  api_version: string;
  occurred_at: string;
  company_id: number;
  data: Record<string, unknown>;
}

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
 * before anything parsed it. One event may come more than once: remember `id`.
 */
export function verifyWebhook(body: Uint8Array | string, headers: Headers, secret: string, now = Date.now()): WebhookEvent {
  if (!secret) throw new TypeError("verifyWebhook needs the webhook's secret: with an empty one everybody's signature is right");
  const timestamp = header(headers, "X-Service-Timestamp");
  const want = Buffer.from("sha256=" + createHmac("sha256", secret).update(timestamp + ".").update(body).digest("hex"));
  const got = Buffer.from(header(headers, "X-Service-Signature"));
  if (want.length !== got.length || !timingSafeEqual(want, got)) throw new WebhookError(401, "wrong signature");
  if (!/^\d{1,12}$/.test(timestamp) || Math.abs(now / 1000 - Number(timestamp)) > 300) {
    throw new WebhookError(408, "sent more than 300 seconds ago, or from the future");
  }
  return parse(typeof body === "string" ? body : Buffer.from(body).toString("utf8"));
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
  const { id, event: name } = (event ?? {}) as Partial<WebhookEvent>;
  if (typeof id !== "string" || !id || typeof name !== "string" || !name) throw new WebhookError(400, "not an event");
  return event as WebhookEvent;
}
