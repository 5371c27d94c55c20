-- How often our own code panicked over a delivery, which is set aside after a
-- few times.
ALTER TABLE delivery_queue ADD COLUMN panics INTEGER NOT NULL DEFAULT 0;

-- Every lane has its row from the start: a claim locks rows and passes over
-- those that others have locked, and could not pass over an insert.
INSERT INTO delivery_lanes (lane, token, until, sending)
SELECT lane, '', 0, '' FROM (
    SELECT id AS lane FROM webhooks UNION SELECT -company_id FROM callback_secrets UNION SELECT lane FROM delivery_queue) WHERE true
ON CONFLICT DO NOTHING;
