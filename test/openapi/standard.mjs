// Verifies a delivery with the npm library of Standard Webhooks, and wants a forged one to be refused.
import { readFileSync } from 'node:fs';
import { Webhook } from 'standardwebhooks';

const [body, forgery] = process.argv.slice(2).map((file) => readFileSync(file, 'utf8'));
const headers = {
  'webhook-id': process.env.WEBHOOK_ID,
  'webhook-timestamp': process.env.WEBHOOK_TIMESTAMP,
  'webhook-signature': process.env.WEBHOOK_SIGNATURE,
};
const verifier = new Webhook(process.env.SECRET);
verifier.verify(body, headers);
try {
  verifier.verify(forgery, headers);
  console.log('the forgery was taken');
} catch {
  console.log('verified, and the forgery refused');
}
