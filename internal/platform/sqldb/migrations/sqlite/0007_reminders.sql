-- When a company's customers are left in peace.
CREATE TABLE reminder_settings (
    company_id INTEGER NOT NULL PRIMARY KEY REFERENCES companies (id),
    quiet_from INTEGER NOT NULL CHECK (quiet_from BETWEEN 0 AND 1439), -- minutes after midnight
    quiet_to   INTEGER NOT NULL CHECK (quiet_to BETWEEN 0 AND 1439),   -- the same as quiet_from: no quiet hours
    updated_at INTEGER NOT NULL
) STRICT;

-- How messages leave: a mail server, a WhatsApp number, the company's own sender.
CREATE TABLE reminder_channels (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    company_id INTEGER NOT NULL REFERENCES companies (id),
    kind       TEXT    NOT NULL,
    name       TEXT    NOT NULL,
    options    TEXT    NOT NULL, -- a JSON object
    secrets    TEXT    NOT NULL, -- a sealed JSON object
    active     INTEGER NOT NULL CHECK (active IN (0, 1)),
    per_minute INTEGER NOT NULL CHECK (per_minute >= 0), -- 0: as fast as it goes
    failures   INTEGER NOT NULL DEFAULT 0, -- attempts that failed since one succeeded
    problem    TEXT    NOT NULL DEFAULT '', -- what the last of them said
    problem_at INTEGER NOT NULL DEFAULT 0,
    next_at    INTEGER NOT NULL, -- before then nothing more is sent, whoever sends
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    UNIQUE (company_id, id)
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

CREATE TABLE reminder_rules (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    company_id  INTEGER NOT NULL REFERENCES companies (id),
    name        TEXT    NOT NULL,
    active      INTEGER NOT NULL CHECK (active IN (0, 1)),
    offset_days INTEGER NOT NULL CHECK (offset_days BETWEEN -60 AND 60), -- from the due date to the day of the message
    minute      INTEGER NOT NULL CHECK (minute BETWEEN 0 AND 1439),      -- of the company's day
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
    UNIQUE (company_id, id),
    FOREIGN KEY (company_id, template_id) REFERENCES reminder_templates (company_id, id)
) STRICT;
CREATE INDEX reminder_rules_due ON reminder_rules (plan_at) WHERE active;

-- One message to one customer about one due date. These rows are the queue.
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
    UNIQUE (company_id, id)
) STRICT;
-- Never two for one customer, rule and due date, however many plan them.
CREATE UNIQUE INDEX reminder_messages_once ON reminder_messages (company_id, customer_id, rule_id, due_on);
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

CREATE TABLE reminder_attempts (
    company_id  INTEGER NOT NULL,
    message_id  INTEGER NOT NULL,
    number      INTEGER NOT NULL,
    channel_id  INTEGER NOT NULL,
    kind        TEXT    NOT NULL,
    at          INTEGER NOT NULL,
    duration_ms INTEGER NOT NULL,
    outcome     TEXT    NOT NULL,
    problem     TEXT    NOT NULL,
    PRIMARY KEY (company_id, message_id, number),
    FOREIGN KEY (company_id, message_id) REFERENCES reminder_messages (company_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- Customers who want no messages.
CREATE TABLE reminder_optouts (
    company_id  INTEGER NOT NULL,
    customer_id INTEGER NOT NULL,
    created_at  INTEGER NOT NULL,
    PRIMARY KEY (company_id, customer_id),
    FOREIGN KEY (company_id, customer_id) REFERENCES customers (company_id, id)
) STRICT, WITHOUT ROWID;
