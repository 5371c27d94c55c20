CREATE TABLE webhooks (
    id          BIGINT  GENERATED ALWAYS AS IDENTITY,
    company_id  BIGINT  NOT NULL REFERENCES companies (id),
    url         TEXT    NOT NULL,
    description TEXT    NOT NULL,
    events      TEXT    NOT NULL, -- names between commas: ,customer.created,invoice.paid,
    active      BOOLEAN NOT NULL,
    secret      TEXT    NOT NULL, -- sealed
    failures    BIGINT  NOT NULL, -- failed attempts in a row
    disabled_at BIGINT,
    notice      TEXT    NOT NULL, -- why it was switched off by itself
    created_at  BIGINT  NOT NULL,
    updated_at  BIGINT  NOT NULL,
    PRIMARY KEY (company_id, id)
);

-- Signs the notifications of single invoices.
CREATE TABLE callback_secrets (
    company_id BIGINT  NOT NULL PRIMARY KEY REFERENCES companies (id),
    secret     TEXT    NOT NULL, -- sealed
    created_at BIGINT  NOT NULL
);

-- Who is to be told when an invoice is paid.
CREATE TABLE invoice_notifications (
    company_id BIGINT  NOT NULL,
    invoice_id BIGINT  NOT NULL,
    url        TEXT    NOT NULL,
    created_at BIGINT  NOT NULL,
    PRIMARY KEY (company_id, invoice_id, url),
    FOREIGN KEY (company_id, invoice_id) REFERENCES invoices (company_id, id) ON DELETE CASCADE
);

-- One event on its way to one receiver. These rows are the queue.
CREATE TABLE deliveries (
    id           BIGINT  GENERATED ALWAYS AS IDENTITY,
    company_id   BIGINT  NOT NULL REFERENCES companies (id),
    webhook_id   BIGINT,          -- null: the notification of a single invoice
    event_id     BIGINT  NOT NULL REFERENCES events (id),
    event        TEXT    NOT NULL,
    url          TEXT    NOT NULL, -- of a notification; a webhook's is read when sending
    lane         BIGINT  NOT NULL, -- the webhook's id; minus the company's for notifications
    status       TEXT    NOT NULL CHECK (status IN ('pending', 'delivered', 'failed', 'refused', 'parked')),
    test         BOOLEAN NOT NULL,
    attempts     BIGINT  NOT NULL, -- begun so far, so that no number is used twice
    step         BIGINT  NOT NULL, -- of the schedule of retries
    run_at       BIGINT  NOT NULL, -- when it is due; when its claim ends, while it has one
    claim        TEXT    NOT NULL, -- who is sending it; empty: nobody
    created_at   BIGINT  NOT NULL,
    delivered_at BIGINT,
    UNIQUE (company_id, event_id, lane, url),
    PRIMARY KEY (company_id, id),
    FOREIGN KEY (company_id, webhook_id) REFERENCES webhooks (company_id, id)
);
CREATE INDEX deliveries_first ON deliveries (lane, run_at, company_id) WHERE status = 'pending' AND step = 0;
CREATE INDEX deliveries_retry ON deliveries (lane, run_at, company_id) WHERE status = 'pending' AND step > 0;
CREATE INDEX deliveries_claimed ON deliveries (lane, run_at) WHERE claim <> '';
CREATE INDEX deliveries_parked ON deliveries (company_id, webhook_id) WHERE status = 'parked';
CREATE INDEX deliveries_history ON deliveries (company_id, webhook_id, id);
CREATE UNIQUE INDEX deliveries_id ON deliveries (id);
CREATE INDEX deliveries_age ON deliveries (created_at);

CREATE TABLE delivery_attempts (
    company_id      BIGINT  NOT NULL,
    delivery_id     BIGINT  NOT NULL,
    number          BIGINT  NOT NULL,
    at              BIGINT  NOT NULL,
    duration_ms     BIGINT  NOT NULL,
    response_status BIGINT  NOT NULL, -- 0: none
    response_body   TEXT    NOT NULL,
    error           TEXT    NOT NULL,
    PRIMARY KEY (company_id, delivery_id, number),
    FOREIGN KEY (company_id, delivery_id) REFERENCES deliveries (company_id, id) ON DELETE CASCADE
);

-- Sending again what happened since a time: a job that goes on after a crash.
CREATE TABLE replays (
    id          BIGINT  GENERATED ALWAYS AS IDENTITY,
    company_id  BIGINT  NOT NULL,
    webhook_id  BIGINT  NOT NULL,
    since       BIGINT  NOT NULL,
    cursor      BIGINT  NOT NULL, -- the last event looked at
    until       BIGINT  NOT NULL, -- the last event there was when it was asked for
    queued      BIGINT  NOT NULL,
    created_at  BIGINT  NOT NULL,
    finished_at BIGINT,
    PRIMARY KEY (company_id, id),
    FOREIGN KEY (company_id, webhook_id) REFERENCES webhooks (company_id, id)
);
CREATE INDEX replays_unfinished ON replays (company_id, id) WHERE finished_at IS NULL;

-- Events are kept as long as the history of their deliveries.
CREATE INDEX events_age ON events (occurred_at);
