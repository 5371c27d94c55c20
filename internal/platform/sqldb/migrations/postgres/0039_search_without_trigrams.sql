-- Customers are found by sealed segments, and by their texts where none is sealed (customer/segment.go). Nothing reads the index of
-- trigrams any more. That of companies stays.
DROP INDEX customers_search;
