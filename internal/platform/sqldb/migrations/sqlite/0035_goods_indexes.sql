-- Most customers and invoices have no product, and no statement asks for those without one. Yet each was written into these indexes.
DROP INDEX customers_product;
CREATE INDEX customers_product ON customers (company_id, product_id, id, due_on, cancelled_at) WHERE product_id IS NOT NULL;
DROP INDEX invoices_product;
CREATE INDEX invoices_product ON invoices (company_id, product_id, id) WHERE product_id IS NOT NULL;
