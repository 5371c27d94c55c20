-- Instants are UTC microseconds, dates are YYYY-MM-DD, money is cents.
-- Every index that finds a company's rows begins with company_id; those that find
-- the company itself, by token or e-mail address, cannot.

CREATE TABLE companies (
    id               BIGINT  GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    parent_id        BIGINT  REFERENCES companies (id),
    name             TEXT    NOT NULL,
    level            TEXT    NOT NULL CHECK (level IN ('user', 'reseller', 'master', 'ultra_master')),
    timezone         TEXT    NOT NULL,
    renew_from       TEXT    NOT NULL CHECK (renew_from IN ('due_date', 'today')),
    renew_on_payment BOOLEAN NOT NULL,
    lead_days        BIGINT  NOT NULL CHECK (lead_days BETWEEN 0 AND 60),
    created_at       BIGINT  NOT NULL,
    updated_at       BIGINT  NOT NULL
);
CREATE INDEX companies_parent ON companies (parent_id, id);

CREATE TABLE users (
    id            BIGINT  GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    company_id    BIGINT  NOT NULL REFERENCES companies (id),
    name          TEXT    NOT NULL,
    email         TEXT    NOT NULL,
    email_key     TEXT    NOT NULL UNIQUE,
    password_hash TEXT    NOT NULL,
    role          TEXT    NOT NULL CHECK (role IN ('owner', 'staff', 'readonly')),
    created_at    BIGINT  NOT NULL,
    updated_at    BIGINT  NOT NULL
);
CREATE INDEX users_company ON users (company_id, id);

CREATE TABLE api_tokens (
    id           BIGINT  GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    company_id   BIGINT  NOT NULL REFERENCES companies (id),
    name         TEXT    NOT NULL,
    hash         BYTEA   NOT NULL UNIQUE,
    created_at   BIGINT  NOT NULL,
    last_used_at BIGINT
);
CREATE INDEX api_tokens_company ON api_tokens (company_id, id);

CREATE TABLE idempotency_keys (
    company_id  BIGINT  NOT NULL,
    token_id    BIGINT  NOT NULL REFERENCES api_tokens (id) ON DELETE CASCADE,
    key         TEXT    NOT NULL,
    fingerprint BYTEA   NOT NULL,
    holder      TEXT    NOT NULL,
    lease_until BIGINT  NOT NULL,
    carried_out BOOLEAN NOT NULL,
    status      BIGINT  NOT NULL,
    answer      TEXT    NOT NULL,
    created_at  BIGINT  NOT NULL,
    PRIMARY KEY (company_id, token_id, key)
);
CREATE INDEX idempotency_keys_created ON idempotency_keys (created_at);
CREATE INDEX idempotency_keys_token ON idempotency_keys (token_id);

CREATE TABLE products (
    id          BIGINT  GENERATED ALWAYS AS IDENTITY,
    company_id  BIGINT  NOT NULL REFERENCES companies (id),
    name        TEXT    NOT NULL,
    description TEXT    NOT NULL,
    active      BOOLEAN NOT NULL,
    search      TEXT    NOT NULL,
    created_at  BIGINT  NOT NULL,
    updated_at  BIGINT  NOT NULL,
    PRIMARY KEY (company_id, id)
);

CREATE TABLE customer_plans (
    id           BIGINT  GENERATED ALWAYS AS IDENTITY,
    company_id   BIGINT  NOT NULL REFERENCES companies (id),
    name         TEXT    NOT NULL,
    value_cents  BIGINT  NOT NULL CHECK (value_cents >= 0),
    period_unit  TEXT    NOT NULL CHECK (period_unit IN ('day', 'week', 'month', 'year')),
    period_count BIGINT  NOT NULL CHECK (period_count > 0),
    product_id   BIGINT,
    active       BOOLEAN NOT NULL,
    search       TEXT    NOT NULL,
    created_at   BIGINT  NOT NULL,
    updated_at   BIGINT  NOT NULL,
    PRIMARY KEY (company_id, id),
    FOREIGN KEY (company_id, product_id) REFERENCES products (company_id, id)
);

CREATE TABLE customers (
    id          BIGINT  GENERATED ALWAYS AS IDENTITY,
    company_id  BIGINT  NOT NULL REFERENCES companies (id),
    uuid        TEXT    NOT NULL,
    name        TEXT    NOT NULL,
    whatsapp    TEXT    NOT NULL,
    email       TEXT    NOT NULL,
    usuario     TEXT    NOT NULL,
    usuario_key TEXT    NOT NULL,
    external_id TEXT    NOT NULL,
    due_on      TEXT COLLATE "C",
    own_day     BIGINT  NOT NULL CHECK (own_day BETWEEN 0 AND 31),
    plan_id     BIGINT,
    product_id  BIGINT,
    notes       TEXT    NOT NULL,
    search      TEXT    NOT NULL,
    created_at  BIGINT  NOT NULL,
    updated_at  BIGINT  NOT NULL,
    expired_on  TEXT, -- the due date whose passing has been told
    renewed_in  TEXT, -- the last month, YYYY-MM, in which it was renewed
    PRIMARY KEY (company_id, id) INCLUDE (due_on),
    FOREIGN KEY (company_id, plan_id) REFERENCES customer_plans (company_id, id),
    FOREIGN KEY (company_id, product_id) REFERENCES products (company_id, id)
);
CREATE UNIQUE INDEX customers_usuario ON customers (company_id, usuario_key) WHERE usuario_key <> '';
CREATE UNIQUE INDEX customers_external ON customers (company_id, external_id) WHERE external_id <> '';
-- Lists are walked in the order of ids. These hold what lists are filtered by,
-- so that rows that do not match cost no look into the table.
CREATE INDEX customers_plan ON customers (company_id, plan_id, id) INCLUDE (due_on, product_id);
CREATE INDEX customers_product ON customers (company_id, product_id, id) INCLUDE (due_on);
CREATE INDEX customers_due ON customers (company_id, due_on, id);
CREATE INDEX customers_created ON customers (company_id, created_at);
-- Due dates whose passing has not been told.
CREATE INDEX customers_expiring ON customers (company_id, (NULLIF(due_on, expired_on)), id);

-- The substring index; btree_gin lets company_id stand first in it.
CREATE EXTENSION IF NOT EXISTS pg_trgm;
CREATE EXTENSION IF NOT EXISTS btree_gin;
CREATE INDEX customers_search ON customers USING gin (company_id, search gin_trgm_ops);

-- How many records a company has, and how much money, by what they are filtered
-- by (sums) and by where they stand in a list (buckets). A change appends to
-- tally_deltas; a periodic job folds those rows into the rest. A count is always
-- sums plus deltas.
CREATE TABLE tally_deltas (
    id         BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    company_id BIGINT  NOT NULL,
    book       TEXT    NOT NULL,
    bucket     BIGINT  NOT NULL,
    day        TEXT COLLATE "C" NOT NULL,
    plan_id    BIGINT  NOT NULL,
    product_id BIGINT  NOT NULL,
    state      TEXT    NOT NULL,
    n          BIGINT  NOT NULL,
    cents      BIGINT  NOT NULL
);
CREATE INDEX tally_deltas_book ON tally_deltas (company_id, book, id);
CREATE TABLE tally_sums (
    company_id BIGINT  NOT NULL,
    book       TEXT    NOT NULL,
    day        TEXT COLLATE "C" NOT NULL,
    plan_id    BIGINT  NOT NULL,
    product_id BIGINT  NOT NULL,
    state      TEXT    NOT NULL,
    n          BIGINT  NOT NULL,
    cents      BIGINT  NOT NULL,
    PRIMARY KEY (company_id, book, day, plan_id, product_id, state)
);
CREATE TABLE tally_buckets (
    company_id BIGINT  NOT NULL,
    book       TEXT    NOT NULL,
    bucket     BIGINT  NOT NULL,
    n          BIGINT  NOT NULL,
    PRIMARY KEY (company_id, book, bucket)
);
CREATE TABLE tally_totals (
    company_id BIGINT  NOT NULL,
    book       TEXT    NOT NULL,
    n          BIGINT  NOT NULL,
    folds      BIGINT  NOT NULL,
    PRIMARY KEY (company_id, book)
);

CREATE TABLE events (
    id          BIGINT  GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    company_id  BIGINT  NOT NULL REFERENCES companies (id),
    event_id    TEXT    NOT NULL,
    name        TEXT    NOT NULL,
    occurred_at BIGINT  NOT NULL,
    body        TEXT    NOT NULL,
    UNIQUE (company_id, event_id)
);

CREATE TABLE secret_keys (
    key_id     TEXT    NOT NULL PRIMARY KEY,
    proof      TEXT    NOT NULL,
    created_at BIGINT  NOT NULL
);

-- The last calls of each token, for the rate limit that all processes share.
-- Unlogged: after a crash of the server the count may begin anew.
CREATE UNLOGGED TABLE token_calls (
    token_id BIGINT   NOT NULL PRIMARY KEY,
    calls    BIGINT[] NOT NULL
);
