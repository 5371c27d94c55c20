// What the compiler must take, and what it must refuse. It is only compiled, by readme.mjs.
import { CarteiraClient, type Customer, type WebhookEvent } from "carteira-client";

const carteira = new CarteiraClient({ url: "https://clientes.example.com", token: "cart_" });

export async function calls(): Promise<void> {
  const { data: customer } = await carteira.post("/customers", { body: { name: "João", plan_id: 1 } });
  const due: string | null = customer.data_de_vencimento;
  const { meta } = await carteira.get("/customers", { query: { search: due ?? "", per_page: 10 } });
  const total: number = meta.total;
  await carteira.get("/account");
  await carteira.post("/customers/{id}/renew-due-date", { path: { id: total } });
  await carteira.post("/invoices/{id}/pix", { path: { id: 7 } });
  await carteira.post("/invoices/{id}/pix", { path: { id: 7 }, body: { notification_url: "https://example.com/paid" } });
  await carteira.post("/invoices/{id}/status", { path: { id: 7 }, body: { status: "Pago", paid_via: "cash" } });
  await carteira.delete("/customers/{id}", { path: { id: 7 } });
  for await (const one of carteira.list("/customers", { query: { status: "ativo" } })) takeCustomer(one);
  for await (const invoice of carteira.list("/invoices")) invoice.customer.name.trim();
  for await (const invoice of carteira.list("/invoices", { query: { overdue: true } })) console.log(invoice.payment_link?.length);
  for await (const event of carteira.events({ after: "latest", types: ["invoice.paid"] })) takeAmount(event.data.invoice.amount_received);
  for await (const event of carteira.events()) takeEvent(event);
  // @ts-expect-error a name is required
  await carteira.post("/customers", { body: { email: "joao@example.com" } });
  // @ts-expect-error there is no such filter
  await carteira.get("/customers", { query: { staus: "ativo" } });
  // @ts-expect-error the path has an id
  await carteira.get("/customers/{id}");
  // @ts-expect-error nothing is sent with a GET
  await carteira.get("/account", { body: {} });
  // @ts-expect-error one record is no list
  carteira.list("/account");
  // @ts-expect-error there is no such event
  carteira.events({ types: ["invoice.payed"] });
}

function takeCustomer(customer: Customer): void {
  customer.name.trim();
}

function takeAmount(amount: string): void {
  amount.trim();
}

function takeEvent(event: WebhookEvent): void {
  event.id.trim();
  if (event.event === "customer.created") event.data.customer.name.trim();
}
