-- Customers by where they are in the list, plan and product: a page in the middle of the customers of one plan is found
-- without walking to it. A bucket is 4,096 ids, as in tally_buckets.
CREATE TABLE tally_goods (
    company_id BIGINT NOT NULL,
    book       TEXT   NOT NULL,
    plan_id    BIGINT NOT NULL, -- 0: none
    bucket     BIGINT NOT NULL,
    product_id BIGINT NOT NULL, -- 0: none
    n          BIGINT NOT NULL,
    PRIMARY KEY (company_id, book, plan_id, bucket, product_id)
);
CREATE INDEX tally_goods_product ON tally_goods (company_id, book, product_id, bucket, n);
-- What the deltas say is added to it later; customers of an import that is still hidden are not counted yet.
INSERT INTO tally_goods (company_id, book, plan_id, bucket, product_id, n)
    SELECT company_id, 'customers', plan_id, bucket, product_id, SUM(n) FROM (
        SELECT company_id, COALESCE(plan_id, 0) AS plan_id, id / 4096 AS bucket, COALESCE(product_id, 0) AS product_id, 1 AS n
        FROM customers WHERE NOT EXISTS (SELECT 1 FROM customer_staging WHERE customers.id BETWEEN hidden_from AND hidden_to)
        UNION ALL SELECT company_id, plan_id, bucket, product_id, -n FROM tally_deltas WHERE book = 'customers'
    ) AS counted GROUP BY company_id, plan_id, bucket, product_id HAVING SUM(n) <> 0;
