-- Customers by where they are in the list, as tally_areas had them, with all sixteen buckets of an area in one row:
-- a look reads a sixteenth of the rows. Bucket b is column n(b modulo 16) of part b / 16; NULL: it has none.
CREATE TABLE tally_places (
    company_id BIGINT  NOT NULL,
    book       TEXT    NOT NULL,
    area       BIGINT  NOT NULL, -- -1: areas take the place of buckets
    unit       TEXT    NOT NULL, -- day or month
    day        TEXT COLLATE "C" NOT NULL,
    state      TEXT    NOT NULL,
    part       BIGINT  NOT NULL,
    n          BIGINT  NOT NULL, -- of all sixteen, by which empty rows are found
    n0 BIGINT, n1 BIGINT, n2 BIGINT, n3 BIGINT,
    n4 BIGINT, n5 BIGINT, n6 BIGINT, n7 BIGINT,
    n8 BIGINT, n9 BIGINT, n10 BIGINT, n11 BIGINT,
    n12 BIGINT, n13 BIGINT, n14 BIGINT, n15 BIGINT,
    PRIMARY KEY (company_id, book, area, unit, day, state, part)
);
CREATE INDEX tally_places_empty ON tally_places (n, company_id) WHERE n = 0;
INSERT INTO tally_places
    SELECT company_id, book, area, unit, day, state, bucket / 16, SUM(n),
        SUM(CASE WHEN bucket % 16 = 0 THEN n END), SUM(CASE WHEN bucket % 16 = 1 THEN n END), SUM(CASE WHEN bucket % 16 = 2 THEN n END), SUM(CASE WHEN bucket % 16 = 3 THEN n END),
        SUM(CASE WHEN bucket % 16 = 4 THEN n END), SUM(CASE WHEN bucket % 16 = 5 THEN n END), SUM(CASE WHEN bucket % 16 = 6 THEN n END), SUM(CASE WHEN bucket % 16 = 7 THEN n END),
        SUM(CASE WHEN bucket % 16 = 8 THEN n END), SUM(CASE WHEN bucket % 16 = 9 THEN n END), SUM(CASE WHEN bucket % 16 = 10 THEN n END), SUM(CASE WHEN bucket % 16 = 11 THEN n END),
        SUM(CASE WHEN bucket % 16 = 12 THEN n END), SUM(CASE WHEN bucket % 16 = 13 THEN n END), SUM(CASE WHEN bucket % 16 = 14 THEN n END), SUM(CASE WHEN bucket % 16 = 15 THEN n END)
    FROM tally_areas WHERE n <> 0 GROUP BY company_id, book, area, unit, day, state, bucket / 16;
DROP TABLE tally_areas;
