-- What searches of a large company are filtered by and sorted by, as a process last knew it (customer/roster_saved.go), so that the
-- next one need not read all customers. No names are in it.
CREATE TABLE saved_rosters (
    company_id BIGINT NOT NULL,
    part       BIGINT NOT NULL, -- 0: what is said of all others
    saving     BIGINT NOT NULL, -- all parts of one roster have the same
    data       BYTEA  NOT NULL,
    PRIMARY KEY (company_id, part)
);
ALTER TABLE saved_rosters ALTER COLUMN data SET STORAGE EXTERNAL;
