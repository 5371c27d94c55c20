-- FTS5 writes out what it has gathered at the end of every statement, and that
-- was half of what a new customer cost. Changes are noted here instead, and the
-- writer indexes what a commit has changed in one go, just before it
-- (sqldb/searchindex.go). The table is empty between transactions.
CREATE TABLE customers_unindexed (
    id      INTEGER NOT NULL PRIMARY KEY,
    indexed INTEGER NOT NULL CHECK (indexed IN (0, 1)) -- whether the index holds an older text
) STRICT;

DROP TRIGGER customers_search_insert;
DROP TRIGGER customers_search_update;
DROP TRIGGER customers_search_delete;

CREATE TRIGGER customers_search_insert AFTER INSERT ON customers BEGIN
    INSERT INTO customers_unindexed (id, indexed) VALUES (new.id, 0);
END;
CREATE TRIGGER customers_search_update AFTER UPDATE OF search ON customers WHEN old.search <> new.search BEGIN
    INSERT INTO customers_unindexed (id, indexed) VALUES (new.id, 1) ON CONFLICT (id) DO NOTHING;
END;
CREATE TRIGGER customers_search_delete AFTER DELETE ON customers BEGIN
    INSERT INTO customers_unindexed (id, indexed) VALUES (old.id, 1) ON CONFLICT (id) DO NOTHING;
END;
