-- New customers have no row of their own to wait for the search index (sqldb/searchindex.go): who is past the last id that was indexed
-- waits. A trigger on new customers, whatever it does, makes SQLite copy every page that the new row touches, so there is none.
DROP TRIGGER customers_search_insert;
DROP TRIGGER customers_search_update;
DROP TRIGGER customers_search_delete;
DROP TRIGGER customers_short_due;    -- customer.askSealingFor
DROP TRIGGER customers_short_insert; -- ids grow, and nothing is marked while an import has ids reserved: no new customer is of a segment

CREATE TABLE customers_indexed (
    one     INTEGER PRIMARY KEY CHECK (one = 1),
    last_id INTEGER NOT NULL -- the texts up to it are indexed, but for those of customers_index_queue
) STRICT;
INSERT INTO customers_indexed (one, last_id) SELECT 1, COALESCE(MAX(id), 0) FROM customers;

-- Customers up to that id whose text is not in the index: it has changed, or came under an id that an import had reserved.
CREATE TABLE customers_index_queue (
    id INTEGER NOT NULL PRIMARY KEY
) STRICT;
INSERT INTO customers_index_queue (id) SELECT id FROM customers_unindexed;

-- All who wait for the index. Each customer is in the index with the text that it has, or here, and never in both.
DROP TABLE customers_unindexed;
CREATE VIEW customers_unindexed AS
    SELECT id FROM customers_index_queue
    UNION ALL SELECT id FROM customers WHERE id > (SELECT last_id FROM customers_indexed WHERE one = 1);

CREATE TRIGGER customers_search_update AFTER UPDATE OF search ON customers
WHEN old.search <> new.search AND new.id <= (SELECT last_id FROM customers_indexed WHERE one = 1) BEGIN
    DELETE FROM customers_search WHERE rowid = old.id;
    INSERT INTO customers_index_queue (id) VALUES (new.id) ON CONFLICT (id) DO NOTHING;
END;
CREATE TRIGGER customers_search_delete AFTER DELETE ON customers
WHEN old.id <= (SELECT last_id FROM customers_indexed WHERE one = 1) BEGIN
    DELETE FROM customers_search WHERE rowid = old.id;
    DELETE FROM customers_index_queue WHERE id = old.id;
END;
