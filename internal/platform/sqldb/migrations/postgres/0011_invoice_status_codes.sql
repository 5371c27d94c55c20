-- Invoices have a code as their status; what people read is the program's word
-- for it. The table is written anew once, which leaves no dead rows behind.
ALTER TABLE invoices
    DROP CONSTRAINT invoices_status_check,
    ALTER COLUMN status TYPE TEXT USING CASE status WHEN 'Em aberto' THEN 'open' WHEN 'Pago' THEN 'paid' ELSE 'cancelled' END,
    ADD CONSTRAINT invoices_status_check CHECK (status IN ('open', 'paid', 'cancelled'));

UPDATE tally_sums SET state = CASE state WHEN 'Em aberto' THEN 'open' WHEN 'Pago' THEN 'paid' ELSE 'cancelled' END
WHERE book = 'invoices' AND state IN ('Em aberto', 'Pago', 'Cancelado');
UPDATE tally_deltas SET state = CASE state WHEN 'Em aberto' THEN 'open' WHEN 'Pago' THEN 'paid' ELSE 'cancelled' END
WHERE book = 'invoices' AND state IN ('Em aberto', 'Pago', 'Cancelado');
