-- Lists can be sorted by name and by the last change, and filtered by the latter. The first line of the search text is
-- the name without case and accents. As a column of its own it is read from its index alone.
ALTER TABLE customers ADD COLUMN name_key TEXT GENERATED ALWAYS AS (substr(search, 1, instr(search, char(10)) - 1)) VIRTUAL;
CREATE INDEX customers_name ON customers (company_id, name_key, id);
CREATE INDEX customers_updated ON customers (company_id, updated_at, id);
CREATE INDEX invoices_updated ON invoices (company_id, updated_at, id);
