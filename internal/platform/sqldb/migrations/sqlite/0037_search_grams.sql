-- Searches of three letters and more (customer/gram.go): where each three letters that follow one another are in the texts of a
-- segment. The row of a pair of letters has those that begin with it, but for the most frequent, which have rows of their own.
-- Rows of one key lie together, whatever the segment, since a search reads a few keys of all segments.
CREATE TABLE search_grams (
    company_id INTEGER NOT NULL,
    gram       INTEGER NOT NULL, -- two letters or three, as a number
    last_id    INTEGER NOT NULL,
    places     BLOB    NOT NULL,
    PRIMARY KEY (company_id, gram, last_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX search_grams_segment ON search_grams (company_id, last_id);

-- Segments are cut and sealed anew, with both. Until then searches go by the trigram index.
DELETE FROM search_postings;
DELETE FROM search_segments;
DELETE FROM search_changes;
INSERT INTO search_due (company_id) SELECT company_id FROM customers GROUP BY company_id HAVING count(*) > 1000;
