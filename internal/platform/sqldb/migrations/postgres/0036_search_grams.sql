-- Searches of three letters and more (customer/gram.go): where each three letters that follow one another are in the texts of a
-- segment. The row of a pair of letters has those that begin with it, but for the most frequent, which have rows of their own.
CREATE TABLE search_grams (
    company_id BIGINT NOT NULL,
    block      BIGINT NOT NULL, -- for SQLite, which merges them
    gram       BIGINT NOT NULL, -- two letters or three, as a number
    last_id    BIGINT NOT NULL,
    places     BYTEA  NOT NULL,
    PRIMARY KEY (company_id, gram, last_id)
) WITH (toast_tuple_target = 8160);
ALTER TABLE search_grams ALTER COLUMN places SET STORAGE EXTERNAL; -- in the row if it fits, never compressed
CREATE INDEX search_grams_segment ON search_grams (last_id);
ALTER TABLE search_segments ADD COLUMN block BIGINT NOT NULL DEFAULT 0;
ALTER TABLE search_segments ADD COLUMN merged BOOLEAN NOT NULL DEFAULT FALSE;

-- Segments are cut and sealed anew, with both. Until then searches go by the trigram index.
DELETE FROM search_postings;
DELETE FROM search_segments;
DELETE FROM search_changes;
INSERT INTO search_due (company_id) SELECT company_id FROM customers GROUP BY company_id HAVING count(*) > 1000;
