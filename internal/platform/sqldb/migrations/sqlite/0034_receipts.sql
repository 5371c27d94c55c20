-- What a rule sends on: a due date, or the payment of an invoice, for which it sends a receipt.
ALTER TABLE reminder_rules ADD COLUMN occasion TEXT NOT NULL DEFAULT 'due' CHECK (occasion IN ('due', 'paid'));
-- A message about an invoice is known by it: a customer may have two invoices of one due date, and an invoice may get another one.
DROP INDEX reminder_messages_once;
CREATE UNIQUE INDEX reminder_messages_once ON reminder_messages (company_id, customer_id, rule_id, due_on, invoice_id);
CREATE UNIQUE INDEX reminder_messages_invoice ON reminder_messages (company_id, rule_id, invoice_id) WHERE invoice_id <> 0;
