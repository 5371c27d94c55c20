-- Money of a customer that came and has paid no invoice yet: a payment with the status 'credit' brings it, one of the
-- provider 'credit' spends it.
ALTER TABLE customers ADD COLUMN credit_cents BIGINT NOT NULL DEFAULT 0;

ALTER TABLE payments DROP CONSTRAINT payments_status_check;
ALTER TABLE payments ADD CONSTRAINT payments_status_check
    CHECK (status IN ('applied', 'partial', 'review', 'refunded', 'dismissed', 'credit'));
