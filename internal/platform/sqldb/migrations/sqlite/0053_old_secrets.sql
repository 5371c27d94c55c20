-- The secret before the last rotation, sealed as the current one, and until when
-- deliveries are signed with it too.
ALTER TABLE webhooks ADD COLUMN old_secret TEXT NOT NULL DEFAULT '';
ALTER TABLE webhooks ADD COLUMN old_until INTEGER NOT NULL DEFAULT 0;
ALTER TABLE callback_secrets ADD COLUMN old_secret TEXT NOT NULL DEFAULT '';
ALTER TABLE callback_secrets ADD COLUMN old_until INTEGER NOT NULL DEFAULT 0;
