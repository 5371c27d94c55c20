-- When a user of a session last proved to be who they are, by password or code.
ALTER TABLE sessions ADD COLUMN proved_at INTEGER NOT NULL DEFAULT 0;

-- When an address was confirmed by a link sent to it; 0: never.
ALTER TABLE users ADD COLUMN email_confirmed_at INTEGER NOT NULL DEFAULT 0;

-- What a link is for: a new password (of a colleague, an invitation from above, or by e-mail), an address to confirm, or one to release.
ALTER TABLE password_links ADD COLUMN purpose TEXT NOT NULL DEFAULT 'password'
    CHECK (purpose IN ('password', 'invitation', 'reset', 'confirm', 'release'));

-- A browser in which a user has signed in before. Only a hash of what it holds is kept.
CREATE TABLE known_devices (
    company_id INTEGER NOT NULL REFERENCES companies (id),
    user_id    INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    hash       BLOB    NOT NULL,
    seen_at    INTEGER NOT NULL,
    PRIMARY KEY (company_id, user_id, hash)
) STRICT, WITHOUT ROWID;
CREATE INDEX known_devices_user ON known_devices (user_id);
CREATE INDEX known_devices_age ON known_devices (seen_at);

-- Mail to users that waits to be sent. Its words are sealed: some hold a link.
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

-- The standing of the companies above: since when one of them is suspended, and the earliest of their last days.
ALTER TABLE companies ADD COLUMN above_suspended_at INTEGER;
ALTER TABLE companies ADD COLUMN above_expires_on TEXT;
WITH RECURSIVE down (id, suspended_at, expires_on, own_suspended_at, own_expires_on) AS (
    SELECT id, NULL, NULL, suspended_at, expires_on FROM companies WHERE parent_id IS NULL
    UNION ALL
    SELECT c.id, COALESCE(min(d.suspended_at, d.own_suspended_at), d.suspended_at, d.own_suspended_at),
        COALESCE(min(d.expires_on, d.own_expires_on), d.expires_on, d.own_expires_on), c.suspended_at, c.expires_on
    FROM companies c JOIN down d ON c.parent_id = d.id
)
UPDATE companies SET above_suspended_at = d.suspended_at, above_expires_on = d.expires_on FROM down d WHERE d.id = companies.id;

-- Made by a stranger through a signup link, and not paid for yet.
ALTER TABLE companies ADD COLUMN anonymous INTEGER NOT NULL DEFAULT 0 CHECK (anonymous IN (0, 1));

-- A line of the audit log may lose what it says of a person who is erased, and nothing else may change.
DROP TRIGGER audit_log_unchanged;
CREATE TRIGGER audit_log_unchanged BEFORE UPDATE ON audit_log
WHEN NOT (NEW.name = '' AND NEW.changes = '{}'
    AND (NEW.id, NEW.company_id, NEW.at, NEW.who, NEW.address, NEW.action, NEW.record, NEW.record_id)
    IS (OLD.id, OLD.company_id, OLD.at, OLD.who, OLD.address, OLD.action, OLD.record, OLD.record_id)
    AND NEW.user_id IS OLD.user_id AND NEW.token_id IS OLD.token_id)
BEGIN
    SELECT RAISE(ABORT, 'the audit log is only ever added to');
END;
