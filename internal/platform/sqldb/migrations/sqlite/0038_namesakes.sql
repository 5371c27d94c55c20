-- Customers of one name and due date are found among those of the name, whose index has the date, too. An index of both was one more
-- place, different for each customer, that every new customer and every renewal wrote.
DROP INDEX customers_namesake;
DROP INDEX customers_name;
CREATE INDEX customers_name ON customers (company_id, name_key, id, due_on);
