-- A link by which a former address comes back names that address.
CREATE TABLE password_links_new (
    hash       BLOB    NOT NULL PRIMARY KEY,
    company_id INTEGER NOT NULL,
    user_id    INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    expires_at INTEGER NOT NULL,
    purpose    TEXT    NOT NULL DEFAULT 'password'
        CHECK (purpose IN ('password', 'invitation', 'reset', 'confirm', 'release', 'restore')),
    email      TEXT    NOT NULL DEFAULT '' -- of those of purpose restore
) STRICT;
INSERT INTO password_links_new (hash, company_id, user_id, expires_at, purpose)
    SELECT hash, company_id, user_id, expires_at, purpose FROM password_links;
DROP TABLE password_links;
ALTER TABLE password_links_new RENAME TO password_links;
CREATE INDEX password_links_user ON password_links (company_id, user_id);
CREATE INDEX password_links_owner ON password_links (user_id);
