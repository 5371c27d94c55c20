-- How often changes were folded into a bucket, whatever they came to: with the deltas of the bucket it tells whether
-- anything in it has changed since it was read (tally/stamps.go).
ALTER TABLE tally_buckets ADD COLUMN folds INTEGER NOT NULL DEFAULT 0;

-- With the column that it is for, or SQLite prefers an index that has it and reads all customers for the cancelled ones.
DROP INDEX customers_cancelled;
CREATE INDEX customers_cancelled ON customers (company_id, id, cancelled_at) WHERE cancelled_at IS NOT NULL;
