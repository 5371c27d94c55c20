CREATE TABLE invoices (
    id           BIGINT  GENERATED ALWAYS AS IDENTITY,
    company_id   BIGINT  NOT NULL REFERENCES companies (id),
    customer_id  BIGINT  NOT NULL,
    generated    BOOLEAN NOT NULL,
    status       TEXT    NOT NULL CHECK (status IN ('Em aberto', 'Pago', 'Cancelado')),
    amount_cents BIGINT  NOT NULL CHECK (amount_cents > 0),
    description  TEXT    NOT NULL,
    due_on       TEXT COLLATE "C" NOT NULL,
    plan_id      BIGINT,
    product_id   BIGINT,
    paid_at      BIGINT,
    paid_on      TEXT COLLATE "C", -- the company's day of paid_at
    paid_via     TEXT    NOT NULL,
    note         TEXT    NOT NULL,
    renewed_from TEXT, -- due date of the customer before and after this payment
    renewed_to   TEXT,
    renewed_day  BIGINT  NOT NULL, -- its own day before
    created_at   BIGINT  NOT NULL,
    created_on   TEXT COLLATE "C" NOT NULL,
    updated_at   BIGINT  NOT NULL,
    PRIMARY KEY (company_id, id),
    FOREIGN KEY (company_id, customer_id) REFERENCES customers (company_id, id),
    FOREIGN KEY (company_id, plan_id) REFERENCES customer_plans (company_id, id),
    FOREIGN KEY (company_id, product_id) REFERENCES products (company_id, id)
);
-- Never two generated for one customer and due date, however many issue them.
CREATE UNIQUE INDEX invoices_generated ON invoices (company_id, customer_id, due_on) WHERE generated;
CREATE INDEX invoices_customer ON invoices (company_id, customer_id, id);
CREATE INDEX invoices_status ON invoices (company_id, status, id, due_on);
CREATE INDEX invoices_due ON invoices (company_id, due_on, id);
CREATE INDEX invoices_paid ON invoices (company_id, paid_on, id) WHERE paid_on IS NOT NULL;
CREATE INDEX invoices_created ON invoices (company_id, created_on, id);
CREATE INDEX invoices_plan ON invoices (company_id, plan_id, id);
CREATE INDEX invoices_product ON invoices (company_id, product_id, id);

-- Due dates that have no invoice yet: what the generator has still to do.
CREATE TABLE invoice_schedule (
    company_id  BIGINT  NOT NULL,
    customer_id BIGINT  NOT NULL,
    due_on      TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (company_id, customer_id),
    FOREIGN KEY (company_id, customer_id) REFERENCES customers (company_id, id)
);
CREATE INDEX invoice_schedule_due ON invoice_schedule (company_id, due_on, customer_id);
