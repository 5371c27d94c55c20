-- When a user of a session last proved to be who they are, by password or code.
ALTER TABLE sessions ADD COLUMN proved_at BIGINT NOT NULL DEFAULT 0;

-- When an address was confirmed by a link sent to it; 0: never.
ALTER TABLE users ADD COLUMN email_confirmed_at BIGINT NOT NULL DEFAULT 0;

-- What a link is for: a new password (of a colleague, an invitation from above, or by e-mail), an address to confirm, or one to release.
ALTER TABLE password_links ADD COLUMN purpose TEXT NOT NULL DEFAULT 'password'
    CHECK (purpose IN ('password', 'invitation', 'reset', 'confirm', 'release'));

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

-- The standing of the companies above: since when one of them is suspended, and the earliest of their last days.
ALTER TABLE companies ADD COLUMN above_suspended_at BIGINT;
ALTER TABLE companies ADD COLUMN above_expires_on TEXT COLLATE "C";
WITH RECURSIVE down (id, suspended_at, expires_on, own_suspended_at, own_expires_on) AS (
    SELECT id, CAST(NULL AS BIGINT), CAST(NULL AS TEXT) COLLATE "C", suspended_at, expires_on FROM companies WHERE parent_id IS NULL
    UNION ALL
    SELECT c.id, LEAST(d.suspended_at, d.own_suspended_at), LEAST(d.expires_on, d.own_expires_on), c.suspended_at, c.expires_on
    FROM companies c JOIN down d ON c.parent_id = d.id
)
UPDATE companies SET above_suspended_at = d.suspended_at, above_expires_on = d.expires_on FROM down d WHERE d.id = companies.id;

-- Made by a stranger through a signup link, and not paid for yet.
ALTER TABLE companies ADD COLUMN anonymous BOOLEAN NOT NULL DEFAULT false;

-- A line of the audit log may lose what it says of a person who is erased, and nothing else may change.
DROP TRIGGER audit_log_unchanged ON audit_log;
CREATE OR REPLACE FUNCTION audit_log_unchanged() RETURNS trigger AS $$
BEGIN
    IF NEW.name = '' AND NEW.changes = '{}'
        AND (NEW.id, NEW.company_id, NEW.at, NEW.user_id, NEW.token_id, NEW.who, NEW.address, NEW.action, NEW.record, NEW.record_id)
        IS NOT DISTINCT FROM (OLD.id, OLD.company_id, OLD.at, OLD.user_id, OLD.token_id, OLD.who, OLD.address, OLD.action, OLD.record, OLD.record_id)
    THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'the audit log is only ever added to';
END $$ LANGUAGE plpgsql;
CREATE TRIGGER audit_log_unchanged BEFORE UPDATE ON audit_log FOR EACH ROW EXECUTE FUNCTION audit_log_unchanged();
