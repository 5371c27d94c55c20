-- Lines of bank statements that were booked as payments, so that none is offered
-- again. What a bank calls a line differs between its formats: day, amount and the
-- occurrence among those alike are what it has in each.
CREATE TABLE statement_lines (
    company_id   INTEGER NOT NULL REFERENCES companies (id),
    line_on      TEXT    NOT NULL,
    amount_cents INTEGER NOT NULL CHECK (amount_cents > 0),
    occurrence   INTEGER NOT NULL CHECK (occurrence > 0),
    account      TEXT    NOT NULL, -- as the file has it; empty: it does not say
    bank_id      TEXT    NOT NULL,
    payment_id   INTEGER NOT NULL,
    created_at   INTEGER NOT NULL,
    PRIMARY KEY (company_id, line_on, amount_cents, occurrence),
    FOREIGN KEY (company_id, payment_id) REFERENCES payments (company_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX statement_lines_payment ON statement_lines (company_id, payment_id);
