-- A block of segments has one row for each key, with the places of all its segments (customer/block.go), instead of a row of each
-- segment: a search reads a few long rows instead of thousands.
DROP TABLE search_grams;
CREATE TABLE search_grams (
    company_id BIGINT NOT NULL,
    last_id    BIGINT NOT NULL, -- of the segment; below 0: the number of a block
    gram       BIGINT NOT NULL, -- two letters or three, as a number
    piece      BIGINT NOT NULL, -- of a block's row that a page would not hold: each has some of the segments
    places     BYTEA  NOT NULL,
    PRIMARY KEY (company_id, last_id, gram, piece)
) WITH (toast_tuple_target = 8160);
ALTER TABLE search_grams ALTER COLUMN places SET STORAGE EXTERNAL; -- in the row if it fits, never compressed

-- block is 0 until the segment is put into one; moved is the key up to which that was done.
ALTER TABLE search_segments DROP COLUMN merged;
ALTER TABLE search_segments ADD COLUMN moved BIGINT NOT NULL DEFAULT 0;

-- Places are written in another way (customer/gram.go): segments are cut and sealed anew. Until then searches read the texts.
TRUNCATE search_postings, search_segments, search_changes;
INSERT INTO search_due (company_id) SELECT company_id FROM customers GROUP BY company_id HAVING count(*) > 1000;
