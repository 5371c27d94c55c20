-- A CHECK of three words or more, written as a list, makes SQLite build a table of
-- the words for every row that it writes: a quarter of the time of an invoice. The
-- same words one after the other are only compared. The rows are as they were, so
-- the text of the schema is changed in its place; the table that comes and goes has
-- every connection read it anew.
PRAGMA writable_schema = ON;

UPDATE sqlite_schema SET sql = replace(sql,
    'status IN (''open'', ''paid'', ''cancelled'')',
    'status = ''open'' OR status = ''paid'' OR status = ''cancelled''')
WHERE type = 'table' AND name = 'invoices';

UPDATE sqlite_schema SET sql = replace(sql,
    'period_unit IN (''day'', ''week'', ''month'', ''year'')',
    'period_unit = ''day'' OR period_unit = ''week'' OR period_unit = ''month'' OR period_unit = ''year''')
WHERE type = 'table' AND name = 'invoices';

UPDATE sqlite_schema SET sql = replace(sql,
    'state IN (''reserved'', ''pending'', ''cancelling'', ''paid'', ''cancelled'', ''expired'', ''refused'')',
    'state = ''reserved'' OR state = ''pending'' OR state = ''cancelling'' OR state = ''paid''
        OR state = ''cancelled'' OR state = ''expired'' OR state = ''refused''')
WHERE type = 'table' AND name = 'charges';

UPDATE sqlite_schema SET sql = replace(sql,
    'status IN (''pending'', ''delivered'', ''failed'', ''refused'')',
    'status = ''pending'' OR status = ''delivered'' OR status = ''failed'' OR status = ''refused''')
WHERE type = 'table' AND name = 'deliveries';

UPDATE sqlite_schema SET sql = replace(sql,
    'status IN (''applied'', ''partial'', ''review'', ''refunded'', ''dismissed'')',
    'status = ''applied'' OR status = ''partial'' OR status = ''review'' OR status = ''refunded'' OR status = ''dismissed''')
WHERE type = 'table' AND name = 'payments';

PRAGMA writable_schema = RESET;
CREATE TABLE schema_read_anew (id INTEGER PRIMARY KEY) STRICT;
DROP TABLE schema_read_anew;
