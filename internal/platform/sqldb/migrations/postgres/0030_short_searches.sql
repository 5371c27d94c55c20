-- Searches of one or two letters, for which a trigram index is of no use (customer/segment.go). The customers of a large
-- company are cut by their ids into segments; search_postings has, for each segment and each letter or pair of letters, who
-- has it in the search text. Who has changed since is in search_changes; who is newer than the last segment is read.
CREATE TABLE search_segments (
    company_id BIGINT  NOT NULL REFERENCES companies (id),
    last_id    BIGINT  NOT NULL, -- the segment ends here, and begins after the one before
    horizon    BIGINT,           -- transactions from this one on know of the segment; NULL: not known yet
    sealed     BOOLEAN NOT NULL, -- its postings are written
    PRIMARY KEY (company_id, last_id)
);

CREATE TABLE search_postings (
    company_id BIGINT NOT NULL,
    last_id    BIGINT NOT NULL,
    term       TEXT COLLATE "C" NOT NULL,
    ids        BYTEA  NOT NULL,
    PRIMARY KEY (company_id, last_id, term)
);

-- Customers of a segment who were added, changed or deleted since. Rows are added and removed, never changed, so that no
-- change waits for another.
CREATE TABLE search_changes (
    change_id  BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    company_id BIGINT NOT NULL,
    id         BIGINT NOT NULL
);
CREATE INDEX search_changes_of ON search_changes (company_id, id);

-- Companies that may have customers for a segment, or changes to take in. Rows are added and removed, too.
CREATE TABLE search_due (
    id         BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    company_id BIGINT NOT NULL REFERENCES companies (id)
);
INSERT INTO search_due (company_id) SELECT company_id FROM customers GROUP BY company_id HAVING count(*) > 1000;

-- It runs after the checks of foreign keys, and sees what was committed by then.
CREATE FUNCTION search_added() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    WITH late AS (
        INSERT INTO search_changes (company_id, id)
        SELECT a.company_id, a.id FROM added a
        WHERE EXISTS (SELECT 1 FROM search_segments g WHERE g.company_id = a.company_id AND g.last_id >= a.id)
        RETURNING company_id
    )
    INSERT INTO search_due (company_id)
    SELECT company_id FROM late UNION SELECT a.company_id FROM added a WHERE a.id % 64 = 0;
    RETURN NULL;
END $$;
CREATE TRIGGER customers_short_insert AFTER INSERT ON customers
REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION search_added();

CREATE FUNCTION search_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM search_segments WHERE company_id = OLD.company_id AND last_id >= OLD.id) THEN
        INSERT INTO search_changes (company_id, id) VALUES (OLD.company_id, OLD.id);
        INSERT INTO search_due (company_id) VALUES (OLD.company_id);
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER customers_short_update AFTER UPDATE OF search ON customers
FOR EACH ROW WHEN (OLD.search <> NEW.search) EXECUTE FUNCTION search_changed();
CREATE TRIGGER customers_short_delete AFTER DELETE ON customers
FOR EACH ROW EXECUTE FUNCTION search_changed();
