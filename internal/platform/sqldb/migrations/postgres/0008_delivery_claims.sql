-- Who sends the deliveries of a lane, and which of them. A lane is one
-- process's at a time, which so can have several of them at hand. Rows are
-- changed often and in place, for which there is room on their pages.
CREATE TABLE delivery_lanes (
    lane    BIGINT PRIMARY KEY,
    token   TEXT   NOT NULL, -- of the hold; empty: nobody has it
    until   BIGINT NOT NULL, -- when the hold ends by itself
    sending TEXT   NOT NULL  -- the deliveries it is for, by their ids between commas: ,5,6,
) WITH (fillfactor = 20);

-- Claims are found by their lane.
DROP INDEX deliveries_claimed;

-- What can be removed with age: what is parked stays with its webhook, however
-- long, and is not looked at.
DROP INDEX deliveries_age;
CREATE INDEX deliveries_done ON deliveries (created_at) WHERE status NOT IN ('pending', 'parked');

-- A lane is found beside its webhook, whosever it is.
CREATE UNIQUE INDEX webhooks_id ON webhooks (id);
