-- The user who made a token; 0: the operator, or before this was stored.
ALTER TABLE api_tokens ADD COLUMN made_by BIGINT NOT NULL DEFAULT 0;
