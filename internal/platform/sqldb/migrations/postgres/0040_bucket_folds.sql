-- How often changes were folded into a bucket, whatever they came to: with the deltas of the bucket it tells whether
-- anything in it has changed since it was read (tally/stamps.go).
ALTER TABLE tally_buckets ADD COLUMN folds BIGINT NOT NULL DEFAULT 0;
