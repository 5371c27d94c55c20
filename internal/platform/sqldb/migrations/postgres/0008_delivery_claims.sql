-- Who sends the deliveries of a lane, and which of them. A lane is one
-- process's at a time, which so can have several of them at hand. Rows are
-- changed often and in place, for which there is room on their pages.
CREATE TABLE delivery_lanes (
    lane    BIGINT PRIMARY KEY,
    token   TEXT   NOT NULL, -- of the hold; empty: nobody has it
    until   BIGINT NOT NULL, -- when the hold ends by itself
    sending TEXT   NOT NULL  -- the deliveries it is for, by their ids between commas: ,5,6,
) WITH (fillfactor = 20);

-- Claims are found by their lane, and what is old by its id: PostgreSQL writes
-- to every index of a row whose status changes.
DROP INDEX deliveries_claimed;
DROP INDEX deliveries_age;

-- The same without its foreign key, whose check is a query for each row: an
-- attempt is written together with its delivery, and removed after it.
ALTER TABLE delivery_attempts DROP CONSTRAINT delivery_attempts_company_id_delivery_id_fkey;

-- One index of the id is enough.
ALTER TABLE deliveries DROP CONSTRAINT deliveries_pkey;
ALTER TABLE deliveries ADD PRIMARY KEY USING INDEX deliveries_id;

-- A lane is found beside its webhook, whosever it is.
CREATE UNIQUE INDEX webhooks_id ON webhooks (id);
