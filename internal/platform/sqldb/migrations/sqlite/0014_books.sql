-- The books. Every payment is a row, also one that a person reports; an invoice
-- knows what it was issued for and what came for it; a company has terms.

-- Companies: terms in hundredths of a percent.
ALTER TABLE companies ADD COLUMN late_fee_bp INTEGER NOT NULL DEFAULT 0 CHECK (late_fee_bp BETWEEN 0 AND 10000);
ALTER TABLE companies ADD COLUMN late_interest_bp INTEGER NOT NULL DEFAULT 0 CHECK (late_interest_bp BETWEEN 0 AND 10000);
ALTER TABLE companies ADD COLUMN discount_bp INTEGER NOT NULL DEFAULT 0 CHECK (discount_bp BETWEEN 0 AND 10000);
ALTER TABLE companies ADD COLUMN discount_cents INTEGER NOT NULL DEFAULT 0 CHECK (discount_cents >= 0);
ALTER TABLE companies ADD COLUMN renew_invoice TEXT NOT NULL DEFAULT 'keep' CHECK (renew_invoice IN ('keep', 'paid', 'cancelled'));

-- Invoices.
ALTER TABLE invoices ADD COLUMN period_unit TEXT CHECK (period_unit IN ('day', 'week', 'month', 'year')); -- NULL: renews nothing
ALTER TABLE invoices ADD COLUMN period_count INTEGER CHECK (period_count > 0);
ALTER TABLE invoices ADD COLUMN issued_for TEXT; -- the customer's due date that it renews; NULL: an extra one
ALTER TABLE invoices ADD COLUMN edited INTEGER NOT NULL DEFAULT 0 CHECK (edited IN (0, 1));         -- by hand: it follows nobody
ALTER TABLE invoices ADD COLUMN superseded INTEGER NOT NULL DEFAULT 0 CHECK (superseded IN (0, 1)); -- another was issued for its due date
ALTER TABLE invoices ADD COLUMN withdrawn TEXT NOT NULL DEFAULT ''; -- why the program cancelled it: free, moved, undone, customer
ALTER TABLE invoices ADD COLUMN own_discount_cents INTEGER CHECK (own_discount_cents >= 0); -- in place of the company's terms
ALTER TABLE invoices ADD COLUMN received_cents INTEGER NOT NULL DEFAULT 0 CHECK (received_cents >= 0);
ALTER TABLE invoices ADD COLUMN late_fee_cents INTEGER NOT NULL DEFAULT 0;      -- these four as they were when it was paid
ALTER TABLE invoices ADD COLUMN late_interest_cents INTEGER NOT NULL DEFAULT 0;
ALTER TABLE invoices ADD COLUMN discount_cents INTEGER NOT NULL DEFAULT 0;
ALTER TABLE invoices ADD COLUMN forgiven_cents INTEGER NOT NULL DEFAULT 0;      -- less money, and a person said that it is enough
ALTER TABLE invoices ADD COLUMN renewed_on TEXT;                                -- the day on which the renewal counts
UPDATE invoices SET
    period_unit = (SELECT p.period_unit FROM customer_plans p WHERE p.company_id = invoices.company_id AND p.id = invoices.plan_id),
    period_count = (SELECT p.period_count FROM customer_plans p WHERE p.company_id = invoices.company_id AND p.id = invoices.plan_id)
    WHERE generated = 1;
UPDATE invoices SET issued_for = due_on WHERE generated = 1;
DROP INDEX invoices_generated;
CREATE UNIQUE INDEX invoices_generated ON invoices (company_id, customer_id, issued_for) WHERE generated = 1 AND superseded = 0;

-- A charge knows the day whose payable amount it asks for; '': the face amount.
ALTER TABLE charges ADD COLUMN payable_on TEXT NOT NULL DEFAULT '';

-- Money that came: the ledger. SQLite cannot drop a NOT NULL, so the table and
-- what refers to it are written anew.
CREATE TABLE payments_new (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    company_id    INTEGER NOT NULL REFERENCES companies (id),
    charge_id     INTEGER,          -- NULL: none, a person reported it
    provider      TEXT    NOT NULL, -- 'hand' when a person did
    payment_id    TEXT    NOT NULL, -- the gateway's, or the end-to-end id; 'hand:' and a code
    paid_via      TEXT    NOT NULL, -- as the API says it: a gateway's name, manual, cash, pix, card, transfer, boleto, other
    invoice_id    INTEGER NOT NULL, -- perhaps deleted since
    customer_id   INTEGER NOT NULL,
    customer_name TEXT    NOT NULL,
    plan_id       INTEGER NOT NULL, -- of the invoice then, 0: none; for the sums
    product_id    INTEGER NOT NULL,
    amount_cents  INTEGER NOT NULL,
    currency      TEXT    NOT NULL,
    paid_at       INTEGER NOT NULL,
    paid_on       TEXT    NOT NULL, -- the company's day of paid_at, then
    status        TEXT    NOT NULL CHECK (status IN ('applied', 'partial', 'review', 'refunded', 'dismissed')),
    refunded_cents INTEGER NOT NULL DEFAULT 0 CHECK (refunded_cents BETWEEN 0 AND amount_cents),
    confirmed_by  TEXT    NOT NULL,
    note          TEXT    NOT NULL,
    created_at    INTEGER NOT NULL, -- received_at of the API
    UNIQUE (company_id, id),
    UNIQUE (company_id, provider, payment_id),
    FOREIGN KEY (company_id, charge_id) REFERENCES charges (company_id, id)
) STRICT;
INSERT INTO payments_new
    SELECT p.id, p.company_id, p.charge_id, p.provider, p.payment_id, p.provider, p.invoice_id, p.customer_id, p.customer_name,
        COALESCE(i.plan_id, 0), COALESCE(i.product_id, 0), p.amount_cents, p.currency, p.paid_at,
        CASE WHEN p.applied = 1 AND i.paid_on IS NOT NULL THEN i.paid_on ELSE date(p.paid_at / 1000000, 'unixepoch') END,
        CASE WHEN p.applied = 1 AND i.id IS NOT NULL THEN CASE WHEN p.refunded = 1 THEN 'refunded' ELSE 'applied' END
            WHEN p.applied = 0 AND EXISTS (
                SELECT 1 FROM payment_reviews r WHERE r.company_id = p.company_id AND r.payment_id = p.id AND r.resolved_at IS NULL) THEN 'review' ELSE 'dismissed' END,
        CASE WHEN p.refunded = 1 THEN p.amount_cents ELSE 0 END, p.confirmed_by,
        CASE WHEN p.applied = 1 AND i.id IS NULL THEN 'its invoice was deleted, and the sums with it' ELSE '' END, p.created_at
    FROM payments p LEFT JOIN invoices i ON i.company_id = p.company_id AND i.id = p.invoice_id;
CREATE TABLE payment_reviews_new (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    company_id  INTEGER NOT NULL REFERENCES companies (id),
    payment_id  INTEGER NOT NULL,
    reason      TEXT    NOT NULL,
    created_at  INTEGER NOT NULL,
    resolved_at INTEGER,
    resolution  TEXT    NOT NULL,
    resolved_by TEXT    NOT NULL,
    note        TEXT    NOT NULL,
    UNIQUE (company_id, id),
    UNIQUE (company_id, payment_id, reason),
    FOREIGN KEY (company_id, payment_id) REFERENCES payments_new (company_id, id)
) STRICT;
INSERT INTO payment_reviews_new SELECT * FROM payment_reviews;
DROP TABLE payment_reviews;
DROP TABLE payments;
ALTER TABLE payments_new RENAME TO payments; -- rewrites what refers to it
ALTER TABLE payment_reviews_new RENAME TO payment_reviews;
CREATE INDEX payments_invoice ON payments (company_id, invoice_id, id);
CREATE INDEX payments_customer ON payments (company_id, customer_id, id);
CREATE INDEX payments_day ON payments (company_id, paid_on, id);
CREATE INDEX payments_via ON payments (company_id, paid_via, id);
CREATE INDEX payments_status ON payments (company_id, status, id);
CREATE INDEX payment_reviews_open ON payment_reviews (company_id, id) WHERE resolved_at IS NULL;

-- Money that went back. Rows are added, never changed.
CREATE TABLE payment_refunds (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    company_id      INTEGER NOT NULL REFERENCES companies (id),
    payment_id      INTEGER NOT NULL,
    refund_id       TEXT    NOT NULL, -- the gateway's, or 'hand:' and a code
    amount_cents    INTEGER NOT NULL CHECK (amount_cents > 0),
    refunded_at     INTEGER NOT NULL,
    refunded_on     TEXT    NOT NULL,
    reported_by     TEXT    NOT NULL, -- who, where a person did; empty: the gateway
    note            TEXT    NOT NULL,
    created_at      INTEGER NOT NULL,
    UNIQUE (company_id, id),
    UNIQUE (company_id, payment_id, refund_id),
    FOREIGN KEY (company_id, payment_id) REFERENCES payments (company_id, id)
) STRICT;
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
    SELECT p.company_id, p.id, 'review:' || r.id, p.amount_cents, r.created_at, date(r.created_at / 1000000, 'unixepoch'), '', '', r.created_at
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
