-- Money of a customer that came and has paid no invoice yet: a payment with the status 'credit' brings it, one of the
-- provider 'credit' spends it. The text of the CHECK is changed in its place, as 0042 does.
ALTER TABLE customers ADD COLUMN credit_cents INTEGER NOT NULL DEFAULT 0;

PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql,
    'status = ''applied'' OR status = ''partial'' OR status = ''review'' OR status = ''refunded'' OR status = ''dismissed''',
    'status = ''applied'' OR status = ''partial'' OR status = ''review'' OR status = ''refunded'' OR status = ''dismissed''
        OR status = ''credit''')
WHERE type = 'table' AND name = 'payments';
PRAGMA writable_schema = RESET;
CREATE TABLE schema_read_anew (id INTEGER PRIMARY KEY) STRICT;
DROP TABLE schema_read_anew;
