-- SQLite has the grams of many segments in one row. Here each segment keeps its own; the columns of segments are as there.
ALTER TABLE search_grams DROP COLUMN block;
ALTER TABLE search_segments DROP COLUMN merged;
ALTER TABLE search_segments ADD COLUMN moved BIGINT NOT NULL DEFAULT 0;

-- Places are written in another way (customer/gram.go): segments are cut and sealed anew. Until then searches read the texts.
TRUNCATE search_grams, search_postings, search_segments, search_changes;
INSERT INTO search_due (company_id) SELECT company_id FROM customers GROUP BY company_id HAVING count(*) > 1000;
