-- Customers are searched in their texts (customer_texts), all of those of a company, written with the customer. The search index goes.
DROP TRIGGER customers_short_insert ON customers;
DROP TRIGGER customers_short_delete ON customers;
DROP TRIGGER customers_short_update ON customers;
DROP FUNCTION search_added();
DROP FUNCTION search_changed();
DROP TABLE search_grams;
DROP TABLE search_postings;
DROP TABLE search_changes;
DROP TABLE search_due;
DROP TABLE search_segments;
DROP TABLE saved_rosters;

CREATE TABLE customer_texts (
    company_id BIGINT NOT NULL,
    id         BIGINT NOT NULL,
    text       TEXT COLLATE "C" NOT NULL, -- folded in Go, one field per line
    PRIMARY KEY (company_id, id),
    FOREIGN KEY (company_id, id) REFERENCES customers (company_id, id) ON DELETE CASCADE
);
INSERT INTO customer_texts (company_id, id, text)
SELECT company_id, id, search || CASE WHEN external_id = '' THEN '' ELSE chr(10) || lower(external_id) END FROM customers
ORDER BY company_id, id;

DROP INDEX customers_cancelled;
DROP INDEX customers_created;
DROP INDEX customers_due;
DROP INDEX customers_moved;
DROP INDEX customers_name;
DROP INDEX customers_plan;
DROP INDEX customers_product;
DROP INDEX customers_updated;

-- name_key was the first line of search.
ALTER TABLE customers ALTER COLUMN name_key DROP EXPRESSION;
ALTER TABLE customers ALTER COLUMN name_key SET NOT NULL;
ALTER TABLE customers DROP COLUMN search;

-- One index for each order, with the columns by which lists are filtered, so that a page and a total are found without the rows.
CREATE INDEX customers_walk ON customers (company_id, id)
    INCLUDE (due_on, cancelled_at, plan_id, product_id, created_on, mrr_month, mrr_cents, mrr_start_cents);
CREATE INDEX customers_name ON customers (company_id, name_key, id) INCLUDE (due_on, cancelled_at, plan_id, product_id);
CREATE INDEX customers_due ON customers (company_id, due_on, id) INCLUDE (cancelled_at, plan_id, product_id);
CREATE INDEX customers_updated ON customers (company_id, updated_at, id) INCLUDE (due_on, cancelled_at, plan_id, product_id);
