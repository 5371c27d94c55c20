-- Lists can be sorted by name and by the last change, and filtered by the latter. The first line of the search text is
-- the name without case and accents. As a column of its own it is read from its index alone.
ALTER TABLE customers ADD COLUMN name_key TEXT GENERATED ALWAYS AS (substr(search, 1, instr(search, char(10)) - 1)) VIRTUAL;
CREATE INDEX customers_name ON customers (company_id, name_key, id);
CREATE INDEX customers_updated ON customers (company_id, updated_at, id);
CREATE INDEX invoices_updated ON invoices (company_id, updated_at, id);

-- A list of the panel as a user saved it, and the columns of it that the user wants.
CREATE TABLE list_views (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    company_id INTEGER NOT NULL REFERENCES companies (id),
    user_id    INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    list       TEXT    NOT NULL,
    name       TEXT    NOT NULL,
    query      TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    UNIQUE (company_id, user_id, list, name)
) STRICT;
CREATE INDEX list_views_user ON list_views (user_id);
CREATE TABLE list_columns (
    company_id INTEGER NOT NULL REFERENCES companies (id),
    user_id    INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    list       TEXT    NOT NULL,
    columns    TEXT    NOT NULL,
    PRIMARY KEY (company_id, user_id, list)
) STRICT;
CREATE INDEX list_columns_user ON list_columns (user_id);
