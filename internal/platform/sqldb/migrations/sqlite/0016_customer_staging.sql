-- The one import that writes its customers a few at a time, hidden until all are there. SQLite has one writer,
-- which an import in one transaction would keep from everybody else.
CREATE TABLE customer_staging (
    id          INTEGER PRIMARY KEY CHECK (id = 1),
    phase       TEXT    NOT NULL CHECK (phase IN ('free', 'staging', 'discarding', 'settling')),
    company_id  INTEGER NOT NULL, -- 0: none
    hidden_from INTEGER NOT NULL, -- the ids that nobody sees; from 0 to -1: none
    hidden_to   INTEGER NOT NULL,
    next_id     INTEGER NOT NULL, -- the first customer whose consequences are not drawn
    last_id     INTEGER NOT NULL,
    choices     TEXT    NOT NULL, -- a JSON object: what was asked for, and which plans and products were made
    lease       TEXT    NOT NULL, -- of the process that is at it
    renewed_at  INTEGER NOT NULL
) STRICT;
INSERT INTO customer_staging VALUES (1, 'free', 0, 0, -1, 0, -1, '{}', '', 0);
