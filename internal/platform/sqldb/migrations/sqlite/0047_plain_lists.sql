-- Customers are searched in their texts (customer_texts), all of those of a company, written with the customer. The search index goes.
DROP TRIGGER customers_short_delete;
DROP TRIGGER customers_short_update;
DROP TABLE search_grams;
DROP TABLE search_postings;
DROP TABLE search_changes;
DROP TABLE search_due;
DROP TABLE search_segments;
DROP TABLE saved_rosters;

CREATE TABLE customer_texts (
    company_id INTEGER NOT NULL,
    id         INTEGER NOT NULL,
    text       TEXT    NOT NULL, -- folded in Go, one field per line
    PRIMARY KEY (company_id, id),
    FOREIGN KEY (company_id, id) REFERENCES customers (company_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
INSERT INTO customer_texts (company_id, id, text)
SELECT company_id, id, search || CASE WHEN external_id = '' THEN '' ELSE char(10) || lower(external_id) END FROM customers
ORDER BY company_id, id;

DROP INDEX customers_cancelled;
DROP INDEX customers_created;
DROP INDEX customers_due;
DROP INDEX customers_moved;
DROP INDEX customers_name;
DROP INDEX customers_plan;
DROP INDEX customers_product;
DROP INDEX customers_updated;
DROP INDEX customers_walk;

-- name_key was the first line of search.
CREATE TABLE old_name_keys (id INTEGER PRIMARY KEY, name_key TEXT NOT NULL) STRICT;
INSERT INTO old_name_keys SELECT id, name_key FROM customers;
ALTER TABLE customers DROP COLUMN name_key;
ALTER TABLE customers DROP COLUMN search;
ALTER TABLE customers ADD COLUMN name_key TEXT NOT NULL DEFAULT '';
UPDATE customers SET name_key = (SELECT name_key FROM old_name_keys k WHERE k.id = customers.id);
DROP TABLE old_name_keys;

-- One index for each order, with the columns by which lists are filtered, so that a page and a total are found without the rows.
CREATE INDEX customers_walk ON customers (company_id, id, due_on, cancelled_at, plan_id, product_id, created_on, mrr_month, mrr_cents, mrr_start_cents);
CREATE INDEX customers_name ON customers (company_id, name_key, id, due_on, cancelled_at, plan_id, product_id);
CREATE INDEX customers_due ON customers (company_id, due_on, id, cancelled_at, plan_id, product_id);
CREATE INDEX customers_updated ON customers (company_id, updated_at, id, due_on, cancelled_at, plan_id, product_id);
