-- Customers are found by sealed segments, and by their texts where none is sealed (customer/segment.go). The index of trigrams was a
-- tenth of what a new customer cost, and nothing reads it any more.
DROP TRIGGER customers_search_update;
DROP TRIGGER customers_search_delete;
DROP VIEW customers_unindexed;
DROP TABLE customers_index_queue;
DROP TABLE customers_indexed;
DROP TABLE customers_search;
