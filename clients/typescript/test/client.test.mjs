// The client against servers that misbehave on purpose.
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { createServer } from "node:http";
import { test } from "node:test";
import { CarteiraClient, CarteiraError, verifyWebhook, WebhookError } from "../dist/index.js";

/** A server that gives one answer after the other, and remembers what it was asked. */
async function answering(t, ...answers) {
  const asked = [];
  const server = createServer((request, response) => {
    asked.push({ method: request.method, url: request.url, key: request.headers["idempotency-key"] });
    request.resume();
    const [status, headers, body] = answers[Math.min(asked.length, answers.length) - 1];
    if (status === 0) return request.socket.destroy();
    response.writeHead(status, headers).end(JSON.stringify(body ?? { success: status === 200, data: { id: 1 } }));
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  t.after(() => server.close());
  const client = new CarteiraClient({ url: `http://127.0.0.1:${server.address().port}/`, token: "cart_x", longestWait: 2000 });
  return { client, asked };
}

test("Retry-After is heeded, and a repeat has the same idempotency key", async (t) => {
  const { client, asked } = await answering(t, [429, { "Retry-After": "1" }], [503, {}], [200, {}]);
  const began = Date.now();
  const { data } = await client.post("/customers", { body: { name: "João" } });
  assert.equal(data.id, 1);
  assert.equal(asked.length, 3);
  assert.ok(Date.now() - began >= 1000);
  assert.match(asked[0].key, /^[0-9a-f-]{36}$/);
  assert.ok(asked.every((a) => a.key === asked[0].key));
});

test("a broken connection is repeated where that does no harm", async (t) => {
  const post = await answering(t, [0], [200, {}]);
  await post.client.post("/customers", { body: { name: "João" } });
  assert.equal(post.asked.length, 2);
  const put = await answering(t, [0], [200, {}]);
  await assert.rejects(put.client.put("/customers/{id}", { path: { id: 1 }, body: { name: "João" } }));
  assert.equal(put.asked.length, 1);
});

test("what cannot pass is not repeated", async (t) => {
  const refusal = { success: false, message: "name: is required", errors: { name: ["is required"] } };
  const { client, asked } = await answering(t, [422, { "X-Request-Id": "r-1" }, refusal]);
  const failure = await client.post("/customers", { body: { name: "" } }).catch((e) => e);
  assert.ok(failure instanceof CarteiraError);
  assert.deepEqual([failure.status, failure.message, failure.requestId, failure.errors.name], [422, "name: is required", "r-1", ["is required"]]);
  assert.equal(asked.length, 1);
  const long = await answering(t, [429, { "Retry-After": "60" }]);
  await assert.rejects(long.client.get("/account"), { status: 429 });
  assert.equal(long.asked.length, 1);
});

test("retries end", async (t) => {
  const { client, asked } = await answering(t, [503, { "Retry-After": "0" }]);
  await assert.rejects(client.get("/account"), { status: 503 });
  assert.equal(asked.length, 5);
});

test("a wait can be aborted", async (t) => {
  const { client, asked } = await answering(t, [429, { "Retry-After": "2" }]);
  const stop = new AbortController();
  const called = client.get("/account", { signal: stop.signal });
  while (asked.length === 0) await new Promise((done) => setTimeout(done, 10));
  setTimeout(() => stop.abort(), 200); // it has the answer, and waits
  await assert.rejects(called, { name: "AbortError" });
  assert.equal(asked.length, 1);
});

test("pages are walked to the last", async (t) => {
  const page = (n) => [200, {}, { success: true, data: [{ id: 2 * n }, { id: 2 * n + 1 }], meta: { last_page: 3 } }];
  const { client, asked } = await answering(t, page(1), page(2), page(3));
  const ids = [];
  for await (const customer of client.list("/customers", { query: { search: "joão & co" } })) ids.push(customer.id);
  assert.deepEqual(ids, [2, 3, 4, 5, 6, 7]);
  assert.equal(asked[2].url, "/api/v1/customers?per_page=200&search=jo%C3%A3o+%26+co&page=3");
});

test("events are read from where the last answer ended", async (t) => {
  const feed = (ids, last_id, has_more) => [200, {}, { success: true, data: ids.map((id) => ({ id })), meta: { last_id, has_more } }];
  const { client, asked } = await answering(t, feed(["evt_2", "evt_3"], "evt_4", true), feed([], "evt_5", true), feed(["evt_6"], "evt_6", false));
  const ids = [];
  for await (const event of client.events({ after: "evt_1", types: ["invoice.paid", "customer.created"], wait: 0 })) ids.push(event.id);
  assert.deepEqual(ids, ["evt_2", "evt_3", "evt_6"]);
  assert.deepEqual(
    asked.map(({ url }) => new URL(url, "http://x").searchParams.get("after")),
    ["evt_1", "evt_4", "evt_5"],
  );
  assert.equal(new URL(asked[0].url, "http://x").searchParams.get("types"), "invoice.paid,customer.created");
});

test("reading events goes on until it is stopped", async (t) => {
  const none = [200, {}, { success: true, data: [], meta: { last_id: null, has_more: false } }];
  const one = [200, {}, { success: true, data: [{ id: "evt_1" }], meta: { last_id: "evt_1", has_more: false } }];
  const { client, asked } = await answering(t, none, one, none);
  const stop = new AbortController();
  const since = "2026-01-01T00:00:00Z";
  const reading = (async () => {
    for await (const event of client.events({ since, wait: 1, signal: stop.signal })) if (event.id === "evt_1") stop.abort();
  })();
  await assert.rejects(reading, { name: "AbortError" });
  assert.deepEqual(
    asked.slice(0, 2).map(({ url }) => url),
    Array(2).fill(`/api/v1/events?since=${encodeURIComponent(since)}&limit=200&wait=1`),
  );
});

test("a path that lacks a part is refused before anything is sent", async (t) => {
  const { client, asked } = await answering(t, [200, {}]);
  await assert.rejects(client.delete("/customers/{id}", { path: {} }), TypeError);
  assert.equal(asked.length, 0);
  assert.throws(() => new CarteiraClient({ url: "http://x", token: "" }), TypeError);
});

test("webhooks are verified", async () => {
  const secret = "whsec_test";
  const body = '{"event":"ping","id":"evt_1","data":{}}';
  const at = "1800000000";
  const now = 1800000010_000;
  const sign = (text, key = secret, when = at) => ({
    "x-service-timestamp": when,
    "x-service-signature": "sha256=" + createHmac("sha256", key).update(`${when}.${text}`).digest("hex"),
  });
  const status = async (text, headers, when = now) => {
    try {
      return (await verifyWebhook(text, headers, secret, when)).id;
    } catch (error) {
      assert.ok(error instanceof WebhookError, error);
      return error.status;
    }
  };
  assert.equal(await status(body, sign(body)), "evt_1");
  assert.equal(await status(Buffer.from(body), new Headers(sign(body))), "evt_1");
  assert.equal(await status(body + " ", sign(body)), 401);
  assert.equal(await status(body, sign(body, "another")), 401);
  assert.equal(await status(body, {}), 401);
  assert.equal(await status(body, sign(body), now + 301_000), 408);
  assert.equal(await status(body, sign(body, secret, "soon")), 408);
  for (const garbage of ["", "null", "[]", "7", "{", '{"id":7,"event":"ping"}']) assert.equal(await status(garbage, sign(garbage)), 400);
  await assert.rejects(verifyWebhook(body, sign(body, ""), ""), TypeError);
});
