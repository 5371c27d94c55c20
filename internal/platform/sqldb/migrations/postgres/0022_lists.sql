-- Lists can be sorted by name and by the last change, and filtered by the latter. The first line of the search text is
-- the name without case and accents. As a column of its own it is read from its index alone.
ALTER TABLE customers ADD COLUMN name_key TEXT COLLATE "C" GENERATED ALWAYS AS (split_part(search, chr(10), 1)) STORED;
CREATE INDEX customers_name ON customers (company_id, name_key, id);
CREATE INDEX customers_updated ON customers (company_id, updated_at, id);
CREATE INDEX invoices_updated ON invoices (company_id, updated_at, id);

-- A list of the panel as a user saved it, and the columns of it that the user wants.
CREATE TABLE list_views (
    id         BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    company_id BIGINT NOT NULL REFERENCES companies (id),
    user_id    BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    list       TEXT   NOT NULL,
    name       TEXT   NOT NULL,
    query      TEXT   NOT NULL,
    created_at BIGINT NOT NULL,
    UNIQUE (company_id, user_id, list, name)
);
CREATE INDEX list_views_user ON list_views (user_id);
CREATE TABLE list_columns (
    company_id BIGINT NOT NULL REFERENCES companies (id),
    user_id    BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    list       TEXT   NOT NULL,
    columns    TEXT   NOT NULL,
    PRIMARY KEY (company_id, user_id, list)
);
CREATE INDEX list_columns_user ON list_columns (user_id);
