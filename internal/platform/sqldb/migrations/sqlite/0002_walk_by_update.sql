-- The newest customers that changed since a day are found along the order of ids. Without the day in that index, all
-- that changed were sorted for one page.
DROP INDEX customers_walk;
CREATE INDEX customers_walk ON customers (company_id, id, due_on, cancelled_at, plan_id, product_id, created_on, mrr_month, mrr_cents, mrr_start_cents, updated_at);
