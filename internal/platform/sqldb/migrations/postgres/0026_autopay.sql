-- PIX Automático: who has authorised that invoices are debited.
ALTER TABLE customers ADD COLUMN autopay TEXT NOT NULL DEFAULT 'none';

-- A debit is a charge that the payer's bank pays by itself.
ALTER TABLE charges ADD COLUMN authorisation_id BIGINT  NOT NULL DEFAULT 0; -- 0: a charge that a payer pays
ALTER TABLE charges ADD COLUMN debit_on         TEXT    NOT NULL DEFAULT ''; -- the day of the newest attempt that was asked for
ALTER TABLE charges ADD COLUMN debit_retries    BIGINT  NOT NULL DEFAULT 0;
ALTER TABLE charges ADD COLUMN debit_failure    TEXT    NOT NULL DEFAULT ''; -- why the newest attempt failed
CREATE INDEX charges_authorisation ON charges (company_id, authorisation_id, id) WHERE authorisation_id > 0;

-- What a payer was asked for at a gateway. As with a charge, the customer may be deleted while
-- the bank has still to hear of the end.
CREATE TABLE authorisations (
    id             BIGINT  GENERATED ALWAYS AS IDENTITY,
    company_id     BIGINT  NOT NULL REFERENCES companies (id),
    gateway_id     BIGINT  NOT NULL,
    provider       TEXT    NOT NULL,
    customer_id    BIGINT  NOT NULL,
    reference      TEXT    NOT NULL, -- ours, stored before the gateway is called
    gateway_ref    TEXT    NOT NULL, -- the gateway's id; empty while the making is unknown
    journey        TEXT    NOT NULL,
    account        TEXT    NOT NULL, -- where a request goes to, as JSON; empty: it is a code
    every          TEXT    NOT NULL,
    from_on        TEXT    NOT NULL,
    minimum_cents  BIGINT  NOT NULL,
    description    TEXT    NOT NULL,
    state          TEXT    NOT NULL CHECK (state IN ('reserved', 'asked', 'active', 'ending', 'ended')),
    pix_code       TEXT    NOT NULL,
    ended_by       TEXT    NOT NULL,
    reason         TEXT    NOT NULL, -- of the end, for people
    problem        TEXT    NOT NULL, -- what the last call about it failed with
    expires_at     BIGINT  NOT NULL, -- of the request
    active_at      BIGINT,
    ended_at       BIGINT,
    next_check_at  BIGINT,
    checks         BIGINT  NOT NULL,
    hinted_at      BIGINT  NOT NULL,
    claim          TEXT    NOT NULL,
    created_at     BIGINT  NOT NULL,
    updated_at     BIGINT  NOT NULL,
    PRIMARY KEY (company_id, id),
    FOREIGN KEY (company_id, gateway_id) REFERENCES gateways (company_id, id)
);
CREATE UNIQUE INDEX authorisations_id ON authorisations (id);
CREATE UNIQUE INDEX authorisations_reference ON authorisations (company_id, reference);
CREATE UNIQUE INDEX authorisations_live ON authorisations (company_id, customer_id) WHERE state IN ('reserved', 'asked', 'active');
CREATE INDEX authorisations_customer ON authorisations (company_id, customer_id, id);
CREATE INDEX authorisations_due ON authorisations (next_check_at) WHERE next_check_at IS NOT NULL;

CREATE TABLE authorisation_steps (
    id               BIGINT  GENERATED ALWAYS AS IDENTITY,
    company_id       BIGINT  NOT NULL,
    authorisation_id BIGINT  NOT NULL,
    state            TEXT    NOT NULL, -- as people see it: asked, active, ended
    made_by          TEXT    NOT NULL,
    reason           TEXT    NOT NULL,
    at               BIGINT  NOT NULL,
    PRIMARY KEY (company_id, id),
    FOREIGN KEY (company_id, authorisation_id) REFERENCES authorisations (company_id, id)
);
CREATE UNIQUE INDEX authorisation_steps_id ON authorisation_steps (id);
CREATE INDEX authorisation_steps_of ON authorisation_steps (company_id, authorisation_id, id);

-- Sandbox: begin.
CREATE TABLE sandbox_authorisations (
    id         TEXT    NOT NULL PRIMARY KEY,
    reference  TEXT    NOT NULL UNIQUE,
    pix_code   TEXT    NOT NULL,
    payer_name TEXT    NOT NULL,
    charge_id  TEXT    NOT NULL, -- whose payment authorises; empty: none does
    state      TEXT    NOT NULL,
    ended_by   TEXT    NOT NULL,
    fails      BIGINT  NOT NULL, -- so many attempts to come fail for want of money
    expires_at BIGINT  NOT NULL,
    active_at  BIGINT,
    ended_at   BIGINT,
    secret     TEXT    NOT NULL,
    created_at BIGINT  NOT NULL
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
-- Sandbox: end.
