-- Resellers can be sorted by name, which is the first line of the search text, and by the end of their subscription. One
-- that never ends comes after all others.
ALTER TABLE companies ADD COLUMN name_key TEXT COLLATE "C" GENERATED ALWAYS AS (split_part(search, chr(10), 1)) STORED;
CREATE INDEX companies_name ON companies (parent_id, name_key, id);
CREATE INDEX companies_ending ON companies (parent_id, (COALESCE(expires_on, '9999-12-31')), id);
