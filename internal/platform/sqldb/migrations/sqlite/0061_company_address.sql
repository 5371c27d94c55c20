-- Where a company is and how its customers write to it: its receipts show both.
ALTER TABLE companies ADD COLUMN address TEXT NOT NULL DEFAULT '';
ALTER TABLE companies ADD COLUMN email TEXT NOT NULL DEFAULT '';
