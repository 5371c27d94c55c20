-- The customer's whole record.
ALTER TABLE customers ADD COLUMN cpf_cnpj TEXT NOT NULL DEFAULT '';
ALTER TABLE customers ADD COLUMN address TEXT NOT NULL DEFAULT ''; -- a JSON object; empty: none
ALTER TABLE customers ADD COLUMN custom TEXT NOT NULL DEFAULT '';  -- a JSON object; empty: none
ALTER TABLE customers ADD COLUMN price_cents BIGINT CHECK (price_cents >= 0); -- NULL: the plan's value
ALTER TABLE customers ADD COLUMN cancelled_at BIGINT;              -- NULL: not cancelled
ALTER TABLE customers ADD COLUMN cancel_reason TEXT NOT NULL DEFAULT '';
ALTER TABLE customers ADD COLUMN created_on TEXT COLLATE "C" NOT NULL DEFAULT ''; -- the company's day of created_at, at that time
ALTER TABLE customers ADD COLUMN created_offset BIGINT NOT NULL DEFAULT 0;        -- seconds east of UTC, at that time
ALTER TABLE customers ADD COLUMN expiry_on TEXT COLLATE "C";                      -- the due date that customer.expired is still to be recorded for
ALTER TABLE customers ADD COLUMN expired BOOLEAN NOT NULL DEFAULT FALSE;          -- recorded, and not current since

UPDATE customers SET expired = (due_on IS NOT NULL AND due_on IS NOT DISTINCT FROM expired_on),
    expiry_on = NULLIF(due_on, expired_on);

-- Due dates that customer.expired was recorded for. Kept for good: a date that comes back is not recorded again.
CREATE TABLE customer_expiries (
    company_id  BIGINT NOT NULL,
    customer_id BIGINT NOT NULL,
    due_on      TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (company_id, customer_id, due_on),
    FOREIGN KEY (company_id, customer_id) REFERENCES customers (company_id, id) ON DELETE CASCADE
);
INSERT INTO customer_expiries SELECT company_id, id, expired_on FROM customers WHERE expired_on IS NOT NULL;

-- How often a customer was renewed in a month.
CREATE TABLE customer_renewals (
    company_id  BIGINT NOT NULL,
    customer_id BIGINT NOT NULL,
    month       TEXT COLLATE "C" NOT NULL, -- YYYY-MM
    n           BIGINT NOT NULL CHECK (n > 0),
    PRIMARY KEY (company_id, customer_id, month),
    FOREIGN KEY (company_id, customer_id) REFERENCES customers (company_id, id) ON DELETE CASCADE
);
INSERT INTO customer_renewals SELECT company_id, id, renewed_in, 1 FROM customers WHERE renewed_in IS NOT NULL;

DROP INDEX customers_expiring;
ALTER TABLE customers DROP COLUMN expired_on;
ALTER TABLE customers DROP COLUMN renewed_in;
CREATE INDEX customers_expiring ON customers (company_id, expiry_on, id) WHERE expiry_on IS NOT NULL;
CREATE INDEX customers_cpf_cnpj ON customers (company_id, cpf_cnpj, id) WHERE cpf_cnpj <> '';
CREATE INDEX customers_cancelled ON customers (company_id, id) WHERE cancelled_at IS NOT NULL;
-- Customers whose day the program has still to fill in. Empty from then on.
CREATE INDEX customers_unfilled ON customers (id) WHERE created_on = '';
DROP INDEX customers_plan;
DROP INDEX customers_product;
DROP INDEX customers_due;
DROP INDEX customers_created;
-- The walk goes along the primary key, which has due_on; a filter that asks for cancelled_at reads the row.
CREATE INDEX customers_plan ON customers (company_id, plan_id, id) INCLUDE (due_on, product_id, cancelled_at);
CREATE INDEX customers_product ON customers (company_id, product_id, id) INCLUDE (due_on, cancelled_at);
CREATE INDEX customers_due ON customers (company_id, due_on, id) INCLUDE (cancelled_at);
CREATE INDEX customers_created ON customers (company_id, created_on, id);
