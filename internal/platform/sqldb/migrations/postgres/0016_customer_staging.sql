-- The same table as on SQLite, where an import needs it. Here it stays as it is: an import is one transaction, which
-- keeps nobody else from writing.
CREATE TABLE customer_staging (
    id          BIGINT PRIMARY KEY CHECK (id = 1),
    phase       TEXT   NOT NULL CHECK (phase IN ('free', 'staging', 'discarding', 'settling')),
    company_id  BIGINT NOT NULL,
    hidden_from BIGINT NOT NULL,
    hidden_to   BIGINT NOT NULL,
    next_id     BIGINT NOT NULL,
    last_id     BIGINT NOT NULL,
    choices     TEXT   NOT NULL,
    lease       TEXT   NOT NULL,
    renewed_at  BIGINT NOT NULL
);
INSERT INTO customer_staging VALUES (1, 'free', 0, 0, -1, 0, -1, '{}', '', 0);
