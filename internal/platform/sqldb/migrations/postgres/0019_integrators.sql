-- Where an event is in its company's feed (GET /events). It is given after the commit of the event, by whoever reads the
-- feed first: ids are given before it, and transactions do not commit in the order of their ids.
ALTER TABLE events ADD COLUMN position BIGINT; -- NULL: none yet
CREATE UNIQUE INDEX events_position ON events (company_id, position) WHERE position IS NOT NULL;
CREATE INDEX events_unplaced ON events (company_id, id) WHERE position IS NULL;
CREATE INDEX events_since ON events (company_id, occurred_at, position) WHERE position IS NOT NULL;

CREATE TABLE event_feeds (
    company_id     BIGINT NOT NULL PRIMARY KEY REFERENCES companies (id),
    last_position  BIGINT NOT NULL, -- given so far
    floor_position BIGINT NOT NULL  -- the last one whose event was pruned; a reader before it has missed something
);

-- Positions of events that are no longer kept, for readers that stopped there.
CREATE TABLE event_marks (
    company_id BIGINT NOT NULL REFERENCES companies (id),
    event_id   TEXT   NOT NULL,
    position   BIGINT NOT NULL,
    PRIMARY KEY (company_id, event_id)
);

ALTER TABLE webhooks ADD COLUMN retry_refused BOOLEAN NOT NULL DEFAULT FALSE; -- 4xx answers are retried, too

ALTER TABLE api_tokens ADD COLUMN scope TEXT NOT NULL DEFAULT 'full' CHECK (scope IN ('full', 'read'));
ALTER TABLE api_tokens ADD COLUMN expires_at BIGINT; -- NULL: never
