-- How many further invoices a customer who is late gets, and since which day; none unless the company chooses so.
ALTER TABLE companies ADD COLUMN overdue_invoices INTEGER NOT NULL DEFAULT 0;
ALTER TABLE companies ADD COLUMN overdue_since TEXT;
