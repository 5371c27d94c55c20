-- What payers send to show that they have paid. No money is booked by it.
CREATE TABLE paid_notices (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    company_id  INTEGER NOT NULL,
    invoice_id  INTEGER NOT NULL,
    customer_id INTEGER NOT NULL,
    kind        TEXT    NOT NULL, -- image/png, as the program encoded it, or application/pdf, as it came
    created_at  INTEGER NOT NULL,
    content     BLOB    NOT NULL,
    FOREIGN KEY (company_id, invoice_id) REFERENCES invoices (company_id, id) ON DELETE CASCADE
) STRICT;
CREATE INDEX paid_notices_invoice ON paid_notices (company_id, invoice_id, id);
