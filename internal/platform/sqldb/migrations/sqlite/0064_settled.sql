-- What had come for an invoice when it was paid, so that a refund does not change the day of its payment; what of its
-- price was a discount by hand; and what was given up, on which day.
ALTER TABLE invoices ADD COLUMN settled_cents INTEGER NOT NULL DEFAULT 0;
ALTER TABLE invoices ADD COLUMN given_cents INTEGER NOT NULL DEFAULT 0;
ALTER TABLE invoices ADD COLUMN taken_off_cents INTEGER NOT NULL DEFAULT 0;
ALTER TABLE invoices ADD COLUMN written_off_cents INTEGER NOT NULL DEFAULT 0;
ALTER TABLE invoices ADD COLUMN written_off_on TEXT;
UPDATE invoices SET settled_cents = received_cents, given_cents = forgiven_cents WHERE status = 'paid';
