// A receiver of Carteira's webhooks. Run it behind a proxy that ends HTTPS:
//
//   PORT=9000 WEBHOOK_SECRET=whsec_… node receiver.mjs
import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";

const secret = process.env.WEBHOOK_SECRET;
if (!secret) { // everybody can sign with an empty key
  console.error("set WEBHOOK_SECRET to the webhook's secret");
  process.exit(1);
}

// Remembers ids until the program ends. In earnest: a table with a unique key,
// written in the transaction that does the work.
const seen = new Set();

function isSigned(timestamp, body, signature) {
  const want = Buffer.from("sha256=" + createHmac("sha256", secret).update(timestamp + ".").update(body).digest("hex"));
  const got = Buffer.from(signature);
  return want.length === got.length && timingSafeEqual(want, got);
}

// An exception that nobody catches ends Node: what is not an event is null.
function parse(body) {
  try {
    const { event, id } = JSON.parse(body.toString("utf8"));
    return typeof id === "string" && id && typeof event === "string" && event ? { event, id } : null;
  } catch {
    return null;
  }
}

function receive(headers, body) {
  const timestamp = headers["x-service-timestamp"] ?? "";
  if (!isSigned(timestamp, body, headers["x-service-signature"] ?? "")) return 401;
  if (!/^[0-9]+$/.test(timestamp) || Math.abs(Date.now() / 1000 - Number(timestamp)) > 300) return 408;
  const message = parse(body);
  if (!message) return 400;
  if (!seen.has(message.id)) {
    seen.add(message.id);
    console.log(message.event, message.id); // here goes your work; longer work goes into a queue
  }
  return 204;
}

createServer((request, response) => {
  const chunks = []; // the raw bytes: decoded and encoded again they differ
  let size = 0;
  request.on("data", (chunk) => {
    size += chunk.length;
    if (size <= 1 << 20) chunks.push(chunk);
  });
  request.on("end", () => response.writeHead(size > 1 << 20 ? 400 : receive(request.headers, Buffer.concat(chunks))).end());
}).listen(Number(process.env.PORT), "127.0.0.1");
