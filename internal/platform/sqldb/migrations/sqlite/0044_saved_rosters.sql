-- What searches of a large company are filtered by and sorted by, as a process last knew it (customer/roster_saved.go), so that the
-- next one need not read all customers. No names are in it.
CREATE TABLE saved_rosters (
    company_id INTEGER NOT NULL,
    part       INTEGER NOT NULL, -- 0: what is said of all others
    saving     INTEGER NOT NULL, -- all parts of one roster have the same
    data       BLOB    NOT NULL,
    PRIMARY KEY (company_id, part)
) STRICT;
