-- The sums of tally_sums by month: who asks for a year reads twelve times as many rows as there are plans, products and
-- states, and single days only at its two ends.
CREATE TABLE tally_months (
    company_id BIGINT  NOT NULL,
    book       TEXT    NOT NULL,
    month      TEXT COLLATE "C" NOT NULL, -- YYYY-MM; '': records without a day
    plan_id    BIGINT  NOT NULL,
    product_id BIGINT  NOT NULL,
    state      TEXT    NOT NULL,
    n          BIGINT  NOT NULL,
    cents      BIGINT  NOT NULL,
    PRIMARY KEY (company_id, book, month, plan_id, product_id, state)
);
CREATE INDEX tally_months_empty ON tally_months (n, cents, company_id) WHERE n = 0 AND cents = 0;
INSERT INTO tally_months (company_id, book, month, plan_id, product_id, state, n, cents)
    SELECT company_id, book, substr(day, 1, 7), plan_id, product_id, state, SUM(n), SUM(cents) FROM tally_sums
    GROUP BY company_id, book, substr(day, 1, 7), plan_id, product_id, state HAVING SUM(n) <> 0 OR SUM(cents) <> 0;
-- Customers by where they are in the list, by due date and by its month: a page in the middle of those of a status is
-- found without walking to it. An area is 16 buckets; area -1 has the areas themselves in place of buckets.
CREATE TABLE tally_areas (
    company_id BIGINT  NOT NULL,
    book       TEXT    NOT NULL,
    area       BIGINT  NOT NULL,
    unit       TEXT    NOT NULL, -- day or month
    day        TEXT COLLATE "C" NOT NULL,
    state      TEXT    NOT NULL,
    bucket     BIGINT  NOT NULL,
    n          BIGINT  NOT NULL,
    PRIMARY KEY (company_id, book, area, unit, day, state, bucket)
);
CREATE INDEX tally_areas_empty ON tally_areas (n, company_id) WHERE n = 0;
-- What the deltas say is added to it later; customers of an import that is still hidden are not counted yet.
INSERT INTO tally_areas (company_id, book, area, unit, day, state, bucket, n)
    WITH made AS MATERIALIZED (
        SELECT company_id, bucket, day, state, SUM(n) AS n FROM (
            SELECT company_id, id / 4096 AS bucket, COALESCE(due_on, '') AS day,
                CASE WHEN cancelled_at IS NOT NULL THEN 'cancelled' WHEN price_cents IS NOT NULL THEN 'own' ELSE '' END AS state, 1 AS n
            FROM customers WHERE NOT EXISTS (SELECT 1 FROM customer_staging WHERE customers.id BETWEEN hidden_from AND hidden_to)
            UNION ALL SELECT company_id, bucket, day, state, -n FROM tally_deltas WHERE book = 'customers'
        ) AS counted GROUP BY company_id, bucket, day, state
    )
    SELECT company_id, 'customers', area, unit, day, state, bucket, SUM(n) FROM (
        SELECT company_id, -1 AS area, 'day' AS unit, day, state, bucket / 16 AS bucket, n FROM made
        UNION ALL SELECT company_id, -1, 'month', substr(day, 1, 7), state, bucket / 16, n FROM made
        UNION ALL SELECT company_id, bucket / 16, 'day', day, state, bucket, n FROM made
        UNION ALL SELECT company_id, bucket / 16, 'month', substr(day, 1, 7), state, bucket, n FROM made
    ) AS counted GROUP BY company_id, area, unit, day, state, bucket HAVING SUM(n) <> 0;
