-- What a company told of a payment gateway. One row per provider it ever chose,
-- so that charges made there can be asked after when it has chosen another.
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

-- The page where an invoice is paid, whatever charges it has had.
CREATE TABLE pay_links (
    company_id INTEGER NOT NULL,
    invoice_id INTEGER NOT NULL,
    code       TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (company_id, invoice_id),
    FOREIGN KEY (company_id, invoice_id) REFERENCES invoices (company_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX pay_links_code ON pay_links (code);

-- What was asked of a gateway for an invoice. Invoice and customer may be deleted
-- while money is on its way, so nothing here refers to them: what a person needs
-- to know of them is copied.
CREATE TABLE charges (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    company_id    INTEGER NOT NULL REFERENCES companies (id),
    gateway_id    INTEGER NOT NULL,
    provider      TEXT    NOT NULL,
    invoice_id    INTEGER NOT NULL,
    customer_id   INTEGER NOT NULL,
    customer_name TEXT    NOT NULL,
    reference     TEXT    NOT NULL, -- ours, stored before the gateway is called
    gateway_ref   TEXT    NOT NULL, -- the gateway's id; empty while the making is unknown
    amount_cents  INTEGER NOT NULL CHECK (amount_cents > 0),
    state         TEXT    NOT NULL CHECK (state IN ('reserved', 'pending', 'cancelling', 'paid', 'cancelled', 'expired', 'refused')),
    pix_code      TEXT    NOT NULL,
    checkout_url  TEXT    NOT NULL,
    problem       TEXT    NOT NULL, -- what the last call about it failed with
    expires_at    INTEGER NOT NULL,
    closed_at     INTEGER,
    next_check_at INTEGER,          -- when somebody must look after it; when its claim ends, while it has one
    checks        INTEGER NOT NULL, -- since it got into its state
    hinted_at     INTEGER NOT NULL, -- a callback asked to look; 0: none since the last look
    claim         TEXT    NOT NULL, -- who is dealing with the gateway about it; empty: nobody
    created_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL,
    UNIQUE (company_id, id),
    FOREIGN KEY (company_id, gateway_id) REFERENCES gateways (company_id, id)
) STRICT;
-- One that could be paid per invoice, however many ask for it at once.
CREATE UNIQUE INDEX charges_live ON charges (company_id, invoice_id) WHERE state IN ('reserved', 'pending');
CREATE UNIQUE INDEX charges_reference ON charges (reference);
CREATE INDEX charges_invoice ON charges (company_id, invoice_id, id);
CREATE INDEX charges_gateway ON charges (company_id, gateway_id, gateway_ref);
CREATE INDEX charges_due ON charges (next_check_at) WHERE next_check_at IS NOT NULL;
CREATE INDEX charges_claimed ON charges (gateway_id, next_check_at) WHERE claim <> '';
CREATE INDEX charges_reserved ON charges (created_at) WHERE state = 'reserved';

-- Money that came. Never deleted, and never twice.
CREATE TABLE payments (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    company_id    INTEGER NOT NULL REFERENCES companies (id),
    charge_id     INTEGER NOT NULL,
    provider      TEXT    NOT NULL,
    payment_id    TEXT    NOT NULL, -- the gateway's, or the end-to-end id
    invoice_id    INTEGER NOT NULL,
    customer_id   INTEGER NOT NULL,
    customer_name TEXT    NOT NULL,
    amount_cents  INTEGER NOT NULL,
    currency      TEXT    NOT NULL,
    paid_at       INTEGER NOT NULL,
    refunded      INTEGER NOT NULL CHECK (refunded IN (0, 1)),
    applied       INTEGER NOT NULL CHECK (applied IN (0, 1)), -- it paid the invoice
    confirmed_by  TEXT    NOT NULL, -- who, where a person did; empty: the gateway
    created_at    INTEGER NOT NULL,
    UNIQUE (company_id, id),
    UNIQUE (company_id, provider, payment_id),
    FOREIGN KEY (company_id, charge_id) REFERENCES charges (company_id, id)
) STRICT;
CREATE INDEX payments_invoice ON payments (company_id, invoice_id, id);

-- What a person has to decide: money that came and does not fit.
CREATE TABLE payment_reviews (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    company_id  INTEGER NOT NULL REFERENCES companies (id),
    payment_id  INTEGER NOT NULL,
    reason      TEXT    NOT NULL,
    created_at  INTEGER NOT NULL,
    resolved_at INTEGER,
    resolution  TEXT    NOT NULL, -- applied or dismissed; empty while it is open
    resolved_by TEXT    NOT NULL,
    note        TEXT    NOT NULL,
    UNIQUE (company_id, id),
    UNIQUE (company_id, payment_id, reason),
    FOREIGN KEY (company_id, payment_id) REFERENCES payments (company_id, id)
) STRICT;
CREATE INDEX payment_reviews_open ON payment_reviews (company_id, id) WHERE resolved_at IS NULL;

-- Callbacks as they came. They are hints: the charge is looked up all the same.
CREATE TABLE gateway_callbacks (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    company_id  INTEGER NOT NULL REFERENCES companies (id),
    gateway_id  INTEGER NOT NULL,
    event_key   TEXT    NOT NULL, -- the gateway's event id, or a hash of what came
    body        BLOB NOT NULL,
    hints       TEXT    NOT NULL, -- charges that we do not know by what it says; empty: none
    seen        INTEGER NOT NULL, -- how often it came
    next_try_at INTEGER,          -- when its hints are looked into
    tries       INTEGER NOT NULL,
    created_at  INTEGER NOT NULL,
    UNIQUE (company_id, id),
    UNIQUE (company_id, gateway_id, event_key),
    FOREIGN KEY (company_id, gateway_id) REFERENCES gateways (company_id, id)
) STRICT;
CREATE INDEX gateway_callbacks_due ON gateway_callbacks (next_try_at) WHERE next_try_at IS NOT NULL;
CREATE INDEX gateway_callbacks_age ON gateway_callbacks (created_at);

-- Sandbox: begin. What the simulated gateway knows; no company's table, since a
-- provider is outside the house and is asked by ids that nobody can guess.
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
CREATE TABLE sandbox_payments (
    id           TEXT    NOT NULL PRIMARY KEY,
    charge_id    TEXT    NOT NULL REFERENCES sandbox_charges (id),
    amount_cents INTEGER NOT NULL CHECK (amount_cents > 0),
    paid_at      INTEGER NOT NULL
) STRICT;
CREATE INDEX sandbox_payments_charge ON sandbox_payments (charge_id);
-- Sandbox: end.
