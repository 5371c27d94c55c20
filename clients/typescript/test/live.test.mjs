// The client against the real program, whose address and token the environment has.
import assert from "node:assert/strict";
import { test } from "node:test";
import { CarteiraClient } from "../dist/index.js";
import "./readme.mjs"; // in this file, so that it runs before the tests that follow and not beside them

const { URL: url, TOKEN: token } = process.env;
const client = url ? new CarteiraClient({ url, token }) : null; // without them these tests are skipped

test("customers are made, changed, listed over pages and deleted", { skip: !url }, async () => {
  const key = crypto.randomUUID();
  const made = await client.post("/customers", { body: { name: "João", plan_id: 1 }, idempotencyKey: key });
  const again = await client.post("/customers", { body: { name: "João", plan_id: 1 }, idempotencyKey: key });
  assert.equal(again.data.id, made.data.id);
  const id = made.data.id;
  assert.equal((await client.put("/customers/{id}", { path: { id }, body: { notes: "calls at noon" } })).data.notes, "calls at noon");
  for (let n = 0; n < 6; n++) await client.post("/customers", { body: { name: `Cliente ${n}` } });
  const names = [];
  for await (const customer of client.list("/customers", { query: { search: "cliente", per_page: 2 } })) names.push(customer.name);
  assert.deepEqual(names.sort(), [0, 1, 2, 3, 4, 5].map((n) => `Cliente ${n}`));
  const { meta } = await client.get("/customers", { query: { search: "cliente", per_page: 2 } });
  assert.equal(meta.total, 6);
  await client.delete("/customers/{id}", { path: { id } });
  await assert.rejects(client.get("/customers/{id}", { path: { id } }), { status: 404 });
});

test("invoices are paid", { skip: !url }, async () => {
  const { data: customer } = await client.post("/customers", { body: { name: "Maria", plan_id: 1 } });
  const open = [];
  for await (const invoice of client.list("/customers/{id}/invoices", { path: { id: customer.id } })) open.push(invoice);
  assert.equal(open.length, 1);
  const paid = await client.post("/invoices/{id}/status", { path: { id: open[0].id }, body: { status: "Pago" } });
  assert.equal(paid.data.status, "Pago");
});

test("refusals name the fields", { skip: !url }, async () => {
  const failure = await client.post("/customers", { body: { name: "", email: "nobody" } }).catch((e) => e);
  assert.equal(failure.status, 422);
  assert.deepEqual(Object.keys(failure.errors).sort(), ["email", "name"]);
  assert.ok(failure.requestId);
});

test("events are read once each, and waited for", { skip: !url }, async () => {
  const types = ["customer.created"];
  const names = async (options) => {
    const found = [];
    for await (const event of client.events({ types, ...options })) found.push(event);
    return found;
  };
  await client.post("/customers", { body: { name: "Rita" } });
  const sofar = await names({ wait: 0 });
  const last = sofar.at(-1);
  assert.equal(last.event, "customer.created");
  assert.equal(last.data.customer.name, "Rita");
  assert.equal(new Set(sofar.map(({ id }) => id)).size, sofar.length);
  assert.deepEqual(await names({ wait: 0, after: last.id }), []);
  const waiting = client.events({ types, after: last.id }).next();
  await client.post("/customers", { body: { name: "Sara" } });
  assert.equal((await waiting).value.data.customer.name, "Sara");
  await assert.rejects(client.events({ types: ["no.such"], wait: 0 }).next(), { status: 422 });
});
