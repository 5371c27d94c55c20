-- Invoices have a code as their status; what people read is the program's word
-- for it. SQLite cannot change the CHECK of a column, so another column takes
-- its place: the table, and with it every reference to it, stays as it is. The
-- column needs a default to be added and cannot lose it; the program never
-- relies on it.
DROP INDEX invoices_status;
ALTER TABLE invoices ADD COLUMN code TEXT NOT NULL DEFAULT 'open' CHECK (code IN ('open', 'paid', 'cancelled'));
UPDATE invoices SET code = CASE status WHEN 'Pago' THEN 'paid' ELSE 'cancelled' END WHERE status <> 'Em aberto';
ALTER TABLE invoices DROP COLUMN status;
ALTER TABLE invoices RENAME COLUMN code TO status;
CREATE INDEX invoices_status ON invoices (company_id, status, id, due_on);

UPDATE tally_sums SET state = CASE state WHEN 'Em aberto' THEN 'open' WHEN 'Pago' THEN 'paid' ELSE 'cancelled' END
WHERE book = 'invoices' AND state IN ('Em aberto', 'Pago', 'Cancelado');
UPDATE tally_deltas SET state = CASE state WHEN 'Em aberto' THEN 'open' WHEN 'Pago' THEN 'paid' ELSE 'cancelled' END
WHERE book = 'invoices' AND state IN ('Em aberto', 'Pago', 'Cancelado');
