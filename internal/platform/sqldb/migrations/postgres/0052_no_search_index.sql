-- A search of resellers reads their texts (ADR 0059); no statement asks the index.
DROP INDEX companies_search;
