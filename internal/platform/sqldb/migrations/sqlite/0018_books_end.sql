-- Customers by what makes a row of a file seem to be one of them: the phone, the tax id (0013), the name with the due
-- date. The first line of the search text is the folded name.
CREATE INDEX customers_phone ON customers (company_id, whatsapp, id) WHERE whatsapp <> '';
CREATE INDEX customers_namesake ON customers (company_id, (due_on || ' ' || substr(search, 1, instr(search, char(10)) - 1)), id)
    WHERE due_on IS NOT NULL;

-- Lines of a file that were not imported, with the reasons: a JSON array.
ALTER TABLE customer_uploads ADD COLUMN rejected TEXT NOT NULL DEFAULT '';

-- The list of payments is walked in the order of ids; of many days, this keeps rows that do not match from being read.
CREATE INDEX payments_walk ON payments (company_id, id, paid_on);
-- Payments are counted by day, status and means, so that their list knows its total without counting.
INSERT INTO tally_sums (company_id, book, day, plan_id, product_id, state, n, cents)
    SELECT company_id, 'payments', paid_on, 0, 0, status || '/' || paid_via, COUNT(*), 0 FROM payments
    GROUP BY company_id, paid_on, status, paid_via;
INSERT INTO tally_buckets (company_id, book, bucket, n)
    SELECT company_id, 'payments', id / 4096, COUNT(*) FROM payments GROUP BY company_id, id / 4096;
INSERT INTO tally_totals (company_id, book, n, folds)
    SELECT company_id, 'payments', COUNT(*), 1 FROM payments GROUP BY company_id;

-- Plans whose value or period has changed and whose customers are still being counted anew.
CREATE TABLE plan_repricings (
    company_id INTEGER NOT NULL,
    plan_id    INTEGER NOT NULL,
    changed_on TEXT    NOT NULL, -- the company's day of the change
    was_free   INTEGER NOT NULL CHECK (was_free IN (0, 1)), -- it cost nothing before
    next_id    INTEGER NOT NULL, -- customers up to this id are done
    PRIMARY KEY (company_id, plan_id),
    FOREIGN KEY (company_id, plan_id) REFERENCES customer_plans (company_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
