export { CarteiraClient, type CallOptions, type ClientOptions, type EventOptions, type Result } from "./client.js";
export { CarteiraError } from "./error.js";
export { verifyWebhook, WebhookError, type EventName, type EventOf, type WebhookEvent } from "./webhook.js";
export type { components, paths } from "./api.js";

import type { components } from "./api.js";

type Schemas = components["schemas"];
/** A customer as the API answers it. */
export type Customer = Schemas["Customer"];
/** What a customer is made from; only `name` is required. */
export type NewCustomer = Schemas["NewCustomer"];
export type Invoice = Schemas["Invoice"];
export type Webhook = Schemas["Webhook"];
