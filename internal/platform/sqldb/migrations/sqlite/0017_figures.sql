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

-- What a customer is worth a month, as it is counted, and as it was when the month of its last change began: so that a
-- month's movement is net, without a snapshot of everybody.
ALTER TABLE customers ADD COLUMN mrr_cents INTEGER NOT NULL DEFAULT 0;
ALTER TABLE customers ADD COLUMN mrr_month TEXT NOT NULL DEFAULT '';          -- YYYY-MM; '': not changed since it is counted
ALTER TABLE customers ADD COLUMN mrr_start_cents INTEGER NOT NULL DEFAULT 0;
ALTER TABLE customers ADD COLUMN mrr_start_plan INTEGER NOT NULL DEFAULT 0;   -- 0: none
ALTER TABLE customers ADD COLUMN mrr_start_product INTEGER NOT NULL DEFAULT 0;
UPDATE customers SET mrr_cents = COALESCE((
    SELECT CASE p.period_unit
        WHEN 'day' THEN (COALESCE(customers.price_cents, p.value_cents) * 730 + 12 * p.period_count) / (24 * p.period_count)
        WHEN 'week' THEN (COALESCE(customers.price_cents, p.value_cents) * 730 + 84 * p.period_count) / (168 * p.period_count)
        WHEN 'month' THEN (COALESCE(customers.price_cents, p.value_cents) * 2 + p.period_count) / (2 * p.period_count)
        ELSE (COALESCE(customers.price_cents, p.value_cents) * 2 + 12 * p.period_count) / (24 * p.period_count) END
    FROM customer_plans p WHERE p.company_id = customers.company_id AND p.id = customers.plan_id), 0)
    WHERE plan_id IS NOT NULL AND cancelled_at IS NULL AND expired = 0;
CREATE INDEX customers_moved ON customers (company_id, mrr_month, id) WHERE mrr_month <> '';

-- Customers with open invoices, by the oldest of them.
CREATE TABLE debtors (
    company_id  INTEGER NOT NULL,
    customer_id INTEGER NOT NULL,
    since       TEXT    NOT NULL, -- due date of the oldest open invoice
    plan_id     INTEGER NOT NULL, -- of the customer, as it is counted; 0: none
    product_id  INTEGER NOT NULL,
    PRIMARY KEY (company_id, customer_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX debtors_since ON debtors (company_id, since, customer_id);
INSERT INTO debtors
    SELECT i.company_id, i.customer_id, MIN(i.due_on), COALESCE(c.plan_id, 0), COALESCE(c.product_id, 0)
    FROM invoices i JOIN customers c ON c.company_id = i.company_id AND c.id = i.customer_id
    WHERE i.status = 'open' GROUP BY i.company_id, i.customer_id, c.plan_id, c.product_id;
CREATE INDEX customer_renewals_month ON customer_renewals (company_id, month, customer_id);

INSERT INTO tally_sums (company_id, book, day, plan_id, product_id, state, n, cents)
    SELECT company_id, 'created', created_on, COALESCE(plan_id, 0), COALESCE(product_id, 0), '', COUNT(*), 0 FROM customers
    WHERE created_on <> '' GROUP BY company_id, created_on, COALESCE(plan_id, 0), COALESCE(product_id, 0);
INSERT INTO tally_sums (company_id, book, day, plan_id, product_id, state, n, cents)
    SELECT company_id, 'recurring', '', COALESCE(plan_id, 0), COALESCE(product_id, 0), 'base', COUNT(*), CAST(SUM(mrr_cents) AS BIGINT) FROM customers
    WHERE mrr_cents > 0 GROUP BY company_id, COALESCE(plan_id, 0), COALESCE(product_id, 0);
INSERT INTO tally_sums (company_id, book, day, plan_id, product_id, state, n, cents)
    SELECT company_id, 'debtors', since, plan_id, product_id, '', COUNT(*), 0 FROM debtors GROUP BY company_id, since, plan_id, product_id;
INSERT INTO tally_totals (company_id, book, n, folds)
    SELECT company_id, book, CAST(SUM(n) AS BIGINT), 1 FROM tally_sums WHERE book IN ('created', 'recurring', 'debtors') GROUP BY company_id, book;
INSERT INTO tally_buckets (company_id, book, bucket, n)
    SELECT company_id, book, 0, CAST(SUM(n) AS BIGINT) FROM tally_sums WHERE book IN ('created', 'recurring', 'debtors') GROUP BY company_id, book;
