-- What is still to be sent, and when. It stands apart from the deliveries, which
-- are the history: PostgreSQL writes a row that leaves an index anew to all its
-- indexes, and one that is removed to none.
CREATE TABLE delivery_queue (
    delivery_id BIGINT PRIMARY KEY,
    company_id  BIGINT NOT NULL,
    event_id    BIGINT NOT NULL,
    lane        BIGINT NOT NULL, -- that of the delivery, as are the url and whether it is a test
    url         TEXT   NOT NULL,
    test        BOOLEAN NOT NULL,
    line        BIGINT NOT NULL CHECK (line IN (0, 1, 2)), -- 0: first attempts, 1: retries, 2: parked until the webhook is on again
    step        BIGINT NOT NULL, -- of the schedule of retries
    attempts    BIGINT NOT NULL, -- begun so far, so that no number is used twice
    run_at      BIGINT NOT NULL, -- when it is due; when its claim ends, while it has one
    claim       TEXT   NOT NULL  -- who is sending it apart from its lane; empty: nobody
);
INSERT INTO delivery_queue
SELECT id, company_id, event_id, lane, url, test, CASE WHEN status = 'parked' THEN 2 WHEN step > 0 THEN 1 ELSE 0 END, step, attempts, run_at, claim
FROM deliveries WHERE status IN ('pending', 'parked');
CREATE INDEX delivery_queue_order ON delivery_queue (line, lane, run_at);

DROP INDEX deliveries_first;
DROP INDEX deliveries_retry;
DROP INDEX deliveries_parked;
ALTER TABLE deliveries DROP COLUMN step, DROP COLUMN run_at, DROP COLUMN claim, DROP CONSTRAINT deliveries_status_check;
UPDATE deliveries SET status = 'pending' WHERE status = 'parked';
ALTER TABLE deliveries ADD CHECK (status IN ('pending', 'delivered', 'failed', 'refused')); -- pending: it stands in the queue
-- Room on each page for the outcome, which so needs no new entry in any index.
ALTER TABLE deliveries SET (fillfactor = 80);
