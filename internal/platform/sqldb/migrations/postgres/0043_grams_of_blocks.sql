-- SQLite has the grams of many segments in one row. Here each segment keeps its own; the columns of segments are as there.
ALTER TABLE search_grams DROP COLUMN block;
ALTER TABLE search_segments DROP COLUMN merged;
ALTER TABLE search_segments ADD COLUMN moved BIGINT NOT NULL DEFAULT 0;
