-- Searches of one or two letters, for which a trigram index is of no use (customer/segment.go). The customers of a large
-- company are cut by their ids into segments; search_postings has, for each segment and each letter or pair of letters, who
-- has it in the search text. Who has changed since is in search_changes; who is newer than the last segment is read.
CREATE TABLE search_segments (
    company_id INTEGER NOT NULL REFERENCES companies (id),
    last_id    INTEGER NOT NULL, -- the segment ends here, and begins after the one before
    horizon    INTEGER,          -- PostgreSQL: transactions from this one on know of the segment; NULL: not known yet
    sealed     INTEGER NOT NULL CHECK (sealed IN (0, 1)), -- its postings are written
    PRIMARY KEY (company_id, last_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE search_postings (
    company_id INTEGER NOT NULL,
    last_id    INTEGER NOT NULL,
    term       TEXT    NOT NULL,
    ids        BLOB    NOT NULL,
    PRIMARY KEY (company_id, last_id, term)
) STRICT, WITHOUT ROWID;

-- Customers of a segment who were added, changed or deleted since. Rows are added and removed, never changed, so that no
-- change waits for another.
CREATE TABLE search_changes (
    change_id  INTEGER PRIMARY KEY AUTOINCREMENT,
    company_id INTEGER NOT NULL,
    id         INTEGER NOT NULL
) STRICT;
CREATE INDEX search_changes_of ON search_changes (company_id, id);

-- Companies that may have customers for a segment, or changes to take in. Rows are added and removed, too.
CREATE TABLE search_due (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    company_id INTEGER NOT NULL REFERENCES companies (id)
) STRICT;
INSERT INTO search_due (company_id) SELECT company_id FROM customers GROUP BY company_id HAVING count(*) > 1000;

CREATE TRIGGER customers_short_due AFTER INSERT ON customers WHEN new.id % 64 = 0 BEGIN
    INSERT INTO search_due (company_id) VALUES (new.company_id);
END;
CREATE TRIGGER customers_short_insert AFTER INSERT ON customers
WHEN EXISTS (SELECT 1 FROM search_segments WHERE company_id = new.company_id AND last_id >= new.id) BEGIN
    INSERT INTO search_changes (company_id, id) VALUES (new.company_id, new.id);
    INSERT INTO search_due (company_id) VALUES (new.company_id);
END;
CREATE TRIGGER customers_short_update AFTER UPDATE OF search ON customers
WHEN old.search <> new.search AND EXISTS (SELECT 1 FROM search_segments WHERE company_id = new.company_id AND last_id >= new.id) BEGIN
    INSERT INTO search_changes (company_id, id) VALUES (new.company_id, new.id);
    INSERT INTO search_due (company_id) VALUES (new.company_id);
END;
CREATE TRIGGER customers_short_delete AFTER DELETE ON customers
WHEN EXISTS (SELECT 1 FROM search_segments WHERE company_id = old.company_id AND last_id >= old.id) BEGIN
    INSERT INTO search_changes (company_id, id) VALUES (old.company_id, old.id);
    INSERT INTO search_due (company_id) VALUES (old.company_id);
END;
