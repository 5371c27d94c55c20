-- A link by which a former address comes back names that address.
ALTER TABLE password_links ADD COLUMN email TEXT NOT NULL DEFAULT ''; -- of those of purpose restore
ALTER TABLE password_links DROP CONSTRAINT password_links_purpose_check;
ALTER TABLE password_links ADD CONSTRAINT password_links_purpose_check
    CHECK (purpose IN ('password', 'invitation', 'reset', 'confirm', 'release', 'restore'));
