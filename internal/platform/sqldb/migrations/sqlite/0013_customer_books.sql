-- The customer's whole record.
ALTER TABLE customers ADD COLUMN cpf_cnpj TEXT NOT NULL DEFAULT '';
ALTER TABLE customers ADD COLUMN address TEXT NOT NULL DEFAULT ''; -- a JSON object; empty: none
ALTER TABLE customers ADD COLUMN custom TEXT NOT NULL DEFAULT '';  -- a JSON object; empty: none
ALTER TABLE customers ADD COLUMN price_cents INTEGER CHECK (price_cents >= 0); -- NULL: the plan's value
ALTER TABLE customers ADD COLUMN cancelled_at INTEGER;             -- NULL: not cancelled
ALTER TABLE customers ADD COLUMN cancel_reason TEXT NOT NULL DEFAULT '';
ALTER TABLE customers ADD COLUMN created_on TEXT NOT NULL DEFAULT '';       -- the company's day of created_at, at that time
ALTER TABLE customers ADD COLUMN created_offset INTEGER NOT NULL DEFAULT 0; -- seconds east of UTC, at that time
ALTER TABLE customers ADD COLUMN expiry_on TEXT;                            -- the due date that customer.expired is still to be recorded for
ALTER TABLE customers ADD COLUMN expired INTEGER NOT NULL DEFAULT 0 CHECK (expired IN (0, 1)); -- recorded, and not current since

UPDATE customers SET expired = CASE WHEN due_on = expired_on THEN 1 ELSE 0 END,
    expiry_on = NULLIF(due_on, expired_on);

-- Due dates that customer.expired was recorded for. Kept for good: a date that comes back is not recorded again.
CREATE TABLE customer_expiries (
    company_id  INTEGER NOT NULL,
    customer_id INTEGER NOT NULL,
    due_on      TEXT    NOT NULL,
    PRIMARY KEY (company_id, customer_id, due_on),
    FOREIGN KEY (company_id, customer_id) REFERENCES customers (company_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
INSERT INTO customer_expiries SELECT company_id, id, expired_on FROM customers WHERE expired_on IS NOT NULL;

-- How often a customer was renewed in a month.
CREATE TABLE customer_renewals (
    company_id  INTEGER NOT NULL,
    customer_id INTEGER NOT NULL,
    month       TEXT    NOT NULL, -- YYYY-MM
    n           INTEGER NOT NULL CHECK (n > 0),
    PRIMARY KEY (company_id, customer_id, month),
    FOREIGN KEY (company_id, customer_id) REFERENCES customers (company_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
INSERT INTO customer_renewals SELECT company_id, id, renewed_in, 1 FROM customers WHERE renewed_in IS NOT NULL;

DROP INDEX customers_expiring;
ALTER TABLE customers DROP COLUMN expired_on;
ALTER TABLE customers DROP COLUMN renewed_in;
CREATE INDEX customers_expiring ON customers (company_id, expiry_on, id) WHERE expiry_on IS NOT NULL;
CREATE INDEX customers_cpf_cnpj ON customers (company_id, cpf_cnpj, id) WHERE cpf_cnpj <> '';
CREATE INDEX customers_cancelled ON customers (company_id, id) WHERE cancelled_at IS NOT NULL;
-- Customers whose day the program has still to fill in. Empty from then on.
CREATE INDEX customers_unfilled ON customers (id) WHERE created_on = '';
DROP INDEX customers_walk;
DROP INDEX customers_plan;
DROP INDEX customers_product;
DROP INDEX customers_due;
DROP INDEX customers_created;
CREATE INDEX customers_walk ON customers (company_id, id, due_on, cancelled_at);
CREATE INDEX customers_plan ON customers (company_id, plan_id, id, due_on, product_id, cancelled_at);
CREATE INDEX customers_product ON customers (company_id, product_id, id, due_on, cancelled_at);
CREATE INDEX customers_due ON customers (company_id, due_on, id, cancelled_at);
CREATE INDEX customers_created ON customers (company_id, created_on, id);
