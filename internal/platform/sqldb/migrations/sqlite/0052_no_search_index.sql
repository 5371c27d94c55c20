-- A search of resellers reads their texts (ADR 0059); no statement asks the index.
DROP TRIGGER companies_search_insert;
DROP TRIGGER companies_search_update;
DROP TABLE companies_search;
