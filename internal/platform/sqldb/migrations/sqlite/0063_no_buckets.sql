-- Where in a list records are is not counted any more: lists walk the index of their order. Folds were counted for a stamp of
-- searches, which are not kept either.
DROP TABLE tally_buckets;
ALTER TABLE tally_deltas DROP COLUMN bucket;
ALTER TABLE tally_totals DROP COLUMN folds;
