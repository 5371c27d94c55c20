-- A search asks for a few grams of many segments. PostgreSQL took the index of segments for that, and read all grams of all of them:
-- it cannot know how many segments a span has. A hash finds the grams of one segment, which is what the index is for, and no span.
DROP INDEX search_grams_segment;
CREATE INDEX search_grams_segment ON search_grams USING hash (last_id);
