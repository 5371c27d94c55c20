-- Who is signed in. Only a hash of what the browser holds is kept.
CREATE TABLE sessions (
    id         BIGINT  GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    company_id BIGINT  NOT NULL REFERENCES companies (id),
    user_id    BIGINT  NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    hash       BYTEA   NOT NULL UNIQUE,
    pending    BOOLEAN NOT NULL, -- the password was right, the code is still to come
    address    TEXT    NOT NULL,
    agent      TEXT    NOT NULL,
    created_at BIGINT  NOT NULL,
    seen_at    BIGINT  NOT NULL,
    expires_at BIGINT  NOT NULL
);
CREATE INDEX sessions_user ON sessions (company_id, user_id, id);
CREATE INDEX sessions_expiry ON sessions (expires_at);
CREATE INDEX sessions_owner ON sessions (user_id);

-- The second factor. totp is sealed and empty while it is off; totp_pending waits for its first code.
ALTER TABLE users ADD COLUMN totp TEXT NOT NULL DEFAULT '';
ALTER TABLE users ADD COLUMN totp_pending TEXT NOT NULL DEFAULT '';
ALTER TABLE users ADD COLUMN totp_step BIGINT NOT NULL DEFAULT 0; -- the last one used: no code works twice

CREATE TABLE recovery_codes (
    company_id BIGINT  NOT NULL,
    user_id    BIGINT  NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    hash       BYTEA   NOT NULL,
    PRIMARY KEY (company_id, user_id, hash)
);
CREATE INDEX recovery_codes_user ON recovery_codes (user_id);

-- Lets a user set a password, once.
CREATE TABLE password_links (
    hash       BYTEA   NOT NULL PRIMARY KEY,
    company_id BIGINT  NOT NULL,
    user_id    BIGINT  NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    expires_at BIGINT  NOT NULL
);
CREATE INDEX password_links_user ON password_links (company_id, user_id);
CREATE INDEX password_links_owner ON password_links (user_id);

-- Lets somebody make the first company, once.
CREATE TABLE setup_links (
    hash       BYTEA   NOT NULL PRIMARY KEY,
    expires_at BIGINT  NOT NULL
);

-- Attempts to sign in that have not succeeded, by what they are counted by, in a window that begins with the first.
CREATE TABLE signin_attempts (
    key      TEXT    NOT NULL PRIMARY KEY,
    began_at BIGINT  NOT NULL,
    n        BIGINT  NOT NULL
);
CREATE INDEX signin_attempts_age ON signin_attempts (began_at);

-- Who did what. Rows are added, and removed by age; never changed.
CREATE TABLE audit_log (
    id         BIGINT  GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    company_id BIGINT  NOT NULL REFERENCES companies (id),
    at         BIGINT  NOT NULL,
    user_id    BIGINT,
    token_id   BIGINT,
    who        TEXT    NOT NULL, -- as the name was then
    address    TEXT    NOT NULL,
    action     TEXT    NOT NULL,
    record     TEXT    NOT NULL, -- what kind
    record_id  BIGINT  NOT NULL,
    name       TEXT    NOT NULL, -- of the record, as it was then
    changes    TEXT    NOT NULL  -- JSON: {"field":["before","after"]}
);
CREATE INDEX audit_log_company ON audit_log (company_id, id);
CREATE INDEX audit_log_record ON audit_log (company_id, record, record_id, id);
CREATE INDEX audit_log_age ON audit_log (at);
CREATE FUNCTION audit_log_unchanged() RETURNS trigger AS $$
BEGIN
    RAISE EXCEPTION 'the audit log is only ever added to';
END $$ LANGUAGE plpgsql;
CREATE TRIGGER audit_log_unchanged BEFORE UPDATE ON audit_log FOR EACH ROW EXECUTE FUNCTION audit_log_unchanged();

-- A file of customers on its way in: uploaded, its columns named, checked, imported. Removed after a few days.
CREATE TABLE customer_uploads (
    id         BIGINT  GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    company_id BIGINT  NOT NULL REFERENCES companies (id),
    name       TEXT    NOT NULL, -- of the file
    content    BYTEA   NOT NULL,
    choices    TEXT    NOT NULL, -- JSON: columns and options
    state      TEXT    NOT NULL CHECK (state IN ('new', 'running', 'done', 'failed')),
    outcome    TEXT    NOT NULL, -- JSON: what became of it
    created_at BIGINT  NOT NULL,
    updated_at BIGINT  NOT NULL
);
CREATE INDEX customer_uploads_company ON customer_uploads (company_id, id);
CREATE INDEX customer_uploads_age ON customer_uploads (created_at);
