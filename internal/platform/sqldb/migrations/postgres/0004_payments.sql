-- Nothing yet.

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
-- Sandbox: end.
