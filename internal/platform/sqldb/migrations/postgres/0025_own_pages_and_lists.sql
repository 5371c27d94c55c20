-- The customer's own page, open to who has its code until the company withdraws it.
CREATE TABLE customer_pages (
    company_id  BIGINT NOT NULL,
    customer_id BIGINT NOT NULL,
    code        TEXT    NOT NULL,
    created_at  BIGINT NOT NULL,
    PRIMARY KEY (company_id, customer_id),
    FOREIGN KEY (company_id, customer_id) REFERENCES customers (company_id, id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX customer_pages_code ON customer_pages (code);

-- The company's face on the pages that its customers see.
ALTER TABLE companies ADD COLUMN color TEXT NOT NULL DEFAULT ''; -- as #05694b; '': the house's
ALTER TABLE companies ADD COLUMN logo  TEXT NOT NULL DEFAULT ''; -- the version of its picture; '': none
CREATE TABLE company_logos (
    company_id BIGINT NOT NULL PRIMARY KEY REFERENCES companies (id),
    version    TEXT    NOT NULL,
    content    BYTEA   NOT NULL -- PNG, as the program encoded it
);
CREATE INDEX company_logos_version ON company_logos (version);

-- An attendant is staff who sees no totals, exports nothing and deletes nothing.
ALTER TABLE users ADD COLUMN attendant BOOLEAN NOT NULL DEFAULT FALSE;

-- Lists that are asked for by their days.
DROP INDEX audit_log_company;
CREATE INDEX audit_log_when ON audit_log (company_id, at, id);
CREATE INDEX credit_entries_when ON credit_entries (company_id, created_at, id, amount);
CREATE INDEX credit_entries_kind ON credit_entries (company_id, kind, created_at, id, amount);
CREATE INDEX reminder_messages_day ON reminder_messages (company_id, due_on, id);
