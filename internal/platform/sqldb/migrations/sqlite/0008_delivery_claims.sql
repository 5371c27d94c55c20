-- Who sends the deliveries of a lane, and which of them. A lane is one
-- process's at a time, which so can have several of them at hand.
CREATE TABLE delivery_lanes (
    lane    INTEGER PRIMARY KEY,
    token   TEXT    NOT NULL, -- of the hold; empty: nobody has it
    until   INTEGER NOT NULL, -- when the hold ends by itself
    sending TEXT    NOT NULL  -- the deliveries it is for, by their ids between commas: ,5,6,
) STRICT;

-- Claims are found by their lane, and what is old by its id: every index less is
-- a page less to write for a delivery.
DROP INDEX deliveries_claimed;
DROP INDEX deliveries_age;

-- The same without its foreign key: an attempt is written together with its
-- delivery, and removed after it.
CREATE TABLE delivery_attempts_new (
    company_id      INTEGER NOT NULL,
    delivery_id     INTEGER NOT NULL,
    number          INTEGER NOT NULL,
    at              INTEGER NOT NULL,
    duration_ms     INTEGER NOT NULL,
    response_status INTEGER NOT NULL, -- 0: none
    response_body   TEXT    NOT NULL,
    error           TEXT    NOT NULL,
    PRIMARY KEY (company_id, delivery_id, number)
) STRICT, WITHOUT ROWID;
INSERT INTO delivery_attempts_new SELECT * FROM delivery_attempts;
DROP TABLE delivery_attempts;
ALTER TABLE delivery_attempts_new RENAME TO delivery_attempts;
