-- When a company's customers are left in peace.
CREATE TABLE reminder_settings (
    company_id BIGINT  NOT NULL PRIMARY KEY REFERENCES companies (id),
    quiet_from BIGINT  NOT NULL CHECK (quiet_from BETWEEN 0 AND 1439), -- minutes after midnight
    quiet_to   BIGINT  NOT NULL CHECK (quiet_to BETWEEN 0 AND 1439),   -- the same as quiet_from: no quiet hours
    updated_at BIGINT  NOT NULL
);

-- How messages leave: a mail server, a WhatsApp number, the company's own sender.
CREATE TABLE reminder_channels (
    id         BIGINT  GENERATED ALWAYS AS IDENTITY,
    company_id BIGINT  NOT NULL REFERENCES companies (id),
    kind       TEXT    NOT NULL,
    name       TEXT    NOT NULL,
    options    TEXT    NOT NULL, -- a JSON object
    secrets    TEXT    NOT NULL, -- a sealed JSON object
    active     BOOLEAN NOT NULL,
    per_minute BIGINT  NOT NULL CHECK (per_minute >= 0), -- 0: as fast as it goes
    failures   BIGINT  NOT NULL DEFAULT 0, -- attempts that failed since one succeeded
    problem    TEXT    NOT NULL DEFAULT '', -- what the last of them said
    problem_at BIGINT  NOT NULL DEFAULT 0,
    next_at    BIGINT  NOT NULL, -- before then nothing more is sent, whoever sends
    created_at BIGINT  NOT NULL,
    updated_at BIGINT  NOT NULL,
    PRIMARY KEY (company_id, id)
);

CREATE TABLE reminder_templates (
    id                BIGINT  GENERATED ALWAYS AS IDENTITY,
    company_id        BIGINT  NOT NULL REFERENCES companies (id),
    name              TEXT    NOT NULL,
    subject           TEXT    NOT NULL,
    body              TEXT    NOT NULL,
    whatsapp_name     TEXT    NOT NULL, -- of the template that Meta approved
    whatsapp_language TEXT    NOT NULL,
    whatsapp_params   TEXT    NOT NULL, -- a JSON list of texts
    created_at        BIGINT  NOT NULL,
    updated_at        BIGINT  NOT NULL,
    PRIMARY KEY (company_id, id)
);

CREATE TABLE reminder_rules (
    id          BIGINT  GENERATED ALWAYS AS IDENTITY,
    company_id  BIGINT  NOT NULL REFERENCES companies (id),
    name        TEXT    NOT NULL,
    active      BOOLEAN NOT NULL,
    offset_days BIGINT  NOT NULL CHECK (offset_days BETWEEN -60 AND 60), -- from the due date to the day of the message
    minute      BIGINT  NOT NULL CHECK (minute BETWEEN 0 AND 1439),      -- of the company's day
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
    PRIMARY KEY (company_id, id)
);
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
    company_id  BIGINT  NOT NULL,
    message_id  BIGINT  NOT NULL,
    number      BIGINT  NOT NULL,
    channel_id  BIGINT  NOT NULL,
    kind        TEXT    NOT NULL,
    at          BIGINT  NOT NULL,
    duration_ms BIGINT  NOT NULL,
    outcome     TEXT    NOT NULL,
    problem     TEXT    NOT NULL,
    PRIMARY KEY (company_id, message_id, number),
    FOREIGN KEY (company_id, message_id) REFERENCES reminder_messages (company_id, id) ON DELETE CASCADE
);

-- Customers who want no messages.
CREATE TABLE reminder_optouts (
    company_id  BIGINT  NOT NULL,
    customer_id BIGINT  NOT NULL,
    created_at  BIGINT  NOT NULL,
    PRIMARY KEY (company_id, customer_id),
    FOREIGN KEY (company_id, customer_id) REFERENCES customers (company_id, id)
);
