// A receiver of Carteira's webhooks. Run it behind a proxy that ends HTTPS:
//
//   PORT=9000 WEBHOOK_SECRET=whsec_… node receiver.mjs
import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";

const secret = process.env.WEBHOOK_SECRET;

// Remembers ids until the program ends. In earnest: a table with a unique key,
// written in the transaction that does the work.
const seen = new Set();

function isSigned(timestamp, body, signature) {
  const want = Buffer.from("sha256=" + createHmac("sha256", secret).update(timestamp + ".").update(body).digest("hex"));
  const got = Buffer.from(signature);
  return want.length === got.length && timingSafeEqual(want, got);
}

function receive(headers, body) {
  const timestamp = headers["x-service-timestamp"] ?? "";
  if (!isSigned(timestamp, body, headers["x-service-signature"] ?? "")) return 401;
  if (!/^[0-9]+$/.test(timestamp) || Math.abs(Date.now() / 1000 - Number(timestamp)) > 300) return 408;
  const { event, id } = JSON.parse(body.toString("utf8"));
  if (!seen.has(id)) {
    seen.add(id);
    console.log(event, id); // here goes your work; longer work goes into a queue
  }
  return 204;
}

createServer((request, response) => {
  const chunks = []; // the raw bytes: decoded and encoded again they differ
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => response.writeHead(receive(request.headers, Buffer.concat(chunks))).end());
}).listen(Number(process.env.PORT), "127.0.0.1");
