CREATE TABLE webhooks (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    company_id  INTEGER NOT NULL REFERENCES companies (id),
    url         TEXT    NOT NULL,
    description TEXT    NOT NULL,
    events      TEXT    NOT NULL, -- names between commas: ,customer.created,invoice.paid,
    active      INTEGER NOT NULL CHECK (active IN (0, 1)),
    secret      TEXT    NOT NULL, -- sealed
    failures    INTEGER NOT NULL, -- failed attempts in a row
    disabled_at INTEGER,
    notice      TEXT    NOT NULL, -- why it was switched off by itself
    created_at  INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL,
    UNIQUE (company_id, id)
) STRICT;

-- Signs the notifications of single invoices.
CREATE TABLE callback_secrets (
    company_id INTEGER NOT NULL PRIMARY KEY REFERENCES companies (id),
    secret     TEXT    NOT NULL, -- sealed
    created_at INTEGER NOT NULL
) STRICT;

-- Who is to be told when an invoice is paid.
CREATE TABLE invoice_notifications (
    company_id INTEGER NOT NULL,
    invoice_id INTEGER NOT NULL,
    url        TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (company_id, invoice_id, url),
    FOREIGN KEY (company_id, invoice_id) REFERENCES invoices (company_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- One event on its way to one receiver. These rows are the queue.
CREATE TABLE deliveries (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    company_id   INTEGER NOT NULL REFERENCES companies (id),
    webhook_id   INTEGER,          -- null: the notification of a single invoice
    event_id     INTEGER NOT NULL REFERENCES events (id),
    event        TEXT    NOT NULL,
    url          TEXT    NOT NULL, -- of a notification; a webhook's is read when sending
    lane         INTEGER NOT NULL, -- the webhook's id; minus the company's for notifications
    status       TEXT    NOT NULL CHECK (status IN ('pending', 'delivered', 'failed', 'refused', 'parked')),
    test         INTEGER NOT NULL CHECK (test IN (0, 1)),
    attempts     INTEGER NOT NULL, -- begun so far, so that no number is used twice
    step         INTEGER NOT NULL, -- of the schedule of retries
    run_at       INTEGER NOT NULL, -- when it is due; when its claim ends, while it has one
    claim        TEXT    NOT NULL, -- who is sending it; empty: nobody
    created_at   INTEGER NOT NULL,
    delivered_at INTEGER,
    UNIQUE (company_id, event_id, lane, url),
    UNIQUE (company_id, id),
    FOREIGN KEY (company_id, webhook_id) REFERENCES webhooks (company_id, id)
) STRICT;
CREATE INDEX deliveries_first ON deliveries (lane, run_at, company_id) WHERE status = 'pending' AND step = 0;
CREATE INDEX deliveries_retry ON deliveries (lane, run_at, company_id) WHERE status = 'pending' AND step > 0;
CREATE INDEX deliveries_claimed ON deliveries (lane, run_at) WHERE claim <> '';
CREATE INDEX deliveries_parked ON deliveries (company_id, webhook_id) WHERE status = 'parked';
CREATE INDEX deliveries_history ON deliveries (company_id, webhook_id, id);
CREATE INDEX deliveries_age ON deliveries (created_at);

CREATE TABLE delivery_attempts (
    company_id      INTEGER NOT NULL,
    delivery_id     INTEGER NOT NULL,
    number          INTEGER NOT NULL,
    at              INTEGER NOT NULL,
    duration_ms     INTEGER NOT NULL,
    response_status INTEGER NOT NULL, -- 0: none
    response_body   TEXT    NOT NULL,
    error           TEXT    NOT NULL,
    PRIMARY KEY (company_id, delivery_id, number),
    FOREIGN KEY (company_id, delivery_id) REFERENCES deliveries (company_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- Sending again what happened since a time: a job that goes on after a crash.
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

-- Events are kept as long as the history of their deliveries.
CREATE INDEX events_age ON events (occurred_at);
