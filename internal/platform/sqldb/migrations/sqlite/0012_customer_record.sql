-- The customer's record: this number is kept for it.
SELECT 1;
