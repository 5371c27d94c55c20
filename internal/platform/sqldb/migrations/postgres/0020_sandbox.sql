-- The one row of a sandbox, whose clock can be moved forward; a real installation has none. Times are microseconds.
CREATE TABLE sandbox_clock (
    id           BIGINT PRIMARY KEY CHECK (id = 1),
    created_at   BIGINT NOT NULL,
    ahead        BIGINT NOT NULL, -- how far the clock is ahead of the real one, while it runs
    stopped_at   BIGINT,          -- where it stands during an advance; NULL: it runs
    moves        BIGINT NOT NULL, -- how often it was moved, so that a process knows which of two states is newer
    from_at      BIGINT,          -- of the advance under way, or of the last one
    to_at        BIGINT,
    driver       TEXT NOT NULL,    -- lease of the process that does what is due; '': none
    driver_until BIGINT NOT NULL  -- by the real clock
);

-- What the advance under way has brought so far, or the last one, counted in the transactions in which it happened.
CREATE TABLE sandbox_happened (
    company_id BIGINT NOT NULL,
    kind       TEXT NOT NULL,
    amount     BIGINT NOT NULL,
    first      TEXT NOT NULL, -- the first few, as "microseconds id" with commas between them
    PRIMARY KEY (company_id, kind)
);
