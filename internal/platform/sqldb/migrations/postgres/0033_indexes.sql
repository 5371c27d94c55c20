-- No statement is found through these: events are pruned by their ids, and refunds are read with their payments. An event
-- is written with every change.
DROP INDEX events_age;
DROP INDEX payment_refunds_day;
-- With the kind it has all that is asked of it. Without, SQLite rather read every attempt of the company.
DROP INDEX reminder_attempts_receipt;
CREATE INDEX reminder_attempts_receipt ON reminder_attempts (company_id, receipt, kind) WHERE receipt <> '';
