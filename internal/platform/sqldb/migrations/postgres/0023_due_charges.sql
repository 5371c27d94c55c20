-- What a charge is computed by whose amount the bank computes; '': it asks for its amount.
ALTER TABLE charges ADD COLUMN due_terms TEXT NOT NULL DEFAULT '';
