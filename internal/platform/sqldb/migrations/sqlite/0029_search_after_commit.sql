-- A text is indexed after its commit, many together (sqldb/searchindex.go). Each customer is in the index with the text that
-- it has, or in this table, and never in both: so a search asks both and adds. Only a new text may wait; an old
-- one leaves the index in the transaction that changes or deletes its customer.
DROP TRIGGER customers_search_insert;
DROP TRIGGER customers_search_update;
DROP TRIGGER customers_search_delete;
DROP TABLE customers_unindexed; -- was empty between transactions

CREATE TABLE customers_unindexed (
    id INTEGER NOT NULL PRIMARY KEY
) STRICT;

CREATE TRIGGER customers_search_insert AFTER INSERT ON customers BEGIN
    INSERT INTO customers_unindexed (id) VALUES (new.id);
END;
CREATE TRIGGER customers_search_update AFTER UPDATE OF search ON customers WHEN old.search <> new.search BEGIN
    DELETE FROM customers_search WHERE rowid = old.id;
    INSERT INTO customers_unindexed (id) VALUES (new.id) ON CONFLICT (id) DO NOTHING;
END;
CREATE TRIGGER customers_search_delete AFTER DELETE ON customers BEGIN
    DELETE FROM customers_search WHERE rowid = old.id;
    DELETE FROM customers_unindexed WHERE id = old.id;
END;
