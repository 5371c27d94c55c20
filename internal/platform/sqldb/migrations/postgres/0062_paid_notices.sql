-- What payers send to show that they have paid. No money is booked by it.
CREATE TABLE paid_notices (
    id          BIGINT  GENERATED ALWAYS AS IDENTITY,
    company_id  BIGINT  NOT NULL,
    invoice_id  BIGINT  NOT NULL,
    customer_id BIGINT  NOT NULL,
    kind        TEXT    NOT NULL, -- image/png, as the program encoded it, or application/pdf, as it came
    created_at  BIGINT  NOT NULL,
    content     BYTEA   NOT NULL,
    PRIMARY KEY (company_id, id),
    FOREIGN KEY (company_id, invoice_id) REFERENCES invoices (company_id, id) ON DELETE CASCADE
);
CREATE INDEX paid_notices_invoice ON paid_notices (company_id, invoice_id, id);
