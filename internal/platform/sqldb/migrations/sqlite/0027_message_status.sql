-- Where a carrier tells what became of the messages that it has taken.
ALTER TABLE reminder_channels ADD COLUMN callback_key TEXT    NOT NULL DEFAULT ''; -- in the address that it calls
ALTER TABLE reminder_channels ADD COLUMN verify_token TEXT    NOT NULL DEFAULT ''; -- by which it knows that the address is ours
ALTER TABLE reminder_channels ADD COLUMN heard_at     INTEGER NOT NULL DEFAULT 0;  -- when it last called; 0: never
UPDATE reminder_channels SET callback_key = lower(hex(randomblob(16))), verify_token = lower(hex(randomblob(16)));
CREATE UNIQUE INDEX reminder_channels_callback ON reminder_channels (callback_key) WHERE callback_key <> '';

-- What the carrier reported of the attempt that counts, and when that was.
ALTER TABLE reminder_messages ADD COLUMN arrival    TEXT    NOT NULL DEFAULT '' CHECK (arrival IN ('', 'sent', 'failed', 'delivered', 'read'));
ALTER TABLE reminder_messages ADD COLUMN arrival_at INTEGER NOT NULL DEFAULT 0;
CREATE INDEX reminder_messages_arrival ON reminder_messages (company_id, arrival, id) WHERE arrival <> '';

-- The same for each attempt, which a carrier knows by its receipt.
ALTER TABLE reminder_attempts ADD COLUMN receipt         TEXT    NOT NULL DEFAULT '';
ALTER TABLE reminder_attempts ADD COLUMN arrival         TEXT    NOT NULL DEFAULT '' CHECK (arrival IN ('', 'sent', 'failed', 'delivered', 'read'));
ALTER TABLE reminder_attempts ADD COLUMN arrival_at      INTEGER NOT NULL DEFAULT 0;
ALTER TABLE reminder_attempts ADD COLUMN arrival_problem TEXT    NOT NULL DEFAULT '';
UPDATE reminder_attempts SET receipt = m.receipt FROM reminder_messages m
    WHERE m.company_id = reminder_attempts.company_id AND m.id = reminder_attempts.message_id
    AND m.attempts = reminder_attempts.number AND reminder_attempts.outcome = 'accepted';
CREATE INDEX reminder_attempts_receipt ON reminder_attempts (company_id, receipt) WHERE receipt <> '';
