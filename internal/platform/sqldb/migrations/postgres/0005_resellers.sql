-- How a company stands with the one above it. A company at the top has no
-- subscription, every function (*) and no end.
ALTER TABLE companies ADD COLUMN whatsapp TEXT NOT NULL DEFAULT '';
ALTER TABLE companies ADD COLUMN subscription TEXT NOT NULL DEFAULT '' CHECK (subscription IN ('', 'trial', 'subscriber'));
ALTER TABLE companies ADD COLUMN subscription_plan_id BIGINT; -- of the company above
ALTER TABLE companies ADD COLUMN expires_on TEXT COLLATE "C"; -- the last day, by its own calendar
ALTER TABLE companies ADD COLUMN expires_day BIGINT NOT NULL DEFAULT 0 CHECK (expires_day BETWEEN 0 AND 31); -- own day
ALTER TABLE companies ADD COLUMN suspended_at BIGINT;
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

CREATE INDEX companies_search ON companies USING gin (parent_id, search gin_trgm_ops);

CREATE TABLE subscription_plans (
    id           BIGINT  GENERATED ALWAYS AS IDENTITY,
    company_id   BIGINT  NOT NULL REFERENCES companies (id),
    name         TEXT    NOT NULL,
    value_cents  BIGINT  NOT NULL CHECK (value_cents >= 0),
    credits      BIGINT  NOT NULL CHECK (credits >= 0),
    period_unit  TEXT    NOT NULL CHECK (period_unit IN ('day', 'week', 'month', 'year')),
    period_count BIGINT  NOT NULL CHECK (period_count > 0),
    trial_days   BIGINT  NOT NULL CHECK (trial_days >= 0),
    functions    TEXT    NOT NULL,
    signup_code  TEXT    NOT NULL UNIQUE,
    active       BOOLEAN NOT NULL,
    search       TEXT    NOT NULL,
    created_at   BIGINT  NOT NULL,
    updated_at   BIGINT  NOT NULL,
    PRIMARY KEY (company_id, id)
);

-- What a company has. It never falls below zero, whoever writes.
CREATE TABLE credit_balances (
    company_id BIGINT  NOT NULL PRIMARY KEY REFERENCES companies (id),
    balance    BIGINT  NOT NULL CHECK (balance >= 0)
);

-- How it came to have it. Rows are added, never changed: the balance is their sum.
CREATE TABLE credit_entries (
    id          BIGINT  GENERATED ALWAYS AS IDENTITY,
    company_id  BIGINT  NOT NULL REFERENCES companies (id),
    kind        TEXT    NOT NULL CHECK (kind IN ('grant', 'create', 'renew', 'sent', 'received', 'taken_back', 'returned')),
    amount      BIGINT  NOT NULL CHECK (amount <> 0),
    balance     BIGINT  NOT NULL CHECK (balance >= 0), -- after it
    reseller_id BIGINT  REFERENCES companies (id), -- the company it was spent on, sent to or got from
    plan_id     BIGINT,  -- what was paid for
    periods     BIGINT  NOT NULL,
    made_by     TEXT    NOT NULL,
    note        TEXT    NOT NULL,
    created_at  BIGINT  NOT NULL,
    PRIMARY KEY (company_id, id)
);
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% rows are only ever added', TG_TABLE_NAME;
END $$;
CREATE TRIGGER credit_entries_kept BEFORE UPDATE OR DELETE ON credit_entries
    FOR EACH ROW EXECUTE FUNCTION refuse_change();

-- How often an address has tried to sign up in an hour.
CREATE TABLE signup_attempts (
    address TEXT    NOT NULL,
    hour    BIGINT  NOT NULL,
    n       BIGINT  NOT NULL,
    PRIMARY KEY (address, hour)
);
CREATE INDEX signup_attempts_hour ON signup_attempts (hour);
