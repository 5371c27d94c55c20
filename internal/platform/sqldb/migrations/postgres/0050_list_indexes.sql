-- Lists of invoices and payments are walked along the index of their order, which has the columns by which they are usually filtered.
DROP INDEX invoices_created;
DROP INDEX invoices_due;
DROP INDEX invoices_paid;
DROP INDEX invoices_plan;
DROP INDEX invoices_product;
DROP INDEX invoices_status;
CREATE INDEX invoices_walk ON invoices (company_id, id, status, due_on, plan_id, product_id, paid_on, created_on, updated_at);
CREATE INDEX invoices_due ON invoices (company_id, due_on, id, status, plan_id, product_id);

DROP INDEX payments_day;
DROP INDEX payments_status;
DROP INDEX payments_via;
DROP INDEX payments_walk;
CREATE INDEX payments_walk ON payments (company_id, id, paid_on, status, paid_via);
CREATE INDEX payments_day ON payments (company_id, paid_on, id, status, paid_via);

-- Resellers of a company are few enough to be read along their ids and filtered.
DROP INDEX companies_walk;
DROP INDEX companies_level;
DROP INDEX companies_subscription;
DROP INDEX companies_expiry;
DROP INDEX companies_suspended;
