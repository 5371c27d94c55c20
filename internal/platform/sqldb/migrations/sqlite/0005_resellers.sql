-- How a company stands with the one above it. A company at the top has no
-- subscription, every function (*) and no end.
ALTER TABLE companies ADD COLUMN whatsapp TEXT NOT NULL DEFAULT '';
ALTER TABLE companies ADD COLUMN subscription TEXT NOT NULL DEFAULT '' CHECK (subscription IN ('', 'trial', 'subscriber'));
ALTER TABLE companies ADD COLUMN subscription_plan_id INTEGER; -- of the company above
ALTER TABLE companies ADD COLUMN expires_on TEXT; -- the last day, by its own calendar
ALTER TABLE companies ADD COLUMN expires_day INTEGER NOT NULL DEFAULT 0 CHECK (expires_day BETWEEN 0 AND 31); -- own day
ALTER TABLE companies ADD COLUMN suspended_at INTEGER;
ALTER TABLE companies ADD COLUMN functions TEXT NOT NULL DEFAULT '*'; -- all, or names between commas: ,api,webhooks,
ALTER TABLE companies ADD COLUMN search TEXT NOT NULL DEFAULT '';

-- Lists of resellers are walked in the order of ids. As an expression the order
-- can be had from these alone: left to choose, PostgreSQL walks along the primary
-- key, past all the companies of others.
CREATE INDEX companies_walk ON companies (parent_id, (id + 0));
CREATE INDEX companies_level ON companies (parent_id, level, (id + 0));
CREATE INDEX companies_subscription ON companies (parent_id, subscription, (id + 0));
CREATE INDEX companies_plan ON companies (parent_id, subscription_plan_id, (id + 0));
CREATE INDEX companies_expiry ON companies (parent_id, expires_on, id);
CREATE INDEX companies_suspended ON companies (parent_id, (id + 0)) WHERE suspended_at IS NOT NULL;

-- As customers_search; the token stands for the company above.
CREATE VIRTUAL TABLE companies_search USING fts5 (
    text, tokenize = 'trigram case_sensitive 1', content = '', contentless_delete = 1
);
CREATE TRIGGER companies_search_insert AFTER INSERT ON companies WHEN new.parent_id IS NOT NULL BEGIN
    INSERT INTO companies_search (rowid, text) VALUES (new.id,
        char(57344 + new.parent_id % 6400, 57344 + new.parent_id / 6400 % 6400, 57344 + new.parent_id / 40960000 % 6400)
        || char(10) || new.search);
END;
CREATE TRIGGER companies_search_update AFTER UPDATE OF search ON companies
WHEN new.parent_id IS NOT NULL AND old.search <> new.search BEGIN
    DELETE FROM companies_search WHERE rowid = old.id;
    INSERT INTO companies_search (rowid, text) VALUES (new.id,
        char(57344 + new.parent_id % 6400, 57344 + new.parent_id / 6400 % 6400, 57344 + new.parent_id / 40960000 % 6400)
        || char(10) || new.search);
END;

CREATE TABLE subscription_plans (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    company_id   INTEGER NOT NULL REFERENCES companies (id),
    name         TEXT    NOT NULL,
    value_cents  INTEGER NOT NULL CHECK (value_cents >= 0),
    credits      INTEGER NOT NULL CHECK (credits >= 0),
    period_unit  TEXT    NOT NULL CHECK (period_unit IN ('day', 'week', 'month', 'year')),
    period_count INTEGER NOT NULL CHECK (period_count > 0),
    trial_days   INTEGER NOT NULL CHECK (trial_days >= 0),
    functions    TEXT    NOT NULL,
    signup_code  TEXT    NOT NULL UNIQUE,
    active       INTEGER NOT NULL CHECK (active IN (0, 1)),
    search       TEXT    NOT NULL,
    created_at   INTEGER NOT NULL,
    updated_at   INTEGER NOT NULL,
    UNIQUE (company_id, id)
) STRICT;

-- What a company has. It never falls below zero, whoever writes.
CREATE TABLE credit_balances (
    company_id INTEGER NOT NULL PRIMARY KEY REFERENCES companies (id),
    balance    INTEGER NOT NULL CHECK (balance >= 0)
) STRICT;

-- How it came to have it. Rows are added, never changed: the balance is their sum.
CREATE TABLE credit_entries (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    company_id  INTEGER NOT NULL REFERENCES companies (id),
    kind        TEXT    NOT NULL CHECK (kind IN ('grant', 'create', 'renew', 'sent', 'received', 'taken_back', 'returned')),
    amount      INTEGER NOT NULL CHECK (amount <> 0),
    balance     INTEGER NOT NULL CHECK (balance >= 0), -- after it
    reseller_id INTEGER REFERENCES companies (id), -- the company it was spent on, sent to or got from
    plan_id     INTEGER, -- what was paid for
    periods     INTEGER NOT NULL,
    made_by     TEXT    NOT NULL,
    note        TEXT    NOT NULL,
    created_at  INTEGER NOT NULL
) STRICT;
CREATE INDEX credit_entries_statement ON credit_entries (company_id, id);
CREATE TRIGGER credit_entries_unchanged BEFORE UPDATE ON credit_entries BEGIN
    SELECT RAISE(ABORT, 'credit entries are only ever added');
END;
CREATE TRIGGER credit_entries_kept BEFORE DELETE ON credit_entries BEGIN
    SELECT RAISE(ABORT, 'credit entries are only ever added');
END;

-- How often an address has tried to sign up in an hour.
CREATE TABLE signup_attempts (
    address TEXT    NOT NULL,
    hour    INTEGER NOT NULL,
    n       INTEGER NOT NULL,
    PRIMARY KEY (address, hour)
) STRICT, WITHOUT ROWID;
CREATE INDEX signup_attempts_hour ON signup_attempts (hour);
