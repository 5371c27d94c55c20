-- A round is a message that a person sends to many customers at once. It is a
-- rule that plans nothing: its messages are written when it is sent.
ALTER TABLE reminder_rules ADD COLUMN round INTEGER NOT NULL DEFAULT 0 CHECK (round IN (0, 1));
-- What a message of a round asks the customer to pay; 0: what the due date brought.
ALTER TABLE reminder_messages ADD COLUMN invoice_id INTEGER NOT NULL DEFAULT 0;
CREATE INDEX reminder_messages_round ON reminder_messages (company_id, rule_id, status) WHERE invoice_id <> 0;

-- Lines of one piece of work over many records have one code, by which it can be undone.
ALTER TABLE audit_log ADD COLUMN batch TEXT NOT NULL DEFAULT '';
CREATE INDEX audit_log_batch ON audit_log (company_id, batch, id) WHERE batch <> '';

-- What is owed, the oldest debt first.
CREATE INDEX invoices_owed ON invoices (company_id, due_on, id) WHERE status = 'open';
