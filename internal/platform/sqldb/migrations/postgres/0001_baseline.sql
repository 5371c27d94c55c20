-- The schema of version 1.0. Instants are UTC microseconds, dates are YYYY-MM-DD, money is cents.
-- Every index that finds a company's rows begins with company_id; those that find the company itself, by token or
-- e-mail address, cannot.

CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% rows are only ever added', TG_TABLE_NAME;
END $$;

CREATE FUNCTION audit_log_unchanged() RETURNS trigger AS $$
BEGIN
    IF NEW.name = '' AND NEW.changes = '{}'
        AND (NEW.id, NEW.company_id, NEW.at, NEW.user_id, NEW.token_id, NEW.who, NEW.address, NEW.action, NEW.record, NEW.record_id)
        IS NOT DISTINCT FROM (OLD.id, OLD.company_id, OLD.at, OLD.user_id, OLD.token_id, OLD.who, OLD.address, OLD.action, OLD.record, OLD.record_id)
    THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'the audit log is only ever added to';
END $$ LANGUAGE plpgsql;

CREATE TABLE companies (
    id                   BIGINT  GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    parent_id            BIGINT  REFERENCES companies (id),
    name                 TEXT    NOT NULL,
    level                TEXT    NOT NULL CHECK (level IN ('user', 'reseller', 'master', 'ultra_master')),
    timezone             TEXT    NOT NULL,
    renew_from           TEXT    NOT NULL CHECK (renew_from IN ('due_date', 'today')),
    renew_on_payment     BOOLEAN NOT NULL,
    lead_days            BIGINT  NOT NULL CHECK (lead_days BETWEEN 0 AND 60),
    created_at           BIGINT  NOT NULL,
    updated_at           BIGINT  NOT NULL,
    whatsapp             TEXT    NOT NULL DEFAULT '',
    subscription         TEXT    NOT NULL DEFAULT '' CHECK (subscription IN ('', 'trial', 'subscriber')),
    subscription_plan_id BIGINT, -- of the company above
    expires_on           TEXT    COLLATE "C", -- the last day, by its own calendar
    expires_day          BIGINT  NOT NULL DEFAULT 0 CHECK (expires_day BETWEEN 0 AND 31), -- own day
    suspended_at         BIGINT,
    functions            TEXT    NOT NULL DEFAULT '*', -- all, or names between commas: ,api,webhooks,
    search               TEXT    NOT NULL DEFAULT '',
    late_fee_bp          BIGINT  NOT NULL DEFAULT 0 CHECK (late_fee_bp BETWEEN 0 AND 10000),
    late_interest_bp     BIGINT  NOT NULL DEFAULT 0 CHECK (late_interest_bp BETWEEN 0 AND 10000),
    discount_bp          BIGINT  NOT NULL DEFAULT 0 CHECK (discount_bp BETWEEN 0 AND 10000),
    discount_cents       BIGINT  NOT NULL DEFAULT 0 CHECK (discount_cents >= 0),
    renew_invoice        TEXT    NOT NULL DEFAULT 'keep' CHECK (renew_invoice IN ('keep', 'paid', 'cancelled')),
    above_suspended_at   BIGINT,
    above_expires_on     TEXT    COLLATE "C",
    anonymous            BOOLEAN NOT NULL DEFAULT false,
    day_done             TEXT    COLLATE "C" NOT NULL DEFAULT '',
    color                TEXT    NOT NULL DEFAULT '', -- as #05694b; '': the house's
    logo                 TEXT    NOT NULL DEFAULT '', -- the version of its picture; '': none
    name_key             TEXT    COLLATE "C" GENERATED ALWAYS AS (split_part(search, chr(10), 1)) STORED,
    cpf_cnpj             TEXT    NOT NULL DEFAULT '',
    hidden_steps         TEXT    NOT NULL DEFAULT '',
    overdue_invoices     BIGINT  NOT NULL DEFAULT 0, -- further ones that a late customer gets
    overdue_since        TEXT    COLLATE "C", -- those of due dates before it are not issued
    books_closed_through TEXT    COLLATE "C",
    address              TEXT    NOT NULL DEFAULT '',
    email                TEXT    NOT NULL DEFAULT ''
);
CREATE INDEX companies_parent ON companies (parent_id, id);
CREATE INDEX companies_plan ON companies (parent_id, subscription_plan_id, (id + 0));
-- By zone, since all companies of a zone have the same day.
CREATE INDEX companies_day ON companies (timezone, day_done, id);
CREATE INDEX companies_name ON companies (parent_id, name_key, id);
CREATE INDEX companies_ending ON companies (parent_id, (COALESCE(expires_on, '9999-12-31')), id);

CREATE TABLE users (
    id                 BIGINT  GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    company_id         BIGINT  NOT NULL REFERENCES companies (id),
    name               TEXT    NOT NULL,
    email              TEXT    NOT NULL,
    email_key          TEXT    NOT NULL UNIQUE,
    password_hash      TEXT    NOT NULL,
    role               TEXT    NOT NULL CHECK (role IN ('owner', 'staff', 'readonly')),
    created_at         BIGINT  NOT NULL,
    updated_at         BIGINT  NOT NULL,
    totp               TEXT    NOT NULL DEFAULT '',
    totp_pending       TEXT    NOT NULL DEFAULT '',
    totp_step          BIGINT  NOT NULL DEFAULT 0, -- the last one used: no code works twice
    email_confirmed_at BIGINT  NOT NULL DEFAULT 0,
    attendant          BOOLEAN NOT NULL DEFAULT FALSE
);
CREATE INDEX users_company ON users (company_id, id);

CREATE TABLE api_tokens (
    id           BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    company_id   BIGINT NOT NULL REFERENCES companies (id),
    name         TEXT   NOT NULL,
    hash         BYTEA  NOT NULL UNIQUE,
    created_at   BIGINT NOT NULL,
    last_used_at BIGINT,
    scope        TEXT   NOT NULL DEFAULT 'full' CHECK (scope IN ('full', 'read')),
    expires_at   BIGINT, -- NULL: never
    made_by      BIGINT NOT NULL DEFAULT 0
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
    record_id   BIGINT  NOT NULL DEFAULT 0,
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
    id                BIGINT  GENERATED ALWAYS AS IDENTITY,
    company_id        BIGINT  NOT NULL REFERENCES companies (id),
    uuid              TEXT    NOT NULL,
    name              TEXT    NOT NULL,
    whatsapp          TEXT    NOT NULL,
    email             TEXT    NOT NULL,
    usuario           TEXT    NOT NULL,
    usuario_key       TEXT    NOT NULL,
    external_id       TEXT    NOT NULL,
    due_on            TEXT    COLLATE "C",
    own_day           BIGINT  NOT NULL CHECK (own_day BETWEEN 0 AND 31),
    plan_id           BIGINT,
    product_id        BIGINT,
    notes             TEXT    NOT NULL,
    created_at        BIGINT  NOT NULL,
    updated_at        BIGINT  NOT NULL,
    cpf_cnpj          TEXT    NOT NULL DEFAULT '',
    address           TEXT    NOT NULL DEFAULT '', -- a JSON object; empty: none
    custom            TEXT    NOT NULL DEFAULT '', -- a JSON object; empty: none
    price_cents       BIGINT  CHECK (price_cents >= 0), -- NULL: the plan's value
    cancelled_at      BIGINT, -- NULL: not cancelled
    cancel_reason     TEXT    NOT NULL DEFAULT '',
    created_on        TEXT    COLLATE "C" NOT NULL DEFAULT '', -- the company's day of created_at, at that time
    created_offset    BIGINT  NOT NULL DEFAULT 0, -- seconds east of UTC, at that time
    expiry_on         TEXT    COLLATE "C", -- the due date that customer.expired is still to be recorded for
    expired           BOOLEAN NOT NULL DEFAULT FALSE, -- recorded, and not current since
    mrr_cents         BIGINT  NOT NULL DEFAULT 0,
    mrr_month         TEXT    COLLATE "C" NOT NULL DEFAULT '', -- YYYY-MM; '': not changed since it is counted
    mrr_start_cents   BIGINT  NOT NULL DEFAULT 0,
    mrr_start_plan    BIGINT  NOT NULL DEFAULT 0, -- 0: none
    mrr_start_product BIGINT  NOT NULL DEFAULT 0,
    name_key          TEXT    NOT NULL COLLATE "C",
    autopay           TEXT    NOT NULL DEFAULT 'none',
    credit_cents      BIGINT  NOT NULL DEFAULT 0,
    PRIMARY KEY (company_id, id) INCLUDE (due_on),
    FOREIGN KEY (company_id, plan_id) REFERENCES customer_plans (company_id, id),
    FOREIGN KEY (company_id, product_id) REFERENCES products (company_id, id)
);
CREATE UNIQUE INDEX customers_usuario ON customers (company_id, usuario_key) WHERE usuario_key <> '';
CREATE UNIQUE INDEX customers_external ON customers (company_id, external_id) WHERE external_id <> '';
CREATE INDEX customers_expiring ON customers (company_id, expiry_on, id) WHERE expiry_on IS NOT NULL;
CREATE INDEX customers_cpf_cnpj ON customers (company_id, cpf_cnpj, id) WHERE cpf_cnpj <> '';
-- Customers by what makes a row of a file seem to be one of them: the phone, the tax id (0013), the name with the due
-- date. The first line of the search text is the folded name.
CREATE INDEX customers_phone ON customers (company_id, whatsapp, id) WHERE whatsapp <> '';
-- One index for each order, with the columns by which lists are filtered, so that a page and a total are found without the rows.
CREATE INDEX customers_walk ON customers (company_id, id) INCLUDE (due_on, cancelled_at, plan_id, product_id, created_on, mrr_month, mrr_cents, mrr_start_cents, updated_at);
CREATE INDEX customers_name ON customers (company_id, name_key, id) INCLUDE (due_on, cancelled_at, plan_id, product_id);
CREATE INDEX customers_due ON customers (company_id, due_on, id) INCLUDE (cancelled_at, plan_id, product_id);
CREATE INDEX customers_updated ON customers (company_id, updated_at, id) INCLUDE (due_on, cancelled_at, plan_id, product_id);
-- Customers who are on time after their due date, since a debit is arranged for the working day after it.
CREATE INDEX customers_held ON customers (company_id, expiry_on) WHERE expiry_on > due_on;

-- How many records a company has, and how much money, by what they are filtered
-- by (sums) and by where they stand in a list (buckets). A change appends to
-- tally_deltas; a periodic job folds those rows into the rest. A count is always
-- sums plus deltas.
CREATE TABLE tally_deltas (
    id         BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    company_id BIGINT NOT NULL,
    book       TEXT   NOT NULL,
    day        TEXT   COLLATE "C" NOT NULL,
    plan_id    BIGINT NOT NULL,
    product_id BIGINT NOT NULL,
    state      TEXT   NOT NULL,
    n          BIGINT NOT NULL,
    cents      BIGINT NOT NULL
);
CREATE INDEX tally_deltas_book ON tally_deltas (company_id, book, id);

CREATE TABLE tally_sums (
    company_id BIGINT NOT NULL,
    book       TEXT   NOT NULL,
    day        TEXT   COLLATE "C" NOT NULL,
    plan_id    BIGINT NOT NULL,
    product_id BIGINT NOT NULL,
    state      TEXT   NOT NULL,
    n          BIGINT NOT NULL,
    cents      BIGINT NOT NULL,
    PRIMARY KEY (company_id, book, day, plan_id, product_id, state)
);

CREATE TABLE tally_totals (
    company_id BIGINT NOT NULL,
    book       TEXT   NOT NULL,
    n          BIGINT NOT NULL,
    PRIMARY KEY (company_id, book)
);

CREATE TABLE events (
    id          BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    company_id  BIGINT NOT NULL REFERENCES companies (id),
    event_id    TEXT   NOT NULL,
    name        TEXT   NOT NULL,
    occurred_at BIGINT NOT NULL,
    body        TEXT   NOT NULL,
    position    BIGINT, -- NULL: none yet
    UNIQUE (company_id, event_id)
);
CREATE UNIQUE INDEX events_position ON events (company_id, position) WHERE position IS NOT NULL;
CREATE INDEX events_unplaced ON events (company_id, id) WHERE position IS NULL;
CREATE INDEX events_since ON events (company_id, occurred_at, position) WHERE position IS NOT NULL;

CREATE TABLE secret_keys (
    key_id     TEXT   NOT NULL PRIMARY KEY,
    proof      TEXT   NOT NULL,
    created_at BIGINT NOT NULL
);

-- The last calls of each token, for the rate limit that all processes share.
-- Unlogged: after a crash of the server the count may begin anew.
CREATE UNLOGGED TABLE token_calls (
    token_id BIGINT   NOT NULL PRIMARY KEY,
    calls    BIGINT[] NOT NULL
);

CREATE TABLE invoices (
    id                  BIGINT  GENERATED ALWAYS AS IDENTITY,
    company_id          BIGINT  NOT NULL REFERENCES companies (id),
    customer_id         BIGINT  NOT NULL,
    generated           BOOLEAN NOT NULL,
    status              TEXT    NOT NULL,
    amount_cents        BIGINT  NOT NULL CHECK (amount_cents > 0),
    description         TEXT    NOT NULL,
    due_on              TEXT    COLLATE "C" NOT NULL,
    plan_id             BIGINT,
    product_id          BIGINT,
    paid_at             BIGINT,
    paid_on             TEXT    COLLATE "C", -- the company's day of paid_at
    paid_via            TEXT    NOT NULL,
    note                TEXT    NOT NULL,
    renewed_from        TEXT, -- due date of the customer before and after this payment
    renewed_to          TEXT,
    renewed_day         BIGINT  NOT NULL, -- its own day before
    created_at          BIGINT  NOT NULL,
    created_on          TEXT    COLLATE "C" NOT NULL,
    updated_at          BIGINT  NOT NULL,
    period_unit         TEXT    CHECK (period_unit IN ('day', 'week', 'month', 'year')), -- NULL: renews nothing
    period_count        BIGINT  CHECK (period_count > 0),
    issued_for          TEXT, -- the customer's due date that it renews; NULL: an extra one
    edited              BOOLEAN NOT NULL DEFAULT FALSE, -- by hand: it follows nobody
    superseded          BOOLEAN NOT NULL DEFAULT FALSE, -- another was issued for its due date
    withdrawn           TEXT    NOT NULL DEFAULT '', -- why the program cancelled it: free, moved, undone, customer
    own_discount_cents  BIGINT  CHECK (own_discount_cents >= 0), -- in place of the company's terms
    received_cents      BIGINT  NOT NULL DEFAULT 0 CHECK (received_cents >= 0),
    late_fee_cents      BIGINT  NOT NULL DEFAULT 0, -- these four as they were when it was paid
    late_interest_cents BIGINT  NOT NULL DEFAULT 0,
    discount_cents      BIGINT  NOT NULL DEFAULT 0,
    forgiven_cents      BIGINT  NOT NULL DEFAULT 0, -- less money, and a person said that it is enough
    renewed_on          TEXT    COLLATE "C", -- the day on which the renewal counts
    created_offset      BIGINT,
    paid_offset         BIGINT, -- NULL: not paid
    settled_cents       BIGINT  NOT NULL DEFAULT 0,
    given_cents         BIGINT  NOT NULL DEFAULT 0,
    taken_off_cents     BIGINT  NOT NULL DEFAULT 0,
    written_off_cents   BIGINT  NOT NULL DEFAULT 0,
    written_off_on      TEXT    COLLATE "C",
    PRIMARY KEY (company_id, id),
    FOREIGN KEY (company_id, customer_id) REFERENCES customers (company_id, id),
    FOREIGN KEY (company_id, plan_id) REFERENCES customer_plans (company_id, id),
    FOREIGN KEY (company_id, product_id) REFERENCES products (company_id, id),
    CONSTRAINT invoices_status_check CHECK (status IN ('open', 'paid', 'cancelled'))
);
CREATE INDEX invoices_customer ON invoices (company_id, customer_id, id);
CREATE UNIQUE INDEX invoices_generated ON invoices (company_id, customer_id, issued_for) WHERE generated AND NOT superseded;
-- What is owed, the oldest debt first.
CREATE INDEX invoices_owed ON invoices (company_id, due_on, id) WHERE status = 'open';
CREATE INDEX invoices_updated ON invoices (company_id, updated_at, id);
CREATE INDEX invoices_walk ON invoices (company_id, id, status, due_on, plan_id, product_id, paid_on, created_on, updated_at);
CREATE INDEX invoices_due ON invoices (company_id, due_on, id, status, plan_id, product_id);

-- Due dates that have no invoice yet: what the generator has still to do.
CREATE TABLE invoice_schedule (
    company_id  BIGINT NOT NULL,
    customer_id BIGINT NOT NULL,
    due_on      TEXT   COLLATE "C" NOT NULL,
    PRIMARY KEY (company_id, customer_id),
    FOREIGN KEY (company_id, customer_id) REFERENCES customers (company_id, id)
);
CREATE INDEX invoice_schedule_due ON invoice_schedule (company_id, due_on, customer_id);

CREATE TABLE webhooks (
    id            BIGINT  GENERATED ALWAYS AS IDENTITY,
    company_id    BIGINT  NOT NULL REFERENCES companies (id),
    url           TEXT    NOT NULL,
    description   TEXT    NOT NULL,
    events        TEXT    NOT NULL, -- names between commas: ,customer.created,invoice.paid,
    active        BOOLEAN NOT NULL,
    secret        TEXT    NOT NULL, -- sealed
    failures      BIGINT  NOT NULL, -- failed attempts in a row
    disabled_at   BIGINT,
    notice        TEXT    NOT NULL, -- why it was switched off by itself
    created_at    BIGINT  NOT NULL,
    updated_at    BIGINT  NOT NULL,
    retry_refused BOOLEAN NOT NULL DEFAULT FALSE, -- 4xx answers are retried, too
    old_secret    TEXT    NOT NULL DEFAULT '',
    old_until     BIGINT  NOT NULL DEFAULT 0,
    PRIMARY KEY (company_id, id)
);
-- A lane is found beside its webhook, whosever it is.
CREATE UNIQUE INDEX webhooks_id ON webhooks (id);

-- Signs the notifications of single invoices.
CREATE TABLE callback_secrets (
    company_id BIGINT NOT NULL PRIMARY KEY REFERENCES companies (id),
    secret     TEXT   NOT NULL, -- sealed
    created_at BIGINT NOT NULL,
    old_secret TEXT   NOT NULL DEFAULT '',
    old_until  BIGINT NOT NULL DEFAULT 0
);

-- Who is to be told when an invoice is paid.
CREATE TABLE invoice_notifications (
    company_id BIGINT NOT NULL,
    invoice_id BIGINT NOT NULL,
    url        TEXT   NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (company_id, invoice_id, url),
    FOREIGN KEY (company_id, invoice_id) REFERENCES invoices (company_id, id) ON DELETE CASCADE
);

-- One event on its way to one receiver. These rows are the queue.
CREATE TABLE deliveries (
    id           BIGINT  GENERATED ALWAYS AS IDENTITY,
    company_id   BIGINT  NOT NULL REFERENCES companies (id),
    webhook_id   BIGINT, -- null: the notification of a single invoice
    event_id     BIGINT  NOT NULL REFERENCES events (id),
    event        TEXT    NOT NULL,
    url          TEXT    NOT NULL, -- of a notification; a webhook's is read when sending
    lane         BIGINT  NOT NULL, -- the webhook's id; minus the company's for notifications
    status       TEXT    NOT NULL,
    test         BOOLEAN NOT NULL,
    attempts     BIGINT  NOT NULL, -- begun so far, so that no number is used twice
    created_at   BIGINT  NOT NULL,
    delivered_at BIGINT,
    UNIQUE (company_id, event_id, lane, url),
    FOREIGN KEY (company_id, webhook_id) REFERENCES webhooks (company_id, id),
    PRIMARY KEY (id),
    CHECK (status IN ('pending', 'delivered', 'failed', 'refused'))
) WITH (fillfactor = 80);
CREATE INDEX deliveries_history ON deliveries (company_id, webhook_id, id);

CREATE TABLE delivery_attempts (
    company_id      BIGINT NOT NULL,
    delivery_id     BIGINT NOT NULL,
    number          BIGINT NOT NULL,
    at              BIGINT NOT NULL,
    duration_ms     BIGINT NOT NULL,
    response_status BIGINT NOT NULL, -- 0: none
    response_body   TEXT   NOT NULL,
    error           TEXT   NOT NULL,
    PRIMARY KEY (company_id, delivery_id, number)
);

-- Sending again what happened since a time: a job that goes on after a crash.
CREATE TABLE replays (
    id          BIGINT GENERATED ALWAYS AS IDENTITY,
    company_id  BIGINT NOT NULL,
    webhook_id  BIGINT NOT NULL,
    since       BIGINT NOT NULL,
    cursor      BIGINT NOT NULL, -- the last event looked at
    until       BIGINT NOT NULL, -- the last event there was when it was asked for
    queued      BIGINT NOT NULL,
    created_at  BIGINT NOT NULL,
    finished_at BIGINT,
    PRIMARY KEY (company_id, id),
    FOREIGN KEY (company_id, webhook_id) REFERENCES webhooks (company_id, id)
);
CREATE INDEX replays_unfinished ON replays (company_id, id) WHERE finished_at IS NULL;

-- What a company told of a payment gateway. One row per provider it ever chose,
-- so that charges made there can be asked after when it has chosen another.
CREATE TABLE gateways (
    id           BIGINT  GENERATED ALWAYS AS IDENTITY,
    company_id   BIGINT  NOT NULL REFERENCES companies (id),
    provider     TEXT    NOT NULL,
    options      TEXT    NOT NULL, -- sealed
    callback_key TEXT    NOT NULL, -- part of the address that the gateway calls; nobody can guess it
    active       BOOLEAN NOT NULL,
    failures     BIGINT  NOT NULL, -- failed calls in a row
    problem      TEXT    NOT NULL, -- what the last of them said
    resume_at    BIGINT  NOT NULL, -- before this, nothing is asked of it that can wait
    created_at   BIGINT  NOT NULL,
    updated_at   BIGINT  NOT NULL,
    UNIQUE (company_id, provider),
    PRIMARY KEY (company_id, id)
);
CREATE UNIQUE INDEX gateways_active ON gateways (company_id) WHERE active;
CREATE UNIQUE INDEX gateways_key ON gateways (callback_key);
CREATE UNIQUE INDEX gateways_id ON gateways (id);

-- The page where an invoice is paid, whatever charges it has had.
CREATE TABLE pay_links (
    company_id BIGINT NOT NULL,
    invoice_id BIGINT NOT NULL,
    code       TEXT   NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (company_id, invoice_id),
    FOREIGN KEY (company_id, invoice_id) REFERENCES invoices (company_id, id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX pay_links_code ON pay_links (code);

-- What was asked of a gateway for an invoice. Invoice and customer may be deleted
-- while money is on its way, so nothing here refers to them: what a person needs
-- to know of them is copied.
CREATE TABLE charges (
    id               BIGINT GENERATED ALWAYS AS IDENTITY,
    company_id       BIGINT NOT NULL REFERENCES companies (id),
    gateway_id       BIGINT NOT NULL,
    provider         TEXT   NOT NULL,
    invoice_id       BIGINT NOT NULL,
    customer_id      BIGINT NOT NULL,
    customer_name    TEXT   NOT NULL,
    reference        TEXT   NOT NULL, -- ours, stored before the gateway is called
    gateway_ref      TEXT   NOT NULL, -- the gateway's id; empty while the making is unknown
    amount_cents     BIGINT NOT NULL CHECK (amount_cents > 0),
    state            TEXT   NOT NULL CHECK (state IN ('reserved', 'pending', 'cancelling', 'paid', 'cancelled', 'expired', 'refused')),
    pix_code         TEXT   NOT NULL,
    checkout_url     TEXT   NOT NULL,
    problem          TEXT   NOT NULL, -- what the last call about it failed with
    expires_at       BIGINT NOT NULL,
    closed_at        BIGINT,
    next_check_at    BIGINT, -- when somebody must look after it; when its claim ends, while it has one
    checks           BIGINT NOT NULL, -- since it got into its state
    hinted_at        BIGINT NOT NULL, -- a callback asked to look; 0: none since the last look
    claim            TEXT   NOT NULL, -- who is dealing with the gateway about it; empty: nobody
    created_at       BIGINT NOT NULL,
    updated_at       BIGINT NOT NULL,
    payable_on       TEXT   COLLATE "C" NOT NULL DEFAULT '',
    due_terms        TEXT   NOT NULL DEFAULT '',
    authorisation_id BIGINT NOT NULL DEFAULT 0, -- 0: a charge that a payer pays
    debit_on         TEXT   NOT NULL DEFAULT '', -- the day of the newest attempt that was asked for
    debit_retries    BIGINT NOT NULL DEFAULT 0,
    debit_failure    TEXT   NOT NULL DEFAULT '', -- why the newest attempt failed
    PRIMARY KEY (company_id, id),
    FOREIGN KEY (company_id, gateway_id) REFERENCES gateways (company_id, id)
);
-- One that could be paid per invoice, however many ask for it at once.
CREATE UNIQUE INDEX charges_live ON charges (company_id, invoice_id) WHERE state IN ('reserved', 'pending');
CREATE UNIQUE INDEX charges_reference ON charges (reference);
CREATE INDEX charges_invoice ON charges (company_id, invoice_id, id);
CREATE INDEX charges_gateway ON charges (company_id, gateway_id, gateway_ref);
CREATE INDEX charges_due ON charges (next_check_at) WHERE next_check_at IS NOT NULL;
CREATE INDEX charges_claimed ON charges (gateway_id, next_check_at) WHERE claim <> '';
CREATE INDEX charges_reserved ON charges (created_at) WHERE state = 'reserved';
CREATE UNIQUE INDEX charges_id ON charges (id);
CREATE INDEX charges_authorisation ON charges (company_id, authorisation_id, id) WHERE authorisation_id > 0;

-- Money that came. Never deleted, and never twice.
CREATE TABLE payments (
    id             BIGINT GENERATED ALWAYS AS IDENTITY,
    company_id     BIGINT NOT NULL REFERENCES companies (id),
    charge_id      BIGINT,
    provider       TEXT   NOT NULL,
    payment_id     TEXT   NOT NULL, -- the gateway's, or the end-to-end id
    invoice_id     BIGINT NOT NULL,
    customer_id    BIGINT NOT NULL,
    customer_name  TEXT   NOT NULL,
    amount_cents   BIGINT NOT NULL,
    currency       TEXT   NOT NULL,
    paid_at        BIGINT NOT NULL,
    confirmed_by   TEXT   NOT NULL, -- who, where a person did; empty: the gateway
    created_at     BIGINT NOT NULL,
    paid_via       TEXT   NOT NULL,
    plan_id        BIGINT NOT NULL,
    product_id     BIGINT NOT NULL,
    paid_on        TEXT   COLLATE "C" NOT NULL,
    status         TEXT   NOT NULL,
    refunded_cents BIGINT NOT NULL DEFAULT 0,
    note           TEXT   NOT NULL,
    paid_offset    BIGINT,
    batch          TEXT   NOT NULL DEFAULT '',
    PRIMARY KEY (company_id, id),
    UNIQUE (company_id, provider, payment_id),
    FOREIGN KEY (company_id, charge_id) REFERENCES charges (company_id, id),
    CHECK (refunded_cents BETWEEN 0 AND amount_cents),
    CONSTRAINT payments_status_check CHECK (status IN ('applied', 'partial', 'review', 'refunded', 'dismissed', 'credit'))
);
CREATE INDEX payments_invoice ON payments (company_id, invoice_id, id);
CREATE INDEX payments_customer ON payments (company_id, customer_id, id);
CREATE INDEX payments_walk ON payments (company_id, id, paid_on, status, paid_via);
CREATE INDEX payments_day ON payments (company_id, paid_on, id, status, paid_via);

-- What a person has to decide: money that came and does not fit.
CREATE TABLE payment_reviews (
    id          BIGINT GENERATED ALWAYS AS IDENTITY,
    company_id  BIGINT NOT NULL REFERENCES companies (id),
    payment_id  BIGINT NOT NULL,
    reason      TEXT   NOT NULL,
    created_at  BIGINT NOT NULL,
    resolved_at BIGINT,
    resolution  TEXT   NOT NULL, -- applied or dismissed; empty while it is open
    resolved_by TEXT   NOT NULL,
    note        TEXT   NOT NULL,
    PRIMARY KEY (company_id, id),
    UNIQUE (company_id, payment_id, reason),
    FOREIGN KEY (company_id, payment_id) REFERENCES payments (company_id, id)
);
CREATE INDEX payment_reviews_open ON payment_reviews (company_id, id) WHERE resolved_at IS NULL;

-- Callbacks as they came. They are hints: the charge is looked up all the same.
CREATE TABLE gateway_callbacks (
    id          BIGINT GENERATED ALWAYS AS IDENTITY,
    company_id  BIGINT NOT NULL REFERENCES companies (id),
    gateway_id  BIGINT NOT NULL,
    event_key   TEXT   NOT NULL, -- the gateway's event id, or a hash of what came
    body        BYTEA  NOT NULL,
    hints       TEXT   NOT NULL, -- charges that we do not know by what it says; empty: none
    seen        BIGINT NOT NULL, -- how often it came
    next_try_at BIGINT, -- when its hints are looked into
    tries       BIGINT NOT NULL,
    created_at  BIGINT NOT NULL,
    PRIMARY KEY (company_id, id),
    UNIQUE (company_id, gateway_id, event_key),
    FOREIGN KEY (company_id, gateway_id) REFERENCES gateways (company_id, id)
);
CREATE INDEX gateway_callbacks_due ON gateway_callbacks (next_try_at) WHERE next_try_at IS NOT NULL;
CREATE INDEX gateway_callbacks_age ON gateway_callbacks (created_at);
CREATE UNIQUE INDEX gateway_callbacks_id ON gateway_callbacks (id);

-- Sandbox: begin. What the simulated gateway knows; no company's table, since a
-- provider is outside the house and is asked by ids that nobody can guess.
CREATE TABLE sandbox_charges (
    id           TEXT   NOT NULL PRIMARY KEY,
    reference    TEXT   NOT NULL UNIQUE,
    amount_cents BIGINT NOT NULL CHECK (amount_cents > 0),
    description  TEXT   NOT NULL,
    payer_name   TEXT   NOT NULL,
    pix_code     TEXT   NOT NULL, -- empty in the redirect flow
    checkout_url TEXT   NOT NULL, -- empty in the pix flow
    return_url   TEXT   NOT NULL,
    secret       TEXT   NOT NULL, -- signs its callbacks
    cancelled_at BIGINT,
    expires_at   BIGINT NOT NULL,
    created_at   BIGINT NOT NULL
);

CREATE TABLE sandbox_payments (
    id           TEXT   NOT NULL PRIMARY KEY,
    charge_id    TEXT   NOT NULL REFERENCES sandbox_charges (id),
    amount_cents BIGINT NOT NULL CHECK (amount_cents > 0),
    paid_at      BIGINT NOT NULL
);
CREATE INDEX sandbox_payments_charge ON sandbox_payments (charge_id);

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
    company_id BIGINT NOT NULL PRIMARY KEY REFERENCES companies (id),
    balance    BIGINT NOT NULL CHECK (balance >= 0)
);

-- How it came to have it. Rows are added, never changed: the balance is their sum.
CREATE TABLE credit_entries (
    id          BIGINT GENERATED ALWAYS AS IDENTITY,
    company_id  BIGINT NOT NULL REFERENCES companies (id),
    kind        TEXT   NOT NULL CHECK (kind IN ('grant', 'create', 'renew', 'sent', 'received', 'taken_back', 'returned')),
    amount      BIGINT NOT NULL CHECK (amount <> 0),
    balance     BIGINT NOT NULL CHECK (balance >= 0), -- after it
    reseller_id BIGINT REFERENCES companies (id), -- the company it was spent on, sent to or got from
    plan_id     BIGINT, -- what was paid for
    periods     BIGINT NOT NULL,
    made_by     TEXT   NOT NULL,
    note        TEXT   NOT NULL,
    created_at  BIGINT NOT NULL,
    PRIMARY KEY (company_id, id)
);
CREATE INDEX credit_entries_when ON credit_entries (company_id, created_at, id, amount);
CREATE INDEX credit_entries_kind ON credit_entries (company_id, kind, created_at, id, amount);
CREATE TRIGGER credit_entries_kept BEFORE UPDATE OR DELETE ON credit_entries
    FOR EACH ROW EXECUTE FUNCTION refuse_change();

-- How often an address has tried to sign up in an hour.
CREATE TABLE signup_attempts (
    address TEXT   NOT NULL,
    hour    BIGINT NOT NULL,
    n       BIGINT NOT NULL,
    PRIMARY KEY (address, hour)
);
CREATE INDEX signup_attempts_hour ON signup_attempts (hour);

-- Who is signed in. Only a hash of what the browser holds is kept.
CREATE TABLE sessions (
    id         BIGINT  GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    company_id BIGINT  NOT NULL REFERENCES companies (id),
    user_id    BIGINT  NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    hash       BYTEA   NOT NULL UNIQUE,
    pending    BOOLEAN NOT NULL, -- the password was right, the code is still to come
    address    TEXT    NOT NULL,
    agent      TEXT    NOT NULL,
    created_at BIGINT  NOT NULL,
    seen_at    BIGINT  NOT NULL,
    expires_at BIGINT  NOT NULL,
    proved_at  BIGINT  NOT NULL DEFAULT 0
);
CREATE INDEX sessions_user ON sessions (company_id, user_id, id);
CREATE INDEX sessions_expiry ON sessions (expires_at);
CREATE INDEX sessions_owner ON sessions (user_id);

CREATE TABLE recovery_codes (
    company_id BIGINT NOT NULL,
    user_id    BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    hash       BYTEA  NOT NULL,
    PRIMARY KEY (company_id, user_id, hash)
);
CREATE INDEX recovery_codes_user ON recovery_codes (user_id);

-- Lets a user set a password, once.
CREATE TABLE password_links (
    hash       BYTEA  NOT NULL PRIMARY KEY,
    company_id BIGINT NOT NULL,
    user_id    BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    expires_at BIGINT NOT NULL,
    purpose    TEXT   NOT NULL DEFAULT 'password',
    email      TEXT   NOT NULL DEFAULT '', -- of those of purpose restore
    CONSTRAINT password_links_purpose_check CHECK (purpose IN ('password', 'invitation', 'reset', 'confirm', 'release', 'restore'))
);
CREATE INDEX password_links_user ON password_links (company_id, user_id);
CREATE INDEX password_links_owner ON password_links (user_id);

-- Lets somebody make the first company, once.
CREATE TABLE setup_links (
    hash       BYTEA  NOT NULL PRIMARY KEY,
    expires_at BIGINT NOT NULL
);

-- Attempts to sign in that have not succeeded, by what they are counted by, in a window that begins with the first.
CREATE TABLE signin_attempts (
    key      TEXT   NOT NULL PRIMARY KEY,
    began_at BIGINT NOT NULL,
    n        BIGINT NOT NULL
);
CREATE INDEX signin_attempts_age ON signin_attempts (began_at);

-- Who did what. Rows are added, and removed by age; never changed.
CREATE TABLE audit_log (
    id         BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    company_id BIGINT NOT NULL REFERENCES companies (id),
    at         BIGINT NOT NULL,
    user_id    BIGINT,
    token_id   BIGINT,
    who        TEXT   NOT NULL, -- as the name was then
    address    TEXT   NOT NULL,
    action     TEXT   NOT NULL,
    record     TEXT   NOT NULL, -- what kind
    record_id  BIGINT NOT NULL,
    name       TEXT   NOT NULL, -- of the record, as it was then
    changes    TEXT   NOT NULL, -- JSON: {"field":["before","after"]}
    batch      TEXT   NOT NULL DEFAULT ''
);
CREATE INDEX audit_log_record ON audit_log (company_id, record, record_id, id);
CREATE INDEX audit_log_batch ON audit_log (company_id, batch, id) WHERE batch <> '';
CREATE INDEX audit_log_when ON audit_log (company_id, at, id);
CREATE TRIGGER audit_log_unchanged BEFORE UPDATE ON audit_log FOR EACH ROW EXECUTE FUNCTION audit_log_unchanged();

-- A file of customers on its way in: uploaded, its columns named, checked, imported. Removed after a few days.
CREATE TABLE customer_uploads (
    id         BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    company_id BIGINT NOT NULL REFERENCES companies (id),
    name       TEXT   NOT NULL, -- of the file
    content    BYTEA  NOT NULL,
    choices    TEXT   NOT NULL, -- JSON: columns and options
    state      TEXT   NOT NULL CHECK (state IN ('new', 'running', 'done', 'failed')),
    outcome    TEXT   NOT NULL, -- JSON: what became of it
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    rejected   TEXT   NOT NULL DEFAULT ''
);
CREATE INDEX customer_uploads_company ON customer_uploads (company_id, id);
CREATE INDEX customer_uploads_age ON customer_uploads (created_at);

-- When a company's customers are left in peace.
CREATE TABLE reminder_settings (
    company_id BIGINT NOT NULL PRIMARY KEY REFERENCES companies (id),
    quiet_from BIGINT NOT NULL CHECK (quiet_from BETWEEN 0 AND 1439), -- minutes after midnight
    quiet_to   BIGINT NOT NULL CHECK (quiet_to BETWEEN 0 AND 1439), -- the same as quiet_from: no quiet hours
    updated_at BIGINT NOT NULL
);

-- How messages leave: a mail server, a WhatsApp number, the company's own sender.
CREATE TABLE reminder_channels (
    id           BIGINT  GENERATED ALWAYS AS IDENTITY,
    company_id   BIGINT  NOT NULL REFERENCES companies (id),
    kind         TEXT    NOT NULL,
    name         TEXT    NOT NULL,
    options      TEXT    NOT NULL, -- a JSON object
    secrets      TEXT    NOT NULL, -- a sealed JSON object
    active       BOOLEAN NOT NULL,
    per_minute   BIGINT  NOT NULL CHECK (per_minute >= 0), -- 0: as fast as it goes
    failures     BIGINT  NOT NULL DEFAULT 0, -- attempts that failed since one succeeded
    problem      TEXT    NOT NULL DEFAULT '', -- what the last of them said
    problem_at   BIGINT  NOT NULL DEFAULT 0,
    next_at      BIGINT  NOT NULL, -- before then nothing more is sent, whoever sends
    created_at   BIGINT  NOT NULL,
    updated_at   BIGINT  NOT NULL,
    callback_key TEXT    NOT NULL DEFAULT '', -- in the address that it calls
    verify_token TEXT    NOT NULL DEFAULT '', -- by which it knows that the address is ours
    heard_at     BIGINT  NOT NULL DEFAULT 0, -- when it last called; 0: never
    PRIMARY KEY (company_id, id)
);
CREATE UNIQUE INDEX reminder_channels_callback ON reminder_channels (callback_key) WHERE callback_key <> '';

CREATE TABLE reminder_templates (
    id                BIGINT GENERATED ALWAYS AS IDENTITY,
    company_id        BIGINT NOT NULL REFERENCES companies (id),
    name              TEXT   NOT NULL,
    subject           TEXT   NOT NULL,
    body              TEXT   NOT NULL,
    whatsapp_name     TEXT   NOT NULL, -- of the template that Meta approved
    whatsapp_language TEXT   NOT NULL,
    whatsapp_params   TEXT   NOT NULL, -- a JSON list of texts
    created_at        BIGINT NOT NULL,
    updated_at        BIGINT NOT NULL,
    PRIMARY KEY (company_id, id)
);

CREATE TABLE reminder_rules (
    id          BIGINT  GENERATED ALWAYS AS IDENTITY,
    company_id  BIGINT  NOT NULL REFERENCES companies (id),
    name        TEXT    NOT NULL,
    active      BOOLEAN NOT NULL,
    offset_days BIGINT  NOT NULL CHECK (offset_days BETWEEN -60 AND 60), -- from the due date to the day of the message
    minute      BIGINT  NOT NULL CHECK (minute BETWEEN 0 AND 1439), -- of the company's day
    plan_id     BIGINT, -- only customers of it
    product_id  BIGINT,
    status      TEXT    NOT NULL, -- only customers who stand so on the day; empty: any
    channels    TEXT    NOT NULL, -- ids between commas, in order of preference: ,3,5,
    template_id BIGINT  NOT NULL,
    cursor_on   TEXT    NOT NULL, -- the due date that is planned next
    cursor_id   BIGINT  NOT NULL, -- the last customer of it that was planned
    plan_at     BIGINT  NOT NULL, -- before then there is nothing to plan
    created_at  BIGINT  NOT NULL,
    updated_at  BIGINT  NOT NULL,
    round       BOOLEAN NOT NULL DEFAULT FALSE,
    occasion    TEXT    NOT NULL DEFAULT 'due' CHECK (occasion IN ('due', 'paid')),
    PRIMARY KEY (company_id, id),
    FOREIGN KEY (company_id, template_id) REFERENCES reminder_templates (company_id, id)
);
CREATE INDEX reminder_rules_due ON reminder_rules (plan_at) WHERE active;

-- One message to one customer about one due date. These rows are the queue.
CREATE TABLE reminder_messages (
    id          BIGINT  GENERATED ALWAYS AS IDENTITY,
    company_id  BIGINT  NOT NULL REFERENCES companies (id),
    key         TEXT    NOT NULL, -- by which a receiver knows a repeated one
    rule_id     BIGINT  NOT NULL, -- perhaps deleted since
    customer_id BIGINT  NOT NULL,
    due_on      TEXT    NOT NULL,
    status      TEXT    NOT NULL CHECK (status IN ('scheduled', 'sending', 'sent', 'failed', 'skipped', 'unknown', 'dismissed')),
    reason      TEXT    NOT NULL, -- why it was not sent, or not yet
    channel_id  BIGINT  NOT NULL, -- that is to send it, or did
    manual      BOOLEAN NOT NULL, -- a person asked for it: the hour does not matter
    step        BIGINT  NOT NULL, -- of the retries through this channel
    attempts    BIGINT  NOT NULL, -- begun so far, so that no number is used twice
    run_at      BIGINT  NOT NULL, -- when it is due; when its claim ends, while it has one
    claim       TEXT    NOT NULL, -- who is sending it; empty: nobody
    address     TEXT    NOT NULL, -- what was sent, and where
    subject     TEXT    NOT NULL,
    body        TEXT    NOT NULL,
    receipt     TEXT    NOT NULL, -- what the channel calls it
    sent_at     BIGINT,
    created_at  BIGINT  NOT NULL,
    updated_at  BIGINT  NOT NULL,
    late_at     BIGINT  NOT NULL DEFAULT 0, -- when it is too late to send it; 0: by its rule
    invoice_id  BIGINT  NOT NULL DEFAULT 0,
    arrival     TEXT    NOT NULL DEFAULT '' CHECK (arrival IN ('', 'sent', 'failed', 'delivered', 'read')),
    arrival_at  BIGINT  NOT NULL DEFAULT 0,
    PRIMARY KEY (company_id, id)
);
CREATE INDEX reminder_messages_lane ON reminder_messages (channel_id, run_at, id) WHERE status = 'scheduled';
-- The expression keeps PostgreSQL from looking here for what stands in the lane.
CREATE INDEX reminder_messages_due ON reminder_messages ((run_at + 0)) WHERE status = 'scheduled';
CREATE INDEX reminder_messages_sending ON reminder_messages (run_at) WHERE status = 'sending';
CREATE INDEX reminder_messages_claimed ON reminder_messages (channel_id, run_at) WHERE claim <> '';
CREATE INDEX reminder_messages_unknown ON reminder_messages (company_id, id) WHERE status = 'unknown';
CREATE INDEX reminder_messages_customer ON reminder_messages (company_id, customer_id, id);
CREATE INDEX reminder_messages_status ON reminder_messages (company_id, status, id);
CREATE INDEX reminder_messages_planned ON reminder_messages (company_id, rule_id, run_at) WHERE status = 'scheduled';
CREATE INDEX reminder_messages_age ON reminder_messages (updated_at) WHERE status IN ('sent', 'failed', 'skipped', 'dismissed');
CREATE INDEX reminder_messages_round ON reminder_messages (company_id, rule_id, status) WHERE invoice_id <> 0;
CREATE INDEX reminder_messages_day ON reminder_messages (company_id, due_on, id);
CREATE INDEX reminder_messages_arrival ON reminder_messages (company_id, arrival, id) WHERE arrival <> '';
CREATE UNIQUE INDEX reminder_messages_once ON reminder_messages (company_id, customer_id, rule_id, due_on, invoice_id);
CREATE UNIQUE INDEX reminder_messages_invoice ON reminder_messages (company_id, rule_id, invoice_id) WHERE invoice_id <> 0;

CREATE TABLE reminder_attempts (
    company_id      BIGINT NOT NULL,
    message_id      BIGINT NOT NULL,
    number          BIGINT NOT NULL,
    channel_id      BIGINT NOT NULL,
    kind            TEXT   NOT NULL,
    at              BIGINT NOT NULL,
    duration_ms     BIGINT NOT NULL,
    outcome         TEXT   NOT NULL,
    problem         TEXT   NOT NULL,
    receipt         TEXT   NOT NULL DEFAULT '',
    arrival         TEXT   NOT NULL DEFAULT '' CHECK (arrival IN ('', 'sent', 'failed', 'delivered', 'read')),
    arrival_at      BIGINT NOT NULL DEFAULT 0,
    arrival_problem TEXT   NOT NULL DEFAULT '',
    PRIMARY KEY (company_id, message_id, number),
    FOREIGN KEY (company_id, message_id) REFERENCES reminder_messages (company_id, id) ON DELETE CASCADE
);
CREATE INDEX reminder_attempts_receipt ON reminder_attempts (company_id, receipt, kind) WHERE receipt <> '';

-- Customers who want no messages.
CREATE TABLE reminder_optouts (
    company_id  BIGINT NOT NULL,
    customer_id BIGINT NOT NULL,
    created_at  BIGINT NOT NULL,
    PRIMARY KEY (company_id, customer_id),
    FOREIGN KEY (company_id, customer_id) REFERENCES customers (company_id, id)
);

-- Who sends the deliveries of a lane, and which of them. A lane is one
-- process's at a time, which so can have several of them at hand. Rows are
-- changed often and in place, for which there is room on their pages.
CREATE TABLE delivery_lanes (
    lane    BIGINT PRIMARY KEY,
    token   TEXT   NOT NULL, -- of the hold; empty: nobody has it
    until   BIGINT NOT NULL, -- when the hold ends by itself
    sending TEXT   NOT NULL -- the deliveries it is for, by their ids between commas: ,5,6,
) WITH (fillfactor = 20);

-- What is still to be sent, and when. It stands apart from the deliveries, which
-- are the history: PostgreSQL writes a row that leaves an index anew to all its
-- indexes, and one that is removed to none.
CREATE TABLE delivery_queue (
    delivery_id BIGINT  PRIMARY KEY,
    company_id  BIGINT  NOT NULL,
    event_id    BIGINT  NOT NULL,
    lane        BIGINT  NOT NULL, -- that of the delivery, as are the url and whether it is a test
    url         TEXT    NOT NULL,
    test        BOOLEAN NOT NULL,
    line        BIGINT  NOT NULL CHECK (line IN (0, 1, 2)), -- 0: first attempts, 1: retries, 2: parked until the webhook is on again
    step        BIGINT  NOT NULL, -- of the schedule of retries
    attempts    BIGINT  NOT NULL, -- begun so far, so that no number is used twice
    run_at      BIGINT  NOT NULL, -- when it is due; when its claim ends, while it has one
    claim       TEXT    NOT NULL, -- who is sending it apart from its lane; empty: nobody
    panics      BIGINT  NOT NULL DEFAULT 0
);
CREATE INDEX delivery_queue_order ON delivery_queue (line, lane, run_at);

-- Due dates that customer.expired was recorded for. Kept for good: a date that comes back is not recorded again.
CREATE TABLE customer_expiries (
    company_id  BIGINT NOT NULL,
    customer_id BIGINT NOT NULL,
    due_on      TEXT   COLLATE "C" NOT NULL,
    PRIMARY KEY (company_id, customer_id, due_on),
    FOREIGN KEY (company_id, customer_id) REFERENCES customers (company_id, id) ON DELETE CASCADE
);

-- How often a customer was renewed in a month.
CREATE TABLE customer_renewals (
    company_id  BIGINT NOT NULL,
    customer_id BIGINT NOT NULL,
    month       TEXT   COLLATE "C" NOT NULL, -- YYYY-MM
    n           BIGINT NOT NULL CHECK (n > 0),
    PRIMARY KEY (company_id, customer_id, month),
    FOREIGN KEY (company_id, customer_id) REFERENCES customers (company_id, id) ON DELETE CASCADE
);
CREATE INDEX customer_renewals_month ON customer_renewals (company_id, month, customer_id);

-- Money that went back. Rows are added, never changed.
CREATE TABLE payment_refunds (
    id              BIGINT GENERATED ALWAYS AS IDENTITY,
    company_id      BIGINT NOT NULL REFERENCES companies (id),
    payment_id      BIGINT NOT NULL,
    refund_id       TEXT   NOT NULL, -- the gateway's, or 'hand:' and a code
    amount_cents    BIGINT NOT NULL CHECK (amount_cents > 0),
    refunded_at     BIGINT NOT NULL,
    refunded_on     TEXT   COLLATE "C" NOT NULL,
    reported_by     TEXT   NOT NULL, -- who, where a person did; empty: the gateway
    note            TEXT   NOT NULL,
    created_at      BIGINT NOT NULL,
    refunded_offset BIGINT,
    PRIMARY KEY (company_id, id),
    UNIQUE (company_id, payment_id, refund_id),
    FOREIGN KEY (company_id, payment_id) REFERENCES payments (company_id, id)
);

-- A browser in which a user has signed in before. Only a hash of what it holds is kept.
CREATE TABLE known_devices (
    company_id BIGINT NOT NULL REFERENCES companies (id),
    user_id    BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    hash       BYTEA  NOT NULL,
    seen_at    BIGINT NOT NULL,
    PRIMARY KEY (company_id, user_id, hash)
);
CREATE INDEX known_devices_user ON known_devices (user_id);
CREATE INDEX known_devices_age ON known_devices (seen_at);

-- Mail to users that waits to be sent. Its words are sealed: some hold a link.
CREATE TABLE user_mails (
    id         BIGINT GENERATED ALWAYS AS IDENTITY,
    company_id BIGINT NOT NULL REFERENCES companies (id),
    address    TEXT   NOT NULL,
    content    TEXT   NOT NULL, -- a sealed JSON object
    attempts   BIGINT NOT NULL,
    run_at     BIGINT NOT NULL, -- when it is due; when its claim ends, while it has one
    created_at BIGINT NOT NULL,
    PRIMARY KEY (company_id, id)
);
CREATE INDEX user_mails_due ON user_mails (run_at);

-- The same table as on SQLite, where an import needs it. Here it stays as it is: an import is one transaction, which
-- keeps nobody else from writing.
CREATE TABLE customer_staging (
    id          BIGINT PRIMARY KEY CHECK (id = 1),
    phase       TEXT   NOT NULL CHECK (phase IN ('free', 'staging', 'discarding', 'settling')),
    company_id  BIGINT NOT NULL,
    hidden_from BIGINT NOT NULL,
    hidden_to   BIGINT NOT NULL,
    next_id     BIGINT NOT NULL,
    last_id     BIGINT NOT NULL,
    choices     TEXT   NOT NULL,
    lease       TEXT   NOT NULL,
    renewed_at  BIGINT NOT NULL
);

-- Customers with open invoices, by the oldest of them.
CREATE TABLE debtors (
    company_id  BIGINT NOT NULL,
    customer_id BIGINT NOT NULL,
    since       TEXT   COLLATE "C" NOT NULL, -- due date of the oldest open invoice
    plan_id     BIGINT NOT NULL, -- of the customer, as it is counted; 0: none
    product_id  BIGINT NOT NULL,
    PRIMARY KEY (company_id, customer_id)
);
CREATE INDEX debtors_since ON debtors (company_id, since, customer_id);

-- What the figures of past months need of invoices that went with their customers. It names no person.
CREATE TABLE deleted_invoices (
    company_id          BIGINT NOT NULL REFERENCES companies (id),
    id                  BIGINT NOT NULL,
    plan_id             BIGINT,
    status              TEXT    NOT NULL,
    amount_cents        BIGINT NOT NULL,
    created_on          TEXT COLLATE "C"    NOT NULL,
    due_on              TEXT COLLATE "C"    NOT NULL,
    paid_on             TEXT COLLATE "C",
    paid_via            TEXT    NOT NULL,
    late_fee_cents      BIGINT NOT NULL,
    late_interest_cents BIGINT NOT NULL,
    discount_cents      BIGINT NOT NULL,
    given_cents         BIGINT NOT NULL,
    taken_off_cents     BIGINT NOT NULL,
    written_off_cents   BIGINT NOT NULL,
    written_off_on      TEXT COLLATE "C",
    deleted_on          TEXT COLLATE "C"    NOT NULL,
    PRIMARY KEY (company_id, id)
);

-- Plans whose value or period has changed and whose customers are still being counted anew.
CREATE TABLE plan_repricings (
    company_id BIGINT  NOT NULL,
    plan_id    BIGINT  NOT NULL,
    changed_on TEXT    COLLATE "C" NOT NULL, -- the company's day of the change
    was_free   BOOLEAN NOT NULL, -- it cost nothing before
    next_id    BIGINT  NOT NULL, -- customers up to this id are done
    PRIMARY KEY (company_id, plan_id),
    FOREIGN KEY (company_id, plan_id) REFERENCES customer_plans (company_id, id) ON DELETE CASCADE
);

CREATE TABLE event_feeds (
    company_id     BIGINT NOT NULL PRIMARY KEY REFERENCES companies (id),
    last_position  BIGINT NOT NULL, -- given so far
    floor_position BIGINT NOT NULL -- the last one whose event was pruned; a reader before it has missed something
);

-- Positions of events that are no longer kept, for readers that stopped there.
CREATE TABLE event_marks (
    company_id BIGINT NOT NULL REFERENCES companies (id),
    event_id   TEXT   NOT NULL,
    position   BIGINT NOT NULL,
    PRIMARY KEY (company_id, event_id)
);

-- The one row of a sandbox, whose clock can be moved forward; a real installation has none. Times are microseconds.
CREATE TABLE sandbox_clock (
    id           BIGINT PRIMARY KEY CHECK (id = 1),
    created_at   BIGINT NOT NULL,
    ahead        BIGINT NOT NULL, -- how far the clock is ahead of the real one, while it runs
    stopped_at   BIGINT, -- where it stands during an advance; NULL: it runs
    moves        BIGINT NOT NULL, -- how often it was moved, so that a process knows which of two states is newer
    from_at      BIGINT, -- of the advance under way, or of the last one
    to_at        BIGINT,
    driver       TEXT   NOT NULL, -- lease of the process that does what is due; '': none
    driver_until BIGINT NOT NULL -- by the real clock
);

-- What the advance under way has brought so far, or the last one, counted in the transactions in which it happened.
CREATE TABLE sandbox_happened (
    company_id BIGINT NOT NULL,
    kind       TEXT   NOT NULL,
    amount     BIGINT NOT NULL,
    first      TEXT   NOT NULL, -- the first few, as "microseconds id" with commas between them
    PRIMARY KEY (company_id, kind)
);

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

-- Companies that a change has brought work for a day that may have been found done. Rows are added and removed, never
-- changed, so that no change waits for another.
CREATE TABLE day_work_asked (
    id         BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    company_id BIGINT NOT NULL REFERENCES companies (id)
);

-- The customer's own page, open to who has its code until the company withdraws it.
CREATE TABLE customer_pages (
    company_id  BIGINT NOT NULL,
    customer_id BIGINT NOT NULL,
    code        TEXT   NOT NULL,
    created_at  BIGINT NOT NULL,
    PRIMARY KEY (company_id, customer_id),
    FOREIGN KEY (company_id, customer_id) REFERENCES customers (company_id, id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX customer_pages_code ON customer_pages (code);

CREATE TABLE company_logos (
    company_id BIGINT NOT NULL PRIMARY KEY REFERENCES companies (id),
    version    TEXT   NOT NULL,
    content    BYTEA  NOT NULL -- PNG, as the program encoded it
);
CREATE INDEX company_logos_version ON company_logos (version);

-- What a payer was asked for at a gateway. As with a charge, the customer may be deleted while
-- the bank has still to hear of the end.
CREATE TABLE authorisations (
    id            BIGINT GENERATED ALWAYS AS IDENTITY,
    company_id    BIGINT NOT NULL REFERENCES companies (id),
    gateway_id    BIGINT NOT NULL,
    provider      TEXT   NOT NULL,
    customer_id   BIGINT NOT NULL,
    reference     TEXT   NOT NULL, -- ours, stored before the gateway is called
    gateway_ref   TEXT   NOT NULL, -- the gateway's id; empty while the making is unknown
    journey       TEXT   NOT NULL,
    account       TEXT   NOT NULL, -- where a request goes to, as JSON; empty: it is a code
    every         TEXT   NOT NULL,
    from_on       TEXT   NOT NULL,
    minimum_cents BIGINT NOT NULL,
    description   TEXT   NOT NULL,
    state         TEXT   NOT NULL CHECK (state IN ('reserved', 'asked', 'active', 'ending', 'ended')),
    pix_code      TEXT   NOT NULL,
    ended_by      TEXT   NOT NULL,
    reason        TEXT   NOT NULL, -- of the end, for people
    problem       TEXT   NOT NULL, -- what the last call about it failed with
    expires_at    BIGINT NOT NULL, -- of the request
    active_at     BIGINT,
    ended_at      BIGINT,
    next_check_at BIGINT,
    checks        BIGINT NOT NULL,
    hinted_at     BIGINT NOT NULL,
    claim         TEXT   NOT NULL,
    created_at    BIGINT NOT NULL,
    updated_at    BIGINT NOT NULL,
    PRIMARY KEY (company_id, id),
    FOREIGN KEY (company_id, gateway_id) REFERENCES gateways (company_id, id)
);
CREATE UNIQUE INDEX authorisations_id ON authorisations (id);
CREATE UNIQUE INDEX authorisations_reference ON authorisations (company_id, reference);
CREATE UNIQUE INDEX authorisations_live ON authorisations (company_id, customer_id) WHERE state IN ('reserved', 'asked', 'active');
CREATE INDEX authorisations_customer ON authorisations (company_id, customer_id, id);
CREATE INDEX authorisations_due ON authorisations (next_check_at) WHERE next_check_at IS NOT NULL;

CREATE TABLE authorisation_steps (
    id               BIGINT GENERATED ALWAYS AS IDENTITY,
    company_id       BIGINT NOT NULL,
    authorisation_id BIGINT NOT NULL,
    state            TEXT   NOT NULL, -- as people see it: asked, active, ended
    made_by          TEXT   NOT NULL,
    reason           TEXT   NOT NULL,
    at               BIGINT NOT NULL,
    PRIMARY KEY (company_id, id),
    FOREIGN KEY (company_id, authorisation_id) REFERENCES authorisations (company_id, id)
);
CREATE UNIQUE INDEX authorisation_steps_id ON authorisation_steps (id);
CREATE INDEX authorisation_steps_of ON authorisation_steps (company_id, authorisation_id, id);

-- Sandbox: begin.
CREATE TABLE sandbox_authorisations (
    id         TEXT   NOT NULL PRIMARY KEY,
    reference  TEXT   NOT NULL UNIQUE,
    pix_code   TEXT   NOT NULL,
    payer_name TEXT   NOT NULL,
    charge_id  TEXT   NOT NULL, -- whose payment authorises; empty: none does
    state      TEXT   NOT NULL,
    ended_by   TEXT   NOT NULL,
    fails      BIGINT NOT NULL, -- so many attempts to come fail for want of money
    expires_at BIGINT NOT NULL,
    active_at  BIGINT,
    ended_at   BIGINT,
    secret     TEXT   NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE INDEX sandbox_authorisations_charge ON sandbox_authorisations (charge_id) WHERE charge_id <> '';

CREATE TABLE sandbox_debits (
    charge_id        TEXT    NOT NULL PRIMARY KEY REFERENCES sandbox_charges (id),
    authorisation_id TEXT    NOT NULL REFERENCES sandbox_authorisations (id),
    attempt_on       TEXT    NOT NULL,
    attempts         BIGINT  NOT NULL, -- that were made
    waiting          BOOLEAN NOT NULL -- for the attempt of attempt_on
);
CREATE INDEX sandbox_debits_authorisation ON sandbox_debits (authorisation_id);

-- The sums of tally_sums by month: who asks for a year reads twelve times as many rows as there are plans, products and
-- states, and single days only at its two ends.
CREATE TABLE tally_months (
    company_id BIGINT NOT NULL,
    book       TEXT   NOT NULL,
    month      TEXT   COLLATE "C" NOT NULL, -- YYYY-MM; '': records without a day
    plan_id    BIGINT NOT NULL,
    product_id BIGINT NOT NULL,
    state      TEXT   NOT NULL,
    n          BIGINT NOT NULL,
    cents      BIGINT NOT NULL,
    PRIMARY KEY (company_id, book, month, plan_id, product_id, state)
);
CREATE INDEX tally_months_empty ON tally_months (n, cents, company_id) WHERE n = 0 AND cents = 0;

CREATE TABLE customer_texts (
    company_id BIGINT NOT NULL,
    id         BIGINT NOT NULL,
    text       TEXT   COLLATE "C" NOT NULL, -- folded in Go, one field per line
    PRIMARY KEY (company_id, id),
    FOREIGN KEY (company_id, id) REFERENCES customers (company_id, id) ON DELETE CASCADE
);

-- Lines of bank statements that were booked as payments, so that none is offered
-- again. What a bank calls a line differs between its formats: day, amount and the
-- occurrence among those alike are what it has in each.
CREATE TABLE statement_lines (
    company_id   BIGINT NOT NULL REFERENCES companies (id),
    line_on      TEXT   COLLATE "C" NOT NULL,
    amount_cents BIGINT NOT NULL CHECK (amount_cents > 0),
    occurrence   BIGINT NOT NULL CHECK (occurrence > 0),
    account      TEXT   NOT NULL, -- as the file has it; empty: it does not say
    bank_id      TEXT   NOT NULL,
    payment_id   BIGINT NOT NULL,
    created_at   BIGINT NOT NULL,
    PRIMARY KEY (company_id, line_on, amount_cents, occurrence),
    FOREIGN KEY (company_id, payment_id) REFERENCES payments (company_id, id)
);
CREATE INDEX statement_lines_payment ON statement_lines (company_id, payment_id);

-- What payers send to show that they have paid. No money is booked by it.
CREATE TABLE paid_notices (
    id          BIGINT GENERATED ALWAYS AS IDENTITY,
    company_id  BIGINT NOT NULL,
    invoice_id  BIGINT NOT NULL,
    customer_id BIGINT NOT NULL,
    kind        TEXT   NOT NULL, -- image/png, as the program encoded it, or application/pdf, as it came
    created_at  BIGINT NOT NULL,
    content     BYTEA  NOT NULL,
    PRIMARY KEY (company_id, id),
    FOREIGN KEY (company_id, invoice_id) REFERENCES invoices (company_id, id) ON DELETE CASCADE
);
CREATE INDEX paid_notices_invoice ON paid_notices (company_id, invoice_id, id);

-- The one row that says which customers an import has staged; on SQLite lists pass over them.
INSERT INTO customer_staging VALUES (1, 'free', 0, 0, -1, 0, -1, '{}', '', 0);
