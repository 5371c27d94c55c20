-- The tables of a SQLite database of this version, made by its migrations; PostgreSQL has the same columns.
-- go test ./internal/platform/sqldb -run TestSchemaForReaders -update writes this file.

CREATE TABLE api_tokens (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    company_id   INTEGER NOT NULL REFERENCES companies (id),
    name         TEXT    NOT NULL,
    hash         BLOB    NOT NULL UNIQUE,
    created_at   INTEGER NOT NULL,
    last_used_at INTEGER,
    scope        TEXT    NOT NULL DEFAULT 'full' CHECK (scope IN ('full', 'read')),
    expires_at   INTEGER, -- NULL: never
    made_by      INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX api_tokens_company ON api_tokens (company_id, id);

CREATE TABLE audit_log (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    company_id INTEGER NOT NULL REFERENCES companies (id),
    at         INTEGER NOT NULL,
    user_id    INTEGER,
    token_id   INTEGER,
    who        TEXT    NOT NULL, -- as the name was then
    address    TEXT    NOT NULL,
    action     TEXT    NOT NULL,
    record     TEXT    NOT NULL, -- what kind
    record_id  INTEGER NOT NULL,
    name       TEXT    NOT NULL, -- of the record, as it was then
    changes    TEXT    NOT NULL, -- JSON: {"field":["before","after"]}
    batch      TEXT    NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX audit_log_batch ON audit_log (company_id, batch, id) WHERE batch <> '';
CREATE INDEX audit_log_record ON audit_log (company_id, record, record_id, id);
CREATE TRIGGER audit_log_unchanged BEFORE UPDATE ON audit_log
WHEN NOT (NEW.name = '' AND NEW.changes = '{}'
    AND (NEW.id, NEW.company_id, NEW.at, NEW.who, NEW.address, NEW.action, NEW.record, NEW.record_id)
    IS (OLD.id, OLD.company_id, OLD.at, OLD.who, OLD.address, OLD.action, OLD.record, OLD.record_id)
    AND NEW.user_id IS OLD.user_id AND NEW.token_id IS OLD.token_id)
BEGIN
    SELECT RAISE(ABORT, 'the audit log is only ever added to');
END;
CREATE INDEX audit_log_when ON audit_log (company_id, at, id);

CREATE TABLE authorisation_steps (
    id               INTEGER PRIMARY KEY AUTOINCREMENT,
    company_id       INTEGER NOT NULL,
    authorisation_id INTEGER NOT NULL,
    state            TEXT    NOT NULL, -- as people see it: asked, active, ended
    made_by          TEXT    NOT NULL,
    reason           TEXT    NOT NULL,
    at               INTEGER NOT NULL,
    FOREIGN KEY (company_id, authorisation_id) REFERENCES authorisations (company_id, id)
) STRICT;
CREATE INDEX authorisation_steps_of ON authorisation_steps (company_id, authorisation_id, id);

CREATE TABLE authorisations (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    company_id    INTEGER NOT NULL REFERENCES companies (id),
    gateway_id    INTEGER NOT NULL,
    provider      TEXT    NOT NULL,
    customer_id   INTEGER NOT NULL,
    reference     TEXT    NOT NULL, -- ours, stored before the gateway is called
    gateway_ref   TEXT    NOT NULL, -- the gateway's id; empty while the making is unknown
    journey       TEXT    NOT NULL,
    account       TEXT    NOT NULL, -- where a request goes to, as JSON; empty: it is a code
    every         TEXT    NOT NULL,
    from_on       TEXT    NOT NULL,
    minimum_cents INTEGER NOT NULL,
    description   TEXT    NOT NULL,
    state         TEXT    NOT NULL CHECK (state IN ('reserved', 'asked', 'active', 'ending', 'ended')),
    pix_code      TEXT    NOT NULL,
    ended_by      TEXT    NOT NULL,
    reason        TEXT    NOT NULL, -- of the end, for people
    problem       TEXT    NOT NULL, -- what the last call about it failed with
    expires_at    INTEGER NOT NULL, -- of the request
    active_at     INTEGER,
    ended_at      INTEGER,
    next_check_at INTEGER,
    checks        INTEGER NOT NULL,
    hinted_at     INTEGER NOT NULL,
    claim         TEXT    NOT NULL,
    created_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL,
    UNIQUE (company_id, id),
    FOREIGN KEY (company_id, gateway_id) REFERENCES gateways (company_id, id)
) STRICT;
CREATE INDEX authorisations_customer ON authorisations (company_id, customer_id, id);
CREATE INDEX authorisations_due ON authorisations (next_check_at) WHERE next_check_at IS NOT NULL;
CREATE UNIQUE INDEX authorisations_live ON authorisations (company_id, customer_id) WHERE state IN ('reserved', 'asked', 'active');
CREATE UNIQUE INDEX authorisations_reference ON authorisations (company_id, reference);

CREATE TABLE callback_secrets (
    company_id INTEGER NOT NULL PRIMARY KEY REFERENCES companies (id),
    secret     TEXT    NOT NULL, -- sealed
    created_at INTEGER NOT NULL,
    old_secret TEXT    NOT NULL DEFAULT '',
    old_until  INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE charges (
    id               INTEGER PRIMARY KEY AUTOINCREMENT,
    company_id       INTEGER NOT NULL REFERENCES companies (id),
    gateway_id       INTEGER NOT NULL,
    provider         TEXT    NOT NULL,
    invoice_id       INTEGER NOT NULL,
    customer_id      INTEGER NOT NULL,
    customer_name    TEXT    NOT NULL,
    reference        TEXT    NOT NULL, -- ours, stored before the gateway is called
    gateway_ref      TEXT    NOT NULL, -- the gateway's id; empty while the making is unknown
    amount_cents     INTEGER NOT NULL CHECK (amount_cents > 0),
    state            TEXT    NOT NULL CHECK (state = 'reserved' OR state = 'pending' OR state = 'cancelling' OR state = 'paid' OR state = 'cancelled' OR state = 'expired' OR state = 'refused'),
    pix_code         TEXT    NOT NULL,
    checkout_url     TEXT    NOT NULL,
    problem          TEXT    NOT NULL, -- what the last call about it failed with
    expires_at       INTEGER NOT NULL,
    closed_at        INTEGER,
    next_check_at    INTEGER, -- when somebody must look after it; when its claim ends, while it has one
    checks           INTEGER NOT NULL, -- since it got into its state
    hinted_at        INTEGER NOT NULL, -- a callback asked to look; 0: none since the last look
    claim            TEXT    NOT NULL, -- who is dealing with the gateway about it; empty: nobody
    created_at       INTEGER NOT NULL,
    updated_at       INTEGER NOT NULL,
    payable_on       TEXT    NOT NULL DEFAULT '',
    due_terms        TEXT    NOT NULL DEFAULT '',
    authorisation_id INTEGER NOT NULL DEFAULT 0, -- 0: a charge that a payer pays
    debit_on         TEXT    NOT NULL DEFAULT '', -- the day of the newest attempt that was asked for
    debit_retries    INTEGER NOT NULL DEFAULT 0,
    debit_failure    TEXT    NOT NULL DEFAULT '', -- why the newest attempt failed
    UNIQUE (company_id, id),
    FOREIGN KEY (company_id, gateway_id) REFERENCES gateways (company_id, id)
) STRICT;
CREATE INDEX charges_authorisation ON charges (company_id, authorisation_id, id) WHERE authorisation_id > 0;
CREATE INDEX charges_claimed ON charges (gateway_id, next_check_at) WHERE claim <> '';
CREATE INDEX charges_due ON charges (next_check_at) WHERE next_check_at IS NOT NULL;
CREATE INDEX charges_gateway ON charges (company_id, gateway_id, gateway_ref);
CREATE INDEX charges_invoice ON charges (company_id, invoice_id, id);
CREATE UNIQUE INDEX charges_live ON charges (company_id, invoice_id) WHERE state IN ('reserved', 'pending');
CREATE UNIQUE INDEX charges_reference ON charges (reference);
CREATE INDEX charges_reserved ON charges (created_at) WHERE state = 'reserved';

CREATE TABLE companies (
    id                   INTEGER PRIMARY KEY AUTOINCREMENT,
    parent_id            INTEGER REFERENCES companies (id),
    name                 TEXT    NOT NULL,
    level                TEXT    NOT NULL CHECK (level IN ('user', 'reseller', 'master', 'ultra_master')),
    timezone             TEXT    NOT NULL,
    renew_from           TEXT    NOT NULL CHECK (renew_from IN ('due_date', 'today')),
    renew_on_payment     INTEGER NOT NULL CHECK (renew_on_payment IN (0, 1)),
    lead_days            INTEGER NOT NULL CHECK (lead_days BETWEEN 0 AND 60),
    created_at           INTEGER NOT NULL,
    updated_at           INTEGER NOT NULL,
    whatsapp             TEXT    NOT NULL DEFAULT '',
    subscription         TEXT    NOT NULL DEFAULT '' CHECK (subscription IN ('', 'trial', 'subscriber')),
    subscription_plan_id INTEGER, -- of the company above
    expires_on           TEXT, -- the last day, by its own calendar
    expires_day          INTEGER NOT NULL DEFAULT 0 CHECK (expires_day BETWEEN 0 AND 31), -- own day
    suspended_at         INTEGER,
    functions            TEXT    NOT NULL DEFAULT '*', -- all, or names between commas: ,api,webhooks,
    search               TEXT    NOT NULL DEFAULT '',
    late_fee_bp          INTEGER NOT NULL DEFAULT 0 CHECK (late_fee_bp BETWEEN 0 AND 10000),
    late_interest_bp     INTEGER NOT NULL DEFAULT 0 CHECK (late_interest_bp BETWEEN 0 AND 10000),
    discount_bp          INTEGER NOT NULL DEFAULT 0 CHECK (discount_bp BETWEEN 0 AND 10000),
    discount_cents       INTEGER NOT NULL DEFAULT 0 CHECK (discount_cents >= 0),
    renew_invoice        TEXT    NOT NULL DEFAULT 'keep' CHECK (renew_invoice IN ('keep', 'paid', 'cancelled')),
    above_suspended_at   INTEGER,
    above_expires_on     TEXT,
    anonymous            INTEGER NOT NULL DEFAULT 0 CHECK (anonymous IN (0, 1)),
    day_done             TEXT    NOT NULL DEFAULT '',
    color                TEXT    NOT NULL DEFAULT '', -- as #05694b; '': the house's
    logo                 TEXT    NOT NULL DEFAULT '', -- the version of its picture; '': none
    name_key             TEXT    GENERATED ALWAYS AS (substr(search, 1, instr(search, char(10)) - 1)) VIRTUAL,
    cpf_cnpj             TEXT    NOT NULL DEFAULT '',
    hidden_steps         TEXT    NOT NULL DEFAULT '',
    overdue_invoices     INTEGER NOT NULL DEFAULT 0, -- further ones that a late customer gets
    overdue_since        TEXT, -- those of due dates before it are not issued
    books_closed_through TEXT,
    address              TEXT    NOT NULL DEFAULT '',
    email                TEXT    NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX companies_day ON companies (timezone, day_done, id);
CREATE INDEX companies_ending ON companies (parent_id, (COALESCE(expires_on, '9999-12-31')), id);
CREATE INDEX companies_name ON companies (parent_id, name_key, id);
CREATE INDEX companies_parent ON companies (parent_id, id);
CREATE INDEX companies_plan ON companies (parent_id, subscription_plan_id, (id + 0));

CREATE TABLE company_logos (
    company_id INTEGER NOT NULL PRIMARY KEY REFERENCES companies (id),
    version    TEXT    NOT NULL,
    content    BLOB    NOT NULL -- PNG, as the program encoded it
) STRICT;
CREATE INDEX company_logos_version ON company_logos (version);

CREATE TABLE credit_balances (
    company_id INTEGER NOT NULL PRIMARY KEY REFERENCES companies (id),
    balance    INTEGER NOT NULL CHECK (balance >= 0)
) STRICT;

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
CREATE TRIGGER credit_entries_kept BEFORE DELETE ON credit_entries BEGIN
    SELECT RAISE(ABORT, 'credit entries are only ever added');
END;
CREATE INDEX credit_entries_kind ON credit_entries (company_id, kind, created_at, id, amount);
CREATE INDEX credit_entries_statement ON credit_entries (company_id, id);
CREATE TRIGGER credit_entries_unchanged BEFORE UPDATE ON credit_entries BEGIN
    SELECT RAISE(ABORT, 'credit entries are only ever added');
END;
CREATE INDEX credit_entries_when ON credit_entries (company_id, created_at, id, amount);

CREATE TABLE customer_expiries (
    company_id  INTEGER NOT NULL,
    customer_id INTEGER NOT NULL,
    due_on      TEXT    NOT NULL,
    PRIMARY KEY (company_id, customer_id, due_on),
    FOREIGN KEY (company_id, customer_id) REFERENCES customers (company_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE TABLE customer_pages (
    company_id  INTEGER NOT NULL,
    customer_id INTEGER NOT NULL,
    code        TEXT    NOT NULL,
    created_at  INTEGER NOT NULL,
    PRIMARY KEY (company_id, customer_id),
    FOREIGN KEY (company_id, customer_id) REFERENCES customers (company_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX customer_pages_code ON customer_pages (code);

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

CREATE TABLE customer_renewals (
    company_id  INTEGER NOT NULL,
    customer_id INTEGER NOT NULL,
    month       TEXT    NOT NULL, -- YYYY-MM
    n           INTEGER NOT NULL CHECK (n > 0),
    PRIMARY KEY (company_id, customer_id, month),
    FOREIGN KEY (company_id, customer_id) REFERENCES customers (company_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX customer_renewals_month ON customer_renewals (company_id, month, customer_id);

CREATE TABLE customer_staging (
    id          INTEGER PRIMARY KEY CHECK (id = 1),
    phase       TEXT    NOT NULL CHECK (phase IN ('free', 'staging', 'discarding', 'settling')),
    company_id  INTEGER NOT NULL, -- 0: none
    hidden_from INTEGER NOT NULL, -- the ids that nobody sees; from 0 to -1: none
    hidden_to   INTEGER NOT NULL,
    next_id     INTEGER NOT NULL, -- the first customer whose consequences are not drawn
    last_id     INTEGER NOT NULL,
    choices     TEXT    NOT NULL, -- a JSON object: what was asked for, and which plans and products were made
    lease       TEXT    NOT NULL, -- of the process that is at it
    renewed_at  INTEGER NOT NULL
) STRICT;

CREATE TABLE customer_texts (
    company_id INTEGER NOT NULL,
    id         INTEGER NOT NULL,
    text       TEXT    NOT NULL, -- folded in Go, one field per line
    PRIMARY KEY (company_id, id),
    FOREIGN KEY (company_id, id) REFERENCES customers (company_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE TABLE customer_uploads (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    company_id INTEGER NOT NULL REFERENCES companies (id),
    name       TEXT    NOT NULL, -- of the file
    content    BLOB    NOT NULL,
    choices    TEXT    NOT NULL, -- JSON: columns and options
    state      TEXT    NOT NULL CHECK (state IN ('new', 'running', 'done', 'failed')),
    outcome    TEXT    NOT NULL, -- JSON: what became of it
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    rejected   TEXT    NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX customer_uploads_age ON customer_uploads (created_at);
CREATE INDEX customer_uploads_company ON customer_uploads (company_id, id);

CREATE TABLE customers (
    id                INTEGER PRIMARY KEY AUTOINCREMENT,
    company_id        INTEGER NOT NULL REFERENCES companies (id),
    uuid              TEXT    NOT NULL,
    name              TEXT    NOT NULL,
    whatsapp          TEXT    NOT NULL,
    email             TEXT    NOT NULL,
    usuario           TEXT    NOT NULL,
    usuario_key       TEXT    NOT NULL,
    external_id       TEXT    NOT NULL,
    due_on            TEXT,
    own_day           INTEGER NOT NULL CHECK (own_day BETWEEN 0 AND 31),
    plan_id           INTEGER,
    product_id        INTEGER,
    notes             TEXT    NOT NULL,
    created_at        INTEGER NOT NULL,
    updated_at        INTEGER NOT NULL,
    cpf_cnpj          TEXT    NOT NULL DEFAULT '',
    address           TEXT    NOT NULL DEFAULT '', -- a JSON object; empty: none
    custom            TEXT    NOT NULL DEFAULT '', -- a JSON object; empty: none
    price_cents       INTEGER CHECK (price_cents >= 0), -- NULL: the plan's value
    cancelled_at      INTEGER, -- NULL: not cancelled
    cancel_reason     TEXT    NOT NULL DEFAULT '',
    created_on        TEXT    NOT NULL DEFAULT '', -- the company's day of created_at, at that time
    created_offset    INTEGER NOT NULL DEFAULT 0, -- seconds east of UTC, at that time
    expiry_on         TEXT, -- the due date that customer.expired is still to be recorded for
    expired           INTEGER NOT NULL DEFAULT 0 CHECK (expired IN (0, 1)), -- recorded, and not current since
    mrr_cents         INTEGER NOT NULL DEFAULT 0,
    mrr_month         TEXT    NOT NULL DEFAULT '', -- YYYY-MM; '': not changed since it is counted
    mrr_start_cents   INTEGER NOT NULL DEFAULT 0,
    mrr_start_plan    INTEGER NOT NULL DEFAULT 0, -- 0: none
    mrr_start_product INTEGER NOT NULL DEFAULT 0,
    autopay           TEXT    NOT NULL DEFAULT 'none',
    name_key          TEXT    NOT NULL DEFAULT '',
    credit_cents      INTEGER NOT NULL DEFAULT 0, -- the last month, YYYY-MM, in which it was renewed
    UNIQUE (company_id, id),
    FOREIGN KEY (company_id, plan_id) REFERENCES customer_plans (company_id, id),
    FOREIGN KEY (company_id, product_id) REFERENCES products (company_id, id)
) STRICT;
CREATE INDEX customers_cpf_cnpj ON customers (company_id, cpf_cnpj, id) WHERE cpf_cnpj <> '';
CREATE INDEX customers_due ON customers (company_id, due_on, id, cancelled_at, plan_id, product_id);
CREATE INDEX customers_expiring ON customers (company_id, expiry_on, id) WHERE expiry_on IS NOT NULL;
CREATE UNIQUE INDEX customers_external ON customers (company_id, external_id) WHERE external_id <> '';
CREATE INDEX customers_held ON customers (company_id, expiry_on) WHERE expiry_on > due_on;
CREATE INDEX customers_name ON customers (company_id, name_key, id, due_on, cancelled_at, plan_id, product_id);
CREATE INDEX customers_phone ON customers (company_id, whatsapp, id) WHERE whatsapp <> '';
CREATE INDEX customers_updated ON customers (company_id, updated_at, id, due_on, cancelled_at, plan_id, product_id);
CREATE UNIQUE INDEX customers_usuario ON customers (company_id, usuario_key) WHERE usuario_key <> '';
CREATE INDEX customers_walk ON customers (company_id, id, due_on, cancelled_at, plan_id, product_id, created_on, mrr_month, mrr_cents, mrr_start_cents, updated_at);

CREATE TABLE day_work_asked (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    company_id INTEGER NOT NULL REFERENCES companies (id)
) STRICT;

CREATE TABLE debtors (
    company_id  INTEGER NOT NULL,
    customer_id INTEGER NOT NULL,
    since       TEXT    NOT NULL, -- due date of the oldest open invoice
    plan_id     INTEGER NOT NULL, -- of the customer, as it is counted; 0: none
    product_id  INTEGER NOT NULL,
    PRIMARY KEY (company_id, customer_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX debtors_since ON debtors (company_id, since, customer_id);

CREATE TABLE deleted_invoices (
    company_id          INTEGER NOT NULL REFERENCES companies (id),
    id                  INTEGER NOT NULL,
    plan_id             INTEGER,
    status              TEXT    NOT NULL,
    amount_cents        INTEGER NOT NULL,
    created_on          TEXT    NOT NULL,
    due_on              TEXT    NOT NULL,
    paid_on             TEXT,
    paid_via            TEXT    NOT NULL,
    late_fee_cents      INTEGER NOT NULL,
    late_interest_cents INTEGER NOT NULL,
    discount_cents      INTEGER NOT NULL,
    given_cents         INTEGER NOT NULL,
    taken_off_cents     INTEGER NOT NULL,
    written_off_cents   INTEGER NOT NULL,
    written_off_on      TEXT,
    deleted_on          TEXT    NOT NULL,
    PRIMARY KEY (company_id, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE deliveries (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    company_id   INTEGER NOT NULL REFERENCES companies (id),
    webhook_id   INTEGER, -- null: the notification of a single invoice
    event_id     INTEGER NOT NULL REFERENCES events (id),
    event        TEXT    NOT NULL,
    url          TEXT    NOT NULL, -- of a notification; a webhook's is read when sending
    lane         INTEGER NOT NULL, -- the webhook's id; minus the company's for notifications
    -- pending: it stands in the queue
    status       TEXT    NOT NULL CHECK (status = 'pending' OR status = 'delivered' OR status = 'failed' OR status = 'refused'),
    test         INTEGER NOT NULL CHECK (test IN (0, 1)),
    attempts     INTEGER NOT NULL, -- begun until it left the queue
    created_at   INTEGER NOT NULL,
    delivered_at INTEGER,
    UNIQUE (company_id, event_id, lane, url),
    FOREIGN KEY (company_id, webhook_id) REFERENCES webhooks (company_id, id)
) STRICT;
CREATE INDEX deliveries_history ON deliveries (company_id, webhook_id, id);

CREATE TABLE delivery_attempts (
    company_id      INTEGER NOT NULL,
    delivery_id     INTEGER NOT NULL,
    number          INTEGER NOT NULL,
    at              INTEGER NOT NULL,
    duration_ms     INTEGER NOT NULL,
    response_status INTEGER NOT NULL, -- 0: none
    response_body   TEXT    NOT NULL,
    error           TEXT    NOT NULL,
    PRIMARY KEY (company_id, delivery_id, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE delivery_lanes (
    lane    INTEGER PRIMARY KEY,
    token   TEXT    NOT NULL, -- of the hold; empty: nobody has it
    until   INTEGER NOT NULL, -- when the hold ends by itself
    sending TEXT    NOT NULL -- the deliveries it is for, by their ids between commas: ,5,6,
) STRICT;

CREATE TABLE delivery_queue (
    delivery_id INTEGER PRIMARY KEY,
    company_id  INTEGER NOT NULL,
    event_id    INTEGER NOT NULL,
    lane        INTEGER NOT NULL, -- that of the delivery, as are the url and whether it is a test
    url         TEXT    NOT NULL,
    test        INTEGER NOT NULL CHECK (test IN (0, 1)),
    line        INTEGER NOT NULL CHECK (line IN (0, 1, 2)), -- 0: first attempts, 1: retries, 2: parked until the webhook is on again
    step        INTEGER NOT NULL, -- of the schedule of retries
    attempts    INTEGER NOT NULL, -- begun so far, so that no number is used twice
    run_at      INTEGER NOT NULL, -- when it is due; when its claim ends, while it has one
    claim       TEXT    NOT NULL, -- who is sending it apart from its lane; empty: nobody
    panics      INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX delivery_queue_order ON delivery_queue (line, lane, run_at);

CREATE TABLE event_feeds (
    company_id     INTEGER NOT NULL PRIMARY KEY REFERENCES companies (id),
    last_position  INTEGER NOT NULL, -- given so far
    floor_position INTEGER NOT NULL -- the last one whose event was pruned; a reader before it has missed something
) STRICT, WITHOUT ROWID;

CREATE TABLE event_marks (
    company_id INTEGER NOT NULL REFERENCES companies (id),
    event_id   TEXT    NOT NULL,
    position   INTEGER NOT NULL,
    PRIMARY KEY (company_id, event_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE events (
    id          INTEGER PRIMARY KEY,
    company_id  INTEGER NOT NULL REFERENCES companies (id),
    event_id    TEXT    NOT NULL,
    name        TEXT    NOT NULL,
    occurred_at INTEGER NOT NULL,
    body        TEXT    NOT NULL,
    position    INTEGER, -- NULL: none yet
    UNIQUE (company_id, event_id)
) STRICT;
CREATE UNIQUE INDEX events_position ON events (company_id, position) WHERE position IS NOT NULL;
CREATE INDEX events_since ON events (company_id, occurred_at, position) WHERE position IS NOT NULL;
CREATE INDEX events_unplaced ON events (company_id, id) WHERE position IS NULL;

CREATE TABLE gateway_callbacks (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    company_id  INTEGER NOT NULL REFERENCES companies (id),
    gateway_id  INTEGER NOT NULL,
    event_key   TEXT    NOT NULL, -- the gateway's event id, or a hash of what came
    body        BLOB    NOT NULL,
    hints       TEXT    NOT NULL, -- charges that we do not know by what it says; empty: none
    seen        INTEGER NOT NULL, -- how often it came
    next_try_at INTEGER, -- when its hints are looked into
    tries       INTEGER NOT NULL,
    created_at  INTEGER NOT NULL,
    UNIQUE (company_id, id),
    UNIQUE (company_id, gateway_id, event_key),
    FOREIGN KEY (company_id, gateway_id) REFERENCES gateways (company_id, id)
) STRICT;
CREATE INDEX gateway_callbacks_age ON gateway_callbacks (created_at);
CREATE INDEX gateway_callbacks_due ON gateway_callbacks (next_try_at) WHERE next_try_at IS NOT NULL;

CREATE TABLE gateways (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    company_id   INTEGER NOT NULL REFERENCES companies (id),
    provider     TEXT    NOT NULL,
    options      TEXT    NOT NULL, -- sealed
    callback_key TEXT    NOT NULL, -- part of the address that the gateway calls; nobody can guess it
    active       INTEGER NOT NULL CHECK (active IN (0, 1)),
    failures     INTEGER NOT NULL, -- failed calls in a row
    problem      TEXT    NOT NULL, -- what the last of them said
    resume_at    INTEGER NOT NULL, -- before this, nothing is asked of it that can wait
    created_at   INTEGER NOT NULL,
    updated_at   INTEGER NOT NULL,
    UNIQUE (company_id, provider),
    UNIQUE (company_id, id)
) STRICT;
CREATE UNIQUE INDEX gateways_active ON gateways (company_id) WHERE active = 1;
CREATE UNIQUE INDEX gateways_key ON gateways (callback_key);

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
    record_id   INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (company_id, token_id, key)
) STRICT;
CREATE INDEX idempotency_keys_created ON idempotency_keys (created_at);
CREATE INDEX idempotency_keys_token ON idempotency_keys (token_id);

CREATE TABLE invoice_notifications (
    company_id INTEGER NOT NULL,
    invoice_id INTEGER NOT NULL,
    url        TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (company_id, invoice_id, url),
    FOREIGN KEY (company_id, invoice_id) REFERENCES invoices (company_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE TABLE invoice_schedule (
    company_id  INTEGER NOT NULL,
    customer_id INTEGER NOT NULL,
    due_on      TEXT    NOT NULL,
    PRIMARY KEY (company_id, customer_id),
    FOREIGN KEY (company_id, customer_id) REFERENCES customers (company_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX invoice_schedule_due ON invoice_schedule (company_id, due_on, customer_id);

CREATE TABLE invoices (
    id                  INTEGER PRIMARY KEY AUTOINCREMENT,
    company_id          INTEGER NOT NULL REFERENCES companies (id),
    customer_id         INTEGER NOT NULL,
    generated           INTEGER NOT NULL CHECK (generated IN (0, 1)),
    amount_cents        INTEGER NOT NULL CHECK (amount_cents > 0),
    description         TEXT    NOT NULL,
    due_on              TEXT    NOT NULL,
    plan_id             INTEGER,
    product_id          INTEGER,
    paid_at             INTEGER,
    paid_on             TEXT, -- the company's day of paid_at
    paid_via            TEXT    NOT NULL,
    note                TEXT    NOT NULL,
    renewed_from        TEXT, -- due date of the customer before and after this payment
    renewed_to          TEXT,
    renewed_day         INTEGER NOT NULL, -- its own day before
    created_at          INTEGER NOT NULL,
    created_on          TEXT    NOT NULL,
    updated_at          INTEGER NOT NULL,
    status              TEXT    NOT NULL DEFAULT 'open' CHECK (status = 'open' OR status = 'paid' OR status = 'cancelled'),
    -- NULL: renews nothing
    period_unit         TEXT    CHECK (period_unit = 'day' OR period_unit = 'week' OR period_unit = 'month' OR period_unit = 'year'),
    period_count        INTEGER CHECK (period_count > 0),
    issued_for          TEXT, -- the customer's due date that it renews; NULL: an extra one
    edited              INTEGER NOT NULL DEFAULT 0 CHECK (edited IN (0, 1)), -- by hand: it follows nobody
    superseded          INTEGER NOT NULL DEFAULT 0 CHECK (superseded IN (0, 1)), -- another was issued for its due date
    withdrawn           TEXT    NOT NULL DEFAULT '', -- why the program cancelled it: free, moved, undone, customer
    own_discount_cents  INTEGER CHECK (own_discount_cents >= 0), -- in place of the company's terms
    received_cents      INTEGER NOT NULL DEFAULT 0 CHECK (received_cents >= 0),
    late_fee_cents      INTEGER NOT NULL DEFAULT 0, -- these four as they were when it was paid
    late_interest_cents INTEGER NOT NULL DEFAULT 0,
    discount_cents      INTEGER NOT NULL DEFAULT 0,
    forgiven_cents      INTEGER NOT NULL DEFAULT 0, -- less money, and a person said that it is enough
    renewed_on          TEXT, -- the day on which the renewal counts
    created_offset      INTEGER,
    paid_offset         INTEGER, -- NULL: not paid
    settled_cents       INTEGER NOT NULL DEFAULT 0,
    given_cents         INTEGER NOT NULL DEFAULT 0,
    taken_off_cents     INTEGER NOT NULL DEFAULT 0,
    written_off_cents   INTEGER NOT NULL DEFAULT 0,
    written_off_on      TEXT,
    UNIQUE (company_id, id),
    FOREIGN KEY (company_id, customer_id) REFERENCES customers (company_id, id),
    FOREIGN KEY (company_id, plan_id) REFERENCES customer_plans (company_id, id),
    FOREIGN KEY (company_id, product_id) REFERENCES products (company_id, id)
) STRICT;
CREATE INDEX invoices_customer ON invoices (company_id, customer_id, id);
CREATE INDEX invoices_due ON invoices (company_id, due_on, id, status, plan_id, product_id);
CREATE UNIQUE INDEX invoices_generated ON invoices (company_id, customer_id, issued_for) WHERE generated = 1 AND superseded = 0;
CREATE INDEX invoices_owed ON invoices (company_id, due_on, id) WHERE status = 'open';
CREATE INDEX invoices_updated ON invoices (company_id, updated_at, id);
CREATE INDEX invoices_walk ON invoices (company_id, id, status, due_on, plan_id, product_id, paid_on, created_on, updated_at);

CREATE TABLE known_devices (
    company_id INTEGER NOT NULL REFERENCES companies (id),
    user_id    INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    hash       BLOB    NOT NULL,
    seen_at    INTEGER NOT NULL,
    PRIMARY KEY (company_id, user_id, hash)
) STRICT, WITHOUT ROWID;
CREATE INDEX known_devices_age ON known_devices (seen_at);
CREATE INDEX known_devices_user ON known_devices (user_id);

CREATE TABLE list_columns (
    company_id INTEGER NOT NULL REFERENCES companies (id),
    user_id    INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    list       TEXT    NOT NULL,
    columns    TEXT    NOT NULL,
    PRIMARY KEY (company_id, user_id, list)
) STRICT;
CREATE INDEX list_columns_user ON list_columns (user_id);

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

CREATE TABLE paid_notices (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    company_id  INTEGER NOT NULL,
    invoice_id  INTEGER NOT NULL,
    customer_id INTEGER NOT NULL,
    kind        TEXT    NOT NULL, -- image/png, as the program encoded it, or application/pdf, as it came
    created_at  INTEGER NOT NULL,
    content     BLOB    NOT NULL,
    FOREIGN KEY (company_id, invoice_id) REFERENCES invoices (company_id, id) ON DELETE CASCADE
) STRICT;
CREATE INDEX paid_notices_invoice ON paid_notices (company_id, invoice_id, id);

CREATE TABLE password_links (
    hash       BLOB    NOT NULL PRIMARY KEY,
    company_id INTEGER NOT NULL,
    user_id    INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    expires_at INTEGER NOT NULL,
    purpose    TEXT    NOT NULL DEFAULT 'password' CHECK (purpose IN ('password', 'invitation', 'reset', 'confirm', 'release', 'restore')),
    email      TEXT    NOT NULL DEFAULT '' -- of those of purpose restore
) STRICT;
CREATE INDEX password_links_owner ON password_links (user_id);
CREATE INDEX password_links_user ON password_links (company_id, user_id);

CREATE TABLE pay_links (
    company_id INTEGER NOT NULL,
    invoice_id INTEGER NOT NULL,
    code       TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (company_id, invoice_id),
    FOREIGN KEY (company_id, invoice_id) REFERENCES invoices (company_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX pay_links_code ON pay_links (code);

CREATE TABLE payment_refunds (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    company_id      INTEGER NOT NULL REFERENCES companies (id),
    payment_id      INTEGER NOT NULL,
    refund_id       TEXT    NOT NULL, -- the gateway's, or 'hand:' and a code
    amount_cents    INTEGER NOT NULL CHECK (amount_cents > 0),
    refunded_at     INTEGER NOT NULL,
    refunded_on     TEXT    NOT NULL,
    reported_by     TEXT    NOT NULL, -- who, where a person did; empty: the gateway
    note            TEXT    NOT NULL,
    created_at      INTEGER NOT NULL,
    refunded_offset INTEGER,
    UNIQUE (company_id, id),
    UNIQUE (company_id, payment_id, refund_id),
    FOREIGN KEY (company_id, payment_id) REFERENCES payments (company_id, id)
) STRICT;

CREATE TABLE payment_reviews (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    company_id  INTEGER NOT NULL REFERENCES companies (id),
    payment_id  INTEGER NOT NULL,
    reason      TEXT    NOT NULL,
    created_at  INTEGER NOT NULL,
    resolved_at INTEGER,
    resolution  TEXT    NOT NULL,
    resolved_by TEXT    NOT NULL,
    note        TEXT    NOT NULL,
    UNIQUE (company_id, id),
    UNIQUE (company_id, payment_id, reason),
    FOREIGN KEY (company_id, payment_id) REFERENCES "payments" (company_id, id)
) STRICT;
CREATE INDEX payment_reviews_open ON payment_reviews (company_id, id) WHERE resolved_at IS NULL;

CREATE TABLE payments (
    id             INTEGER PRIMARY KEY AUTOINCREMENT,
    company_id     INTEGER NOT NULL REFERENCES companies (id),
    charge_id      INTEGER, -- NULL: none, a person reported it
    provider       TEXT    NOT NULL, -- 'hand' when a person did
    payment_id     TEXT    NOT NULL, -- the gateway's, or the end-to-end id; 'hand:' and a code
    paid_via       TEXT    NOT NULL, -- as the API says it: a gateway's name, manual, cash, pix, card, transfer, boleto, other
    invoice_id     INTEGER NOT NULL, -- perhaps deleted since
    customer_id    INTEGER NOT NULL,
    customer_name  TEXT    NOT NULL,
    plan_id        INTEGER NOT NULL, -- of the invoice then, 0: none; for the sums
    product_id     INTEGER NOT NULL,
    amount_cents   INTEGER NOT NULL,
    currency       TEXT    NOT NULL,
    paid_at        INTEGER NOT NULL,
    paid_on        TEXT    NOT NULL, -- the company's day of paid_at, then
    status         TEXT    NOT NULL CHECK (status = 'applied' OR status = 'partial' OR status = 'review' OR status = 'refunded' OR status = 'dismissed' OR status = 'credit'),
    refunded_cents INTEGER NOT NULL DEFAULT 0 CHECK (refunded_cents BETWEEN 0 AND amount_cents),
    confirmed_by   TEXT    NOT NULL,
    note           TEXT    NOT NULL,
    created_at     INTEGER NOT NULL, -- received_at of the API
    paid_offset    INTEGER,
    batch          TEXT    NOT NULL DEFAULT '', -- received_at of the API
    UNIQUE (company_id, id),
    UNIQUE (company_id, provider, payment_id),
    FOREIGN KEY (company_id, charge_id) REFERENCES charges (company_id, id)
) STRICT;
CREATE INDEX payments_customer ON payments (company_id, customer_id, id);
CREATE INDEX payments_day ON payments (company_id, paid_on, id, status, paid_via);
CREATE INDEX payments_invoice ON payments (company_id, invoice_id, id);
CREATE INDEX payments_walk ON payments (company_id, id, paid_on, status, paid_via);

CREATE TABLE plan_repricings (
    company_id INTEGER NOT NULL,
    plan_id    INTEGER NOT NULL,
    changed_on TEXT    NOT NULL, -- the company's day of the change
    was_free   INTEGER NOT NULL CHECK (was_free IN (0, 1)), -- it cost nothing before
    next_id    INTEGER NOT NULL, -- customers up to this id are done
    PRIMARY KEY (company_id, plan_id),
    FOREIGN KEY (company_id, plan_id) REFERENCES customer_plans (company_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

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

CREATE TABLE recovery_codes (
    company_id INTEGER NOT NULL,
    user_id    INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    hash       BLOB    NOT NULL,
    PRIMARY KEY (company_id, user_id, hash)
) STRICT, WITHOUT ROWID;
CREATE INDEX recovery_codes_user ON recovery_codes (user_id);

CREATE TABLE reminder_attempts (
    company_id      INTEGER NOT NULL,
    message_id      INTEGER NOT NULL,
    number          INTEGER NOT NULL,
    channel_id      INTEGER NOT NULL,
    kind            TEXT    NOT NULL,
    at              INTEGER NOT NULL,
    duration_ms     INTEGER NOT NULL,
    outcome         TEXT    NOT NULL,
    problem         TEXT    NOT NULL,
    receipt         TEXT    NOT NULL DEFAULT '',
    arrival         TEXT    NOT NULL DEFAULT '' CHECK (arrival IN ('', 'sent', 'failed', 'delivered', 'read')),
    arrival_at      INTEGER NOT NULL DEFAULT 0,
    arrival_problem TEXT    NOT NULL DEFAULT '',
    PRIMARY KEY (company_id, message_id, number),
    FOREIGN KEY (company_id, message_id) REFERENCES reminder_messages (company_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX reminder_attempts_receipt ON reminder_attempts (company_id, receipt, kind) WHERE receipt <> '';

CREATE TABLE reminder_channels (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    company_id   INTEGER NOT NULL REFERENCES companies (id),
    kind         TEXT    NOT NULL,
    name         TEXT    NOT NULL,
    options      TEXT    NOT NULL, -- a JSON object
    secrets      TEXT    NOT NULL, -- a sealed JSON object
    active       INTEGER NOT NULL CHECK (active IN (0, 1)),
    per_minute   INTEGER NOT NULL CHECK (per_minute >= 0), -- 0: as fast as it goes
    failures     INTEGER NOT NULL DEFAULT 0, -- attempts that failed since one succeeded
    problem      TEXT    NOT NULL DEFAULT '', -- what the last of them said
    problem_at   INTEGER NOT NULL DEFAULT 0,
    next_at      INTEGER NOT NULL, -- before then nothing more is sent, whoever sends
    created_at   INTEGER NOT NULL,
    updated_at   INTEGER NOT NULL,
    callback_key TEXT    NOT NULL DEFAULT '', -- in the address that it calls
    verify_token TEXT    NOT NULL DEFAULT '', -- by which it knows that the address is ours
    heard_at     INTEGER NOT NULL DEFAULT 0, -- when it last called; 0: never
    UNIQUE (company_id, id)
) STRICT;
CREATE UNIQUE INDEX reminder_channels_callback ON reminder_channels (callback_key) WHERE callback_key <> '';

CREATE TABLE reminder_messages (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    company_id  INTEGER NOT NULL REFERENCES companies (id),
    key         TEXT    NOT NULL, -- by which a receiver knows a repeated one
    rule_id     INTEGER NOT NULL, -- perhaps deleted since
    customer_id INTEGER NOT NULL,
    due_on      TEXT    NOT NULL,
    status      TEXT    NOT NULL CHECK (status IN ('scheduled', 'sending', 'sent', 'failed', 'skipped', 'unknown', 'dismissed')),
    reason      TEXT    NOT NULL, -- why it was not sent, or not yet
    channel_id  INTEGER NOT NULL, -- that is to send it, or did
    manual      INTEGER NOT NULL CHECK (manual IN (0, 1)), -- a person asked for it: the hour does not matter
    step        INTEGER NOT NULL, -- of the retries through this channel
    attempts    INTEGER NOT NULL, -- begun so far, so that no number is used twice
    run_at      INTEGER NOT NULL, -- when it is due; when its claim ends, while it has one
    claim       TEXT    NOT NULL, -- who is sending it; empty: nobody
    address     TEXT    NOT NULL, -- what was sent, and where
    subject     TEXT    NOT NULL,
    body        TEXT    NOT NULL,
    receipt     TEXT    NOT NULL, -- what the channel calls it
    sent_at     INTEGER,
    created_at  INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL,
    late_at     INTEGER NOT NULL DEFAULT 0, -- when it is too late to send it; 0: by its rule
    invoice_id  INTEGER NOT NULL DEFAULT 0,
    arrival     TEXT    NOT NULL DEFAULT '' CHECK (arrival IN ('', 'sent', 'failed', 'delivered', 'read')),
    arrival_at  INTEGER NOT NULL DEFAULT 0,
    UNIQUE (company_id, id)
) STRICT;
CREATE INDEX reminder_messages_age ON reminder_messages (updated_at) WHERE status IN ('sent', 'failed', 'skipped', 'dismissed');
CREATE INDEX reminder_messages_arrival ON reminder_messages (company_id, arrival, id) WHERE arrival <> '';
CREATE INDEX reminder_messages_claimed ON reminder_messages (channel_id, run_at) WHERE claim <> '';
CREATE INDEX reminder_messages_customer ON reminder_messages (company_id, customer_id, id);
CREATE INDEX reminder_messages_day ON reminder_messages (company_id, due_on, id);
CREATE INDEX reminder_messages_due ON reminder_messages ((run_at + 0)) WHERE status = 'scheduled';
CREATE UNIQUE INDEX reminder_messages_invoice ON reminder_messages (company_id, rule_id, invoice_id) WHERE invoice_id <> 0;
CREATE INDEX reminder_messages_lane ON reminder_messages (channel_id, run_at, id) WHERE status = 'scheduled';
CREATE UNIQUE INDEX reminder_messages_once ON reminder_messages (company_id, customer_id, rule_id, due_on, invoice_id);
CREATE INDEX reminder_messages_planned ON reminder_messages (company_id, rule_id, run_at) WHERE status = 'scheduled';
CREATE INDEX reminder_messages_round ON reminder_messages (company_id, rule_id, status) WHERE invoice_id <> 0;
CREATE INDEX reminder_messages_sending ON reminder_messages (run_at) WHERE status = 'sending';
CREATE INDEX reminder_messages_status ON reminder_messages (company_id, status, id);
CREATE INDEX reminder_messages_unknown ON reminder_messages (company_id, id) WHERE status = 'unknown';

CREATE TABLE reminder_optouts (
    company_id  INTEGER NOT NULL,
    customer_id INTEGER NOT NULL,
    created_at  INTEGER NOT NULL,
    PRIMARY KEY (company_id, customer_id),
    FOREIGN KEY (company_id, customer_id) REFERENCES customers (company_id, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE reminder_rules (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    company_id  INTEGER NOT NULL REFERENCES companies (id),
    name        TEXT    NOT NULL,
    active      INTEGER NOT NULL CHECK (active IN (0, 1)),
    offset_days INTEGER NOT NULL CHECK (offset_days BETWEEN -60 AND 60), -- from the due date to the day of the message
    minute      INTEGER NOT NULL CHECK (minute BETWEEN 0 AND 1439), -- of the company's day
    plan_id     INTEGER, -- only customers of it
    product_id  INTEGER,
    status      TEXT    NOT NULL, -- only customers who stand so on the day; empty: any
    channels    TEXT    NOT NULL, -- ids between commas, in order of preference: ,3,5,
    template_id INTEGER NOT NULL,
    cursor_on   TEXT    NOT NULL, -- the due date that is planned next
    cursor_id   INTEGER NOT NULL, -- the last customer of it that was planned
    plan_at     INTEGER NOT NULL, -- before then there is nothing to plan
    created_at  INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL,
    round       INTEGER NOT NULL DEFAULT 0 CHECK (round IN (0, 1)),
    occasion    TEXT    NOT NULL DEFAULT 'due' CHECK (occasion IN ('due', 'paid')),
    UNIQUE (company_id, id),
    FOREIGN KEY (company_id, template_id) REFERENCES reminder_templates (company_id, id)
) STRICT;
CREATE INDEX reminder_rules_due ON reminder_rules (plan_at) WHERE active;

CREATE TABLE reminder_settings (
    company_id INTEGER NOT NULL PRIMARY KEY REFERENCES companies (id),
    quiet_from INTEGER NOT NULL CHECK (quiet_from BETWEEN 0 AND 1439), -- minutes after midnight
    quiet_to   INTEGER NOT NULL CHECK (quiet_to BETWEEN 0 AND 1439), -- the same as quiet_from: no quiet hours
    updated_at INTEGER NOT NULL
) STRICT;

CREATE TABLE reminder_templates (
    id                INTEGER PRIMARY KEY AUTOINCREMENT,
    company_id        INTEGER NOT NULL REFERENCES companies (id),
    name              TEXT    NOT NULL,
    subject           TEXT    NOT NULL,
    body              TEXT    NOT NULL,
    whatsapp_name     TEXT    NOT NULL, -- of the template that Meta approved
    whatsapp_language TEXT    NOT NULL,
    whatsapp_params   TEXT    NOT NULL, -- a JSON list of texts
    created_at        INTEGER NOT NULL,
    updated_at        INTEGER NOT NULL,
    UNIQUE (company_id, id)
) STRICT;

CREATE TABLE replays (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    company_id  INTEGER NOT NULL,
    webhook_id  INTEGER NOT NULL,
    since       INTEGER NOT NULL,
    cursor      INTEGER NOT NULL, -- the last event looked at
    until       INTEGER NOT NULL, -- the last event there was when it was asked for
    queued      INTEGER NOT NULL,
    created_at  INTEGER NOT NULL,
    finished_at INTEGER,
    FOREIGN KEY (company_id, webhook_id) REFERENCES webhooks (company_id, id)
) STRICT;
CREATE INDEX replays_unfinished ON replays (company_id, id) WHERE finished_at IS NULL;

CREATE TABLE sandbox_authorisations (
    id         TEXT    NOT NULL PRIMARY KEY,
    reference  TEXT    NOT NULL UNIQUE,
    pix_code   TEXT    NOT NULL,
    payer_name TEXT    NOT NULL,
    charge_id  TEXT    NOT NULL, -- whose payment authorises; empty: none does
    state      TEXT    NOT NULL,
    ended_by   TEXT    NOT NULL,
    fails      INTEGER NOT NULL, -- so many attempts to come fail for want of money
    expires_at INTEGER NOT NULL,
    active_at  INTEGER,
    ended_at   INTEGER,
    secret     TEXT    NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX sandbox_authorisations_charge ON sandbox_authorisations (charge_id) WHERE charge_id <> '';

CREATE TABLE sandbox_charges (
    id           TEXT    NOT NULL PRIMARY KEY,
    reference    TEXT    NOT NULL UNIQUE,
    amount_cents INTEGER NOT NULL CHECK (amount_cents > 0),
    description  TEXT    NOT NULL,
    payer_name   TEXT    NOT NULL,
    pix_code     TEXT    NOT NULL, -- empty in the redirect flow
    checkout_url TEXT    NOT NULL, -- empty in the pix flow
    return_url   TEXT    NOT NULL,
    secret       TEXT    NOT NULL, -- signs its callbacks
    cancelled_at INTEGER,
    expires_at   INTEGER NOT NULL,
    created_at   INTEGER NOT NULL
) STRICT;

CREATE TABLE sandbox_clock (
    id           INTEGER PRIMARY KEY CHECK (id = 1),
    created_at   INTEGER NOT NULL,
    ahead        INTEGER NOT NULL, -- how far the clock is ahead of the real one, while it runs
    stopped_at   INTEGER, -- where it stands during an advance; NULL: it runs
    moves        INTEGER NOT NULL, -- how often it was moved, so that a process knows which of two states is newer
    from_at      INTEGER, -- of the advance under way, or of the last one
    to_at        INTEGER,
    driver       TEXT    NOT NULL, -- lease of the process that does what is due; '': none
    driver_until INTEGER NOT NULL -- by the real clock
) STRICT;

CREATE TABLE sandbox_debits (
    charge_id        TEXT    NOT NULL PRIMARY KEY REFERENCES sandbox_charges (id),
    authorisation_id TEXT    NOT NULL REFERENCES sandbox_authorisations (id),
    attempt_on       TEXT    NOT NULL,
    attempts         INTEGER NOT NULL, -- that were made
    waiting          INTEGER NOT NULL CHECK (waiting IN (0, 1)) -- for the attempt of attempt_on
) STRICT;
CREATE INDEX sandbox_debits_authorisation ON sandbox_debits (authorisation_id);

CREATE TABLE sandbox_happened (
    company_id INTEGER NOT NULL,
    kind       TEXT    NOT NULL,
    amount     INTEGER NOT NULL,
    first      TEXT    NOT NULL, -- the first few, as "microseconds id" with commas between them
    PRIMARY KEY (company_id, kind)
) STRICT;

CREATE TABLE sandbox_payments (
    id           TEXT    NOT NULL PRIMARY KEY,
    charge_id    TEXT    NOT NULL REFERENCES sandbox_charges (id),
    amount_cents INTEGER NOT NULL CHECK (amount_cents > 0),
    paid_at      INTEGER NOT NULL
) STRICT;
CREATE INDEX sandbox_payments_charge ON sandbox_payments (charge_id);

CREATE TABLE secret_keys (
    key_id     TEXT    NOT NULL PRIMARY KEY,
    proof      TEXT    NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE sessions (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    company_id INTEGER NOT NULL REFERENCES companies (id),
    user_id    INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    hash       BLOB    NOT NULL UNIQUE,
    pending    INTEGER NOT NULL CHECK (pending IN (0, 1)), -- the password was right, the code is still to come
    address    TEXT    NOT NULL,
    agent      TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    seen_at    INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    proved_at  INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX sessions_expiry ON sessions (expires_at);
CREATE INDEX sessions_owner ON sessions (user_id);
CREATE INDEX sessions_user ON sessions (company_id, user_id, id);

CREATE TABLE setup_links (
    hash       BLOB    NOT NULL PRIMARY KEY,
    expires_at INTEGER NOT NULL
) STRICT;

CREATE TABLE signin_attempts (
    key      TEXT    NOT NULL PRIMARY KEY,
    began_at INTEGER NOT NULL,
    n        INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX signin_attempts_age ON signin_attempts (began_at);

CREATE TABLE signup_attempts (
    address TEXT    NOT NULL,
    hour    INTEGER NOT NULL,
    n       INTEGER NOT NULL,
    PRIMARY KEY (address, hour)
) STRICT, WITHOUT ROWID;
CREATE INDEX signup_attempts_hour ON signup_attempts (hour);

CREATE TABLE sqlite_sequence(name,seq);

CREATE TABLE statement_lines (
    company_id   INTEGER NOT NULL REFERENCES companies (id),
    line_on      TEXT    NOT NULL,
    amount_cents INTEGER NOT NULL CHECK (amount_cents > 0),
    occurrence   INTEGER NOT NULL CHECK (occurrence > 0),
    account      TEXT    NOT NULL, -- as the file has it; empty: it does not say
    bank_id      TEXT    NOT NULL,
    payment_id   INTEGER NOT NULL,
    created_at   INTEGER NOT NULL,
    PRIMARY KEY (company_id, line_on, amount_cents, occurrence),
    FOREIGN KEY (company_id, payment_id) REFERENCES payments (company_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX statement_lines_payment ON statement_lines (company_id, payment_id);

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

CREATE TABLE tally_deltas (
    id         INTEGER PRIMARY KEY,
    company_id INTEGER NOT NULL,
    book       TEXT    NOT NULL,
    day        TEXT    NOT NULL,
    plan_id    INTEGER NOT NULL,
    product_id INTEGER NOT NULL,
    state      TEXT    NOT NULL,
    n          INTEGER NOT NULL,
    cents      INTEGER NOT NULL
) STRICT;
CREATE INDEX tally_deltas_book ON tally_deltas (company_id, book, id);

CREATE TABLE tally_months (
    company_id INTEGER NOT NULL,
    book       TEXT    NOT NULL,
    month      TEXT    NOT NULL, -- YYYY-MM; '': records without a day
    plan_id    INTEGER NOT NULL,
    product_id INTEGER NOT NULL,
    state      TEXT    NOT NULL,
    n          INTEGER NOT NULL,
    cents      INTEGER NOT NULL,
    PRIMARY KEY (company_id, book, month, plan_id, product_id, state)
) STRICT, WITHOUT ROWID;
CREATE INDEX tally_months_empty ON tally_months (n, cents, company_id) WHERE n = 0 AND cents = 0;

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

CREATE TABLE tally_totals (
    company_id INTEGER NOT NULL,
    book       TEXT    NOT NULL,
    n          INTEGER NOT NULL,
    PRIMARY KEY (company_id, book)
) STRICT, WITHOUT ROWID;

CREATE TABLE user_mails (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    company_id INTEGER NOT NULL REFERENCES companies (id),
    address    TEXT    NOT NULL,
    content    TEXT    NOT NULL, -- a sealed JSON object
    attempts   INTEGER NOT NULL,
    run_at     INTEGER NOT NULL, -- when it is due; when its claim ends, while it has one
    created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX user_mails_due ON user_mails (run_at);

CREATE TABLE users (
    id                 INTEGER PRIMARY KEY AUTOINCREMENT,
    company_id         INTEGER NOT NULL REFERENCES companies (id),
    name               TEXT    NOT NULL,
    email              TEXT    NOT NULL,
    email_key          TEXT    NOT NULL UNIQUE,
    password_hash      TEXT    NOT NULL,
    role               TEXT    NOT NULL CHECK (role IN ('owner', 'staff', 'readonly')),
    created_at         INTEGER NOT NULL,
    updated_at         INTEGER NOT NULL,
    totp               TEXT    NOT NULL DEFAULT '',
    totp_pending       TEXT    NOT NULL DEFAULT '',
    totp_step          INTEGER NOT NULL DEFAULT 0, -- the last one used: no code works twice
    email_confirmed_at INTEGER NOT NULL DEFAULT 0,
    attendant          INTEGER NOT NULL DEFAULT 0 CHECK (attendant IN (0, 1))
) STRICT;
CREATE INDEX users_company ON users (company_id, id);

CREATE TABLE webhooks (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    company_id    INTEGER NOT NULL REFERENCES companies (id),
    url           TEXT    NOT NULL,
    description   TEXT    NOT NULL,
    events        TEXT    NOT NULL, -- names between commas: ,customer.created,invoice.paid,
    active        INTEGER NOT NULL CHECK (active IN (0, 1)),
    secret        TEXT    NOT NULL, -- sealed
    failures      INTEGER NOT NULL, -- failed attempts in a row
    disabled_at   INTEGER,
    notice        TEXT    NOT NULL, -- why it was switched off by itself
    created_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL,
    retry_refused INTEGER NOT NULL DEFAULT 0 CHECK (retry_refused IN (0, 1)), -- 4xx answers are retried, too
    old_secret    TEXT    NOT NULL DEFAULT '',
    old_until     INTEGER NOT NULL DEFAULT 0,
    UNIQUE (company_id, id)
) STRICT;
