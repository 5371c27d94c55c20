-- What is still to be sent, and when. It stands apart from the deliveries, which
-- are the history.
CREATE TABLE delivery_queue (
    delivery_id INTEGER PRIMARY KEY,
    company_id  INTEGER NOT NULL,
    event_id    INTEGER NOT NULL,
    lane        INTEGER NOT NULL, -- that of the delivery, as are the url and whether it is a test
    url         TEXT    NOT NULL,
    test        INTEGER NOT NULL CHECK (test IN (0, 1)),
    line        INTEGER NOT NULL CHECK (line IN (0, 1, 2)), -- 0: first attempts, 1: retries, 2: parked until the webhook is on again
    step        INTEGER NOT NULL, -- of the schedule of retries
    attempts    INTEGER NOT NULL, -- begun so far, so that no number is used twice
    run_at      INTEGER NOT NULL, -- when it is due; when its claim ends, while it has one
    claim       TEXT    NOT NULL  -- who is sending it apart from its lane; empty: nobody
) STRICT;
INSERT INTO delivery_queue
SELECT id, company_id, event_id, lane, url, test, CASE WHEN status = 'parked' THEN 2 WHEN step > 0 THEN 1 ELSE 0 END, step, attempts, run_at, claim
FROM deliveries WHERE status IN ('pending', 'parked');
CREATE INDEX delivery_queue_order ON delivery_queue (line, lane, run_at);

-- The same without what stands in the queue, and with one index of the id.
CREATE TABLE deliveries_new (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    company_id   INTEGER NOT NULL REFERENCES companies (id),
    webhook_id   INTEGER,          -- null: the notification of a single invoice
    event_id     INTEGER NOT NULL REFERENCES events (id),
    event        TEXT    NOT NULL,
    url          TEXT    NOT NULL, -- of a notification; a webhook's is read when sending
    lane         INTEGER NOT NULL, -- the webhook's id; minus the company's for notifications
    status       TEXT    NOT NULL CHECK (status IN ('pending', 'delivered', 'failed', 'refused')), -- pending: it stands in the queue
    test         INTEGER NOT NULL CHECK (test IN (0, 1)),
    attempts     INTEGER NOT NULL, -- begun until it left the queue
    created_at   INTEGER NOT NULL,
    delivered_at INTEGER,
    UNIQUE (company_id, event_id, lane, url),
    FOREIGN KEY (company_id, webhook_id) REFERENCES webhooks (company_id, id)
) STRICT;
INSERT INTO sqlite_sequence (name, seq) SELECT 'deliveries_new', seq FROM sqlite_sequence WHERE name = 'deliveries'; -- no id twice
INSERT INTO deliveries_new
SELECT id, company_id, webhook_id, event_id, event, url, lane, CASE status WHEN 'parked' THEN 'pending' ELSE status END, test, attempts,
    created_at, delivered_at
FROM deliveries;
DROP TABLE deliveries;
ALTER TABLE deliveries_new RENAME TO deliveries;
CREATE INDEX deliveries_history ON deliveries (company_id, webhook_id, id);
