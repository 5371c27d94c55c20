-- Instants are UTC microseconds, dates are YYYY-MM-DD, money is cents.
-- Every index that finds a company's rows begins with company_id; those that find
-- the company itself, by token or e-mail address, cannot.

CREATE TABLE companies (
    id               INTEGER PRIMARY KEY AUTOINCREMENT,
    parent_id        INTEGER REFERENCES companies (id),
    name             TEXT    NOT NULL,
    level            TEXT    NOT NULL CHECK (level IN ('user', 'reseller', 'master', 'ultra_master')),
    timezone         TEXT    NOT NULL,
    renew_from       TEXT    NOT NULL CHECK (renew_from IN ('due_date', 'today')),
    renew_on_payment INTEGER NOT NULL CHECK (renew_on_payment IN (0, 1)),
    lead_days        INTEGER NOT NULL CHECK (lead_days BETWEEN 0 AND 60),
    created_at       INTEGER NOT NULL,
    updated_at       INTEGER NOT NULL
) STRICT;
CREATE INDEX companies_parent ON companies (parent_id, id);

CREATE TABLE users (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    company_id    INTEGER NOT NULL REFERENCES companies (id),
    name          TEXT    NOT NULL,
    email         TEXT    NOT NULL,
    email_key     TEXT    NOT NULL UNIQUE,
    password_hash TEXT    NOT NULL,
    role          TEXT    NOT NULL CHECK (role IN ('owner', 'staff', 'readonly')),
    created_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL
) STRICT;
CREATE INDEX users_company ON users (company_id, id);

CREATE TABLE api_tokens (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    company_id   INTEGER NOT NULL REFERENCES companies (id),
    name         TEXT    NOT NULL,
    hash         BLOB    NOT NULL UNIQUE,
    created_at   INTEGER NOT NULL,
    last_used_at INTEGER
) STRICT;
CREATE INDEX api_tokens_company ON api_tokens (company_id, id);

CREATE TABLE idempotency_keys (
    company_id  INTEGER NOT NULL,
    token_id    INTEGER NOT NULL REFERENCES api_tokens (id) ON DELETE CASCADE,
    key         TEXT    NOT NULL,
    fingerprint BLOB    NOT NULL,
    holder      TEXT    NOT NULL,
    lease_until INTEGER NOT NULL,
    carried_out INTEGER NOT NULL CHECK (carried_out IN (0, 1)),
    status      INTEGER NOT NULL,
    answer      TEXT    NOT NULL,
    created_at  INTEGER NOT NULL,
    PRIMARY KEY (company_id, token_id, key)
) STRICT;
CREATE INDEX idempotency_keys_created ON idempotency_keys (created_at);
CREATE INDEX idempotency_keys_token ON idempotency_keys (token_id);

CREATE TABLE products (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    company_id  INTEGER NOT NULL REFERENCES companies (id),
    name        TEXT    NOT NULL,
    description TEXT    NOT NULL,
    active      INTEGER NOT NULL CHECK (active IN (0, 1)),
    search      TEXT    NOT NULL,
    created_at  INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL,
    UNIQUE (company_id, id)
) STRICT;

CREATE TABLE customer_plans (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    company_id   INTEGER NOT NULL REFERENCES companies (id),
    name         TEXT    NOT NULL,
    value_cents  INTEGER NOT NULL CHECK (value_cents >= 0),
    period_unit  TEXT    NOT NULL CHECK (period_unit IN ('day', 'week', 'month', 'year')),
    period_count INTEGER NOT NULL CHECK (period_count > 0),
    product_id   INTEGER,
    active       INTEGER NOT NULL CHECK (active IN (0, 1)),
    search       TEXT    NOT NULL,
    created_at   INTEGER NOT NULL,
    updated_at   INTEGER NOT NULL,
    UNIQUE (company_id, id),
    FOREIGN KEY (company_id, product_id) REFERENCES products (company_id, id)
) STRICT;

CREATE TABLE customers (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    company_id  INTEGER NOT NULL REFERENCES companies (id),
    uuid        TEXT    NOT NULL,
    name        TEXT    NOT NULL,
    whatsapp    TEXT    NOT NULL,
    email       TEXT    NOT NULL,
    usuario     TEXT    NOT NULL,
    usuario_key TEXT    NOT NULL,
    external_id TEXT    NOT NULL,
    due_on      TEXT,
    own_day     INTEGER NOT NULL CHECK (own_day BETWEEN 0 AND 31),
    plan_id     INTEGER,
    product_id  INTEGER,
    notes       TEXT    NOT NULL,
    search      TEXT    NOT NULL,
    created_at  INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL,
    expired_on  TEXT, -- the due date whose passing has been told
    renewed_in  TEXT, -- the last month, YYYY-MM, in which it was renewed
    UNIQUE (company_id, id),
    FOREIGN KEY (company_id, plan_id) REFERENCES customer_plans (company_id, id),
    FOREIGN KEY (company_id, product_id) REFERENCES products (company_id, id)
) STRICT;
CREATE UNIQUE INDEX customers_usuario ON customers (company_id, usuario_key) WHERE usuario_key <> '';
CREATE UNIQUE INDEX customers_external ON customers (company_id, external_id) WHERE external_id <> '';
-- Lists are walked in the order of ids. These hold what lists are filtered by,
-- so that rows that do not match cost no look into the table.
CREATE INDEX customers_walk ON customers (company_id, id, due_on);
CREATE INDEX customers_plan ON customers (company_id, plan_id, id, due_on, product_id);
CREATE INDEX customers_product ON customers (company_id, product_id, id, due_on);
CREATE INDEX customers_due ON customers (company_id, due_on, id);
CREATE INDEX customers_created ON customers (company_id, created_at);
-- Due dates whose passing has not been told.
CREATE INDEX customers_expiring ON customers (company_id, (NULLIF(due_on, expired_on)), id);

-- SQLite's substring index. It takes folded text as it is, holds no copy of it, and finds a
-- company's rows by a token of three private-use characters that stands for its
-- id; sqldb/search.go makes the same token.
CREATE VIRTUAL TABLE customers_search USING fts5 (
    text, tokenize = 'trigram case_sensitive 1', content = '', contentless_delete = 1
);
CREATE TRIGGER customers_search_insert AFTER INSERT ON customers BEGIN
    INSERT INTO customers_search (rowid, text) VALUES (new.id,
        char(57344 + new.company_id % 6400, 57344 + new.company_id / 6400 % 6400, 57344 + new.company_id / 40960000 % 6400)
        || char(10) || new.search);
END;
CREATE TRIGGER customers_search_update AFTER UPDATE OF search ON customers WHEN old.search <> new.search BEGIN
    DELETE FROM customers_search WHERE rowid = old.id;
    INSERT INTO customers_search (rowid, text) VALUES (new.id,
        char(57344 + new.company_id % 6400, 57344 + new.company_id / 6400 % 6400, 57344 + new.company_id / 40960000 % 6400)
        || char(10) || new.search);
END;
CREATE TRIGGER customers_search_delete AFTER DELETE ON customers BEGIN
    DELETE FROM customers_search WHERE rowid = old.id;
END;

-- How many records a company has, and how much money, by what they are filtered
-- by (sums) and by where they stand in a list (buckets). A change appends to
-- tally_deltas; a periodic job folds those rows into the rest. A count is always
-- sums plus deltas.
CREATE TABLE tally_deltas (
    id         INTEGER PRIMARY KEY,
    company_id INTEGER NOT NULL,
    book       TEXT    NOT NULL,
    bucket     INTEGER NOT NULL,
    day        TEXT    NOT NULL,
    plan_id    INTEGER NOT NULL,
    product_id INTEGER NOT NULL,
    state      TEXT    NOT NULL,
    n          INTEGER NOT NULL,
    cents      INTEGER NOT NULL
) STRICT;
CREATE INDEX tally_deltas_book ON tally_deltas (company_id, book, id);
CREATE TABLE tally_sums (
    company_id INTEGER NOT NULL,
    book       TEXT    NOT NULL,
    day        TEXT    NOT NULL,
    plan_id    INTEGER NOT NULL,
    product_id INTEGER NOT NULL,
    state      TEXT    NOT NULL,
    n          INTEGER NOT NULL,
    cents      INTEGER NOT NULL,
    PRIMARY KEY (company_id, book, day, plan_id, product_id, state)
) STRICT, WITHOUT ROWID;
CREATE TABLE tally_buckets (
    company_id INTEGER NOT NULL,
    book       TEXT    NOT NULL,
    bucket     INTEGER NOT NULL,
    n          INTEGER NOT NULL,
    PRIMARY KEY (company_id, book, bucket)
) STRICT, WITHOUT ROWID;
CREATE TABLE tally_totals (
    company_id INTEGER NOT NULL,
    book       TEXT    NOT NULL,
    n          INTEGER NOT NULL,
    folds      INTEGER NOT NULL,
    PRIMARY KEY (company_id, book)
) STRICT, WITHOUT ROWID;

CREATE TABLE events (
    id          INTEGER PRIMARY KEY,
    company_id  INTEGER NOT NULL REFERENCES companies (id),
    event_id    TEXT    NOT NULL,
    name        TEXT    NOT NULL,
    occurred_at INTEGER NOT NULL,
    body        TEXT    NOT NULL,
    UNIQUE (company_id, event_id)
) STRICT;

CREATE TABLE secret_keys (
    key_id     TEXT    NOT NULL PRIMARY KEY,
    proof      TEXT    NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;
