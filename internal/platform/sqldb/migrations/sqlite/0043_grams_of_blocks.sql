-- A block of segments has one row for each key, with the places of all its segments (customer/block.go), instead of a row of each
-- segment beside the others: a search reads a few long rows instead of thousands that take a page each.
-- The key is an index of its own, not WITHOUT ROWID: SQLite would read all places of a row to compare its key.
DROP TABLE search_grams;
CREATE TABLE search_grams (
    company_id INTEGER NOT NULL,
    last_id    INTEGER NOT NULL, -- of the segment; below 0: the number of a block
    gram       INTEGER NOT NULL, -- two letters or three, as a number
    piece      INTEGER NOT NULL, -- 0: SQLite has a row of any length
    places     BLOB    NOT NULL,
    PRIMARY KEY (company_id, last_id, gram, piece)
) STRICT;

-- block is 0 until the segment is put into one; moved is the key up to which that was done.
ALTER TABLE search_segments DROP COLUMN merged;
ALTER TABLE search_segments ADD COLUMN moved INTEGER NOT NULL DEFAULT 0;

-- Places are written in another way (customer/gram.go): segments are cut and sealed anew. Until then searches read the texts.
DELETE FROM search_postings;
DELETE FROM search_segments;
DELETE FROM search_changes;
INSERT INTO search_due (company_id) SELECT company_id FROM customers GROUP BY company_id HAVING count(*) > 1000;
