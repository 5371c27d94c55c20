-- How often our own code panicked over a delivery, which is set aside after a
-- few times.
ALTER TABLE delivery_queue ADD COLUMN panics BIGINT NOT NULL DEFAULT 0;

-- Every lane has its row from the start: a claim locks rows and passes over
-- those that others have locked, and could not pass over an insert.
INSERT INTO delivery_lanes (lane, token, until, sending)
SELECT id, '', 0, '' FROM webhooks
UNION SELECT -company_id, '', 0, '' FROM callback_secrets
UNION SELECT lane, '', 0, '' FROM delivery_queue
ON CONFLICT DO NOTHING;
