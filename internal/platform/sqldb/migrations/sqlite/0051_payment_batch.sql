-- The piece of work that registered a payment, as audit lines have it: undoing the work takes back its payments and no
-- earlier ones.
ALTER TABLE payments ADD COLUMN batch TEXT NOT NULL DEFAULT '';
