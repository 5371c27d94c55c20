-- The books. Every payment is a row, also one that a person reports; an invoice
-- knows what it was issued for and what came for it; a company has terms.

-- Companies: terms in hundredths of a percent.
ALTER TABLE companies ADD COLUMN late_fee_bp BIGINT NOT NULL DEFAULT 0 CHECK (late_fee_bp BETWEEN 0 AND 10000);
ALTER TABLE companies ADD COLUMN late_interest_bp BIGINT NOT NULL DEFAULT 0 CHECK (late_interest_bp BETWEEN 0 AND 10000);
ALTER TABLE companies ADD COLUMN discount_bp BIGINT NOT NULL DEFAULT 0 CHECK (discount_bp BETWEEN 0 AND 10000);
ALTER TABLE companies ADD COLUMN discount_cents BIGINT NOT NULL DEFAULT 0 CHECK (discount_cents >= 0);
ALTER TABLE companies ADD COLUMN renew_invoice TEXT NOT NULL DEFAULT 'keep' CHECK (renew_invoice IN ('keep', 'paid', 'cancelled'));

-- Invoices.
ALTER TABLE invoices ADD COLUMN period_unit TEXT CHECK (period_unit IN ('day', 'week', 'month', 'year')); -- NULL: renews nothing
ALTER TABLE invoices ADD COLUMN period_count BIGINT CHECK (period_count > 0);
ALTER TABLE invoices ADD COLUMN issued_for TEXT; -- the customer's due date that it renews; NULL: an extra one
ALTER TABLE invoices ADD COLUMN edited BOOLEAN NOT NULL DEFAULT FALSE;         -- by hand: it follows nobody
ALTER TABLE invoices ADD COLUMN superseded BOOLEAN NOT NULL DEFAULT FALSE; -- another was issued for its due date
ALTER TABLE invoices ADD COLUMN withdrawn TEXT NOT NULL DEFAULT ''; -- why the program cancelled it: free, moved, undone, customer
ALTER TABLE invoices ADD COLUMN own_discount_cents BIGINT CHECK (own_discount_cents >= 0); -- in place of the company's terms
ALTER TABLE invoices ADD COLUMN received_cents BIGINT NOT NULL DEFAULT 0 CHECK (received_cents >= 0);
ALTER TABLE invoices ADD COLUMN late_fee_cents BIGINT NOT NULL DEFAULT 0;      -- these four as they were when it was paid
ALTER TABLE invoices ADD COLUMN late_interest_cents BIGINT NOT NULL DEFAULT 0;
ALTER TABLE invoices ADD COLUMN discount_cents BIGINT NOT NULL DEFAULT 0;
ALTER TABLE invoices ADD COLUMN forgiven_cents BIGINT NOT NULL DEFAULT 0;      -- less money, and a person said that it is enough
ALTER TABLE invoices ADD COLUMN renewed_on TEXT COLLATE "C";                                -- the day on which the renewal counts
UPDATE invoices SET
    period_unit = (SELECT p.period_unit FROM customer_plans p WHERE p.company_id = invoices.company_id AND p.id = invoices.plan_id),
    period_count = (SELECT p.period_count FROM customer_plans p WHERE p.company_id = invoices.company_id AND p.id = invoices.plan_id)
    WHERE generated;
UPDATE invoices SET issued_for = due_on WHERE generated;
DROP INDEX invoices_generated;
CREATE UNIQUE INDEX invoices_generated ON invoices (company_id, customer_id, issued_for) WHERE generated AND NOT superseded;

-- A charge knows the day whose payable amount it asks for; '': the face amount.
ALTER TABLE charges ADD COLUMN payable_on TEXT COLLATE "C" NOT NULL DEFAULT '';

-- Money that came: the ledger.
ALTER TABLE payments ALTER COLUMN charge_id DROP NOT NULL; -- NULL: none, a person reported it
ALTER TABLE payments ADD COLUMN paid_via TEXT NOT NULL DEFAULT '';
ALTER TABLE payments ADD COLUMN plan_id BIGINT NOT NULL DEFAULT 0;
ALTER TABLE payments ADD COLUMN product_id BIGINT NOT NULL DEFAULT 0;
ALTER TABLE payments ADD COLUMN paid_on TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE payments ADD COLUMN status TEXT NOT NULL DEFAULT 'dismissed' CHECK (status IN ('applied', 'partial', 'review', 'refunded', 'dismissed'));
ALTER TABLE payments ADD COLUMN refunded_cents BIGINT NOT NULL DEFAULT 0;
ALTER TABLE payments ADD CHECK (refunded_cents BETWEEN 0 AND amount_cents);
ALTER TABLE payments ADD COLUMN note TEXT NOT NULL DEFAULT '';
UPDATE payments p SET paid_via = p.provider,
    paid_on = to_char(to_timestamp(p.paid_at / 1000000) AT TIME ZONE 'UTC', 'YYYY-MM-DD'),
    refunded_cents = CASE WHEN p.refunded THEN p.amount_cents ELSE 0 END,
    note = CASE WHEN p.applied THEN 'its invoice was deleted, and the sums with it' ELSE '' END,
    status = CASE WHEN NOT p.applied AND EXISTS (
        SELECT 1 FROM payment_reviews r WHERE r.company_id = p.company_id AND r.payment_id = p.id AND r.resolved_at IS NULL)
        THEN 'review' ELSE 'dismissed' END;
UPDATE payments p SET plan_id = COALESCE(i.plan_id, 0), product_id = COALESCE(i.product_id, 0), note = '',
    paid_on = CASE WHEN p.applied THEN COALESCE(i.paid_on, p.paid_on) ELSE p.paid_on END,
    status = CASE WHEN NOT p.applied THEN p.status WHEN p.refunded THEN 'refunded' ELSE 'applied' END
    FROM invoices i WHERE i.company_id = p.company_id AND i.id = p.invoice_id;
ALTER TABLE payments DROP COLUMN refunded, DROP COLUMN applied;
ALTER TABLE payments ALTER COLUMN paid_via DROP DEFAULT, ALTER COLUMN plan_id DROP DEFAULT, ALTER COLUMN product_id DROP DEFAULT,
    ALTER COLUMN paid_on DROP DEFAULT, ALTER COLUMN status DROP DEFAULT, ALTER COLUMN note DROP DEFAULT;
CREATE INDEX payments_customer ON payments (company_id, customer_id, id);
CREATE INDEX payments_day ON payments (company_id, paid_on, id);
CREATE INDEX payments_via ON payments (company_id, paid_via, id);
CREATE INDEX payments_status ON payments (company_id, status, id);

-- Money that went back. Rows are added, never changed.
CREATE TABLE payment_refunds (
    id              BIGINT GENERATED ALWAYS AS IDENTITY,
    company_id      BIGINT NOT NULL REFERENCES companies (id),
    payment_id      BIGINT NOT NULL,
    refund_id       TEXT    NOT NULL, -- the gateway's, or 'hand:' and a code
    amount_cents    BIGINT NOT NULL CHECK (amount_cents > 0),
    refunded_at     BIGINT NOT NULL,
    refunded_on     TEXT COLLATE "C" NOT NULL,
    reported_by     TEXT    NOT NULL, -- who, where a person did; empty: the gateway
    note            TEXT    NOT NULL,
    created_at      BIGINT NOT NULL,
    PRIMARY KEY (company_id, id),
    UNIQUE (company_id, payment_id, refund_id),
    FOREIGN KEY (company_id, payment_id) REFERENCES payments (company_id, id)
);
CREATE INDEX payment_refunds_day ON payment_refunds (company_id, refunded_on, id);

-- What was marked as paid without a payment of a gateway is a payment now.
INSERT INTO payments (company_id, charge_id, provider, payment_id, paid_via, invoice_id, customer_id, customer_name, plan_id, product_id,
        amount_cents, currency, paid_at, paid_on, status, refunded_cents, confirmed_by, note, created_at)
    SELECT i.company_id, NULL, 'hand', 'hand:invoice-' || i.id, i.paid_via, i.id, i.customer_id, c.name, COALESCE(i.plan_id, 0),
        COALESCE(i.product_id, 0), i.amount_cents, 'BRL', i.paid_at, i.paid_on, 'applied', 0, '', '', i.paid_at
    FROM invoices i JOIN customers c ON c.company_id = i.company_id AND c.id = i.customer_id
    WHERE i.status = 'paid' AND NOT EXISTS (
        SELECT 1 FROM payments p WHERE p.company_id = i.company_id AND p.invoice_id = i.id AND p.status IN ('applied', 'refunded'));

-- Money that went back: the review of it says when that became known.
INSERT INTO payment_refunds (company_id, payment_id, refund_id, amount_cents, refunded_at, refunded_on, reported_by, note, created_at)
    SELECT p.company_id, p.id, 'review:' || r.id, p.amount_cents, r.created_at, to_char(to_timestamp(r.created_at / 1000000) AT TIME ZONE 'UTC', 'YYYY-MM-DD'), '', '', r.created_at
    FROM payments p JOIN payment_reviews r ON r.company_id = p.company_id AND r.payment_id = p.id AND r.reason = 'refunded'
    WHERE p.status = 'refunded';

-- A paid invoice received what its payments brought, which for a payment that a
-- person applied may be less than its amount: that person forgave the rest.
UPDATE invoices SET renewed_on = CASE WHEN renewed_to IS NOT NULL THEN paid_on END,
    received_cents = (SELECT CAST(COALESCE(SUM(p.amount_cents - p.refunded_cents), 0) AS BIGINT) FROM payments p
        WHERE p.company_id = invoices.company_id AND p.invoice_id = invoices.id AND p.status IN ('applied', 'refunded'))
    WHERE status = 'paid';
UPDATE invoices SET forgiven_cents = amount_cents - received_cents WHERE status = 'paid' AND received_cents < amount_cents;

-- Receipts are counted by plan, product and means, too, and refunds in their own
-- month.
DELETE FROM tally_deltas WHERE book = 'receipts';
DELETE FROM tally_sums WHERE book = 'receipts';
DELETE FROM tally_buckets WHERE book = 'receipts';
DELETE FROM tally_totals WHERE book = 'receipts';
INSERT INTO tally_sums (company_id, book, day, plan_id, product_id, state, n, cents)
    SELECT company_id, 'receipts', day, plan_id, product_id, paid_via, CAST(SUM(n) AS BIGINT), CAST(SUM(cents) AS BIGINT) FROM (
        SELECT company_id, paid_on AS day, plan_id, product_id, paid_via, 1 AS n, amount_cents AS cents FROM payments
        WHERE status IN ('applied', 'refunded')
        UNION ALL
        SELECT p.company_id, r.refunded_on, p.plan_id, p.product_id, p.paid_via, 0, -r.amount_cents
        FROM payment_refunds r JOIN payments p ON p.company_id = r.company_id AND p.id = r.payment_id
    ) AS moved GROUP BY company_id, day, plan_id, product_id, paid_via;
-- Paid invoices have a counter of their own: one may have several payments.
INSERT INTO tally_sums (company_id, book, day, plan_id, product_id, state, n, cents)
    SELECT company_id, 'paid', paid_on, plan, product, state, COUNT(*), CAST(SUM(received_cents) AS BIGINT) FROM (
        SELECT company_id, paid_on, COALESCE(plan_id, 0) AS plan, COALESCE(product_id, 0) AS product, received_cents,
            CASE WHEN paid_on > due_on THEN 'late' ELSE 'on_time' END AS state
        FROM invoices WHERE status = 'paid'
    ) AS settled GROUP BY company_id, paid_on, plan, product, state;
INSERT INTO tally_totals (company_id, book, n, folds)
    SELECT company_id, book, CAST(SUM(n) AS BIGINT), 1 FROM tally_sums WHERE book IN ('receipts', 'paid') GROUP BY company_id, book;
INSERT INTO tally_buckets (company_id, book, bucket, n)
    SELECT company_id, book, 0, CAST(SUM(n) AS BIGINT) FROM tally_sums WHERE book IN ('receipts', 'paid') GROUP BY company_id, book;
