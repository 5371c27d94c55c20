-- Searches of three letters and more (customer/gram.go): where each three letters that follow one another are in the texts of a
-- segment. The row of a pair of letters has those that begin with it, but for the most frequent, which have rows of their own.
-- A segment is written together, as a block of its own; blocks are merged later, a few keys at a time, since a search reads
-- a few keys of all segments.
CREATE TABLE search_grams (
    company_id INTEGER NOT NULL,
    block      INTEGER NOT NULL,
    gram       INTEGER NOT NULL, -- two letters or three, as a number
    last_id    INTEGER NOT NULL,
    places     BLOB    NOT NULL,
    PRIMARY KEY (company_id, block, gram, last_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX search_grams_segment ON search_grams (last_id);

-- The block that the grams of a segment are in, or, until it is merged, are being moved to from that of its last_id.
ALTER TABLE search_segments ADD COLUMN block INTEGER NOT NULL DEFAULT 0;
ALTER TABLE search_segments ADD COLUMN merged INTEGER NOT NULL DEFAULT 0 CHECK (merged IN (0, 1));

-- Segments are cut and sealed anew, with both. Until then searches go by the trigram index.
DELETE FROM search_postings;
DELETE FROM search_segments;
DELETE FROM search_changes;
INSERT INTO search_due (company_id) SELECT company_id FROM customers GROUP BY company_id HAVING count(*) > 1000;
