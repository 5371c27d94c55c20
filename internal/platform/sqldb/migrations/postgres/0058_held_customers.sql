-- Customers who are on time after their due date, since a debit is arranged for the working day after it.
CREATE INDEX customers_held ON customers (company_id, expiry_on) WHERE expiry_on > due_on;
