-- Messages that wait while quiet hours or the time zone change keep their turn.
ALTER TABLE reminder_messages ADD COLUMN late_at INTEGER NOT NULL DEFAULT 0; -- when it is too late to send it; 0: by its rule

-- The offset of the company's zone, in seconds east of UTC, when a day of the books was written. The program fills in
-- those of rows that are here already.
ALTER TABLE invoices ADD COLUMN created_offset INTEGER;
ALTER TABLE invoices ADD COLUMN paid_offset INTEGER; -- NULL: not paid
ALTER TABLE payments ADD COLUMN paid_offset INTEGER;
ALTER TABLE payment_refunds ADD COLUMN refunded_offset INTEGER;
CREATE INDEX invoices_unfilled ON invoices (id) WHERE created_offset IS NULL; -- empty from then on
CREATE INDEX payments_unfilled ON payments (id) WHERE paid_offset IS NULL;
CREATE INDEX payment_refunds_unfilled ON payment_refunds (id) WHERE refunded_offset IS NULL;
