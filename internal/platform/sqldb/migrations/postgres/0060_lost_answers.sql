-- The record that a request with an idempotency key wrote: what its repeat is answered with when a crash lost the first answer.
ALTER TABLE idempotency_keys ADD COLUMN record_id BIGINT NOT NULL DEFAULT 0;
