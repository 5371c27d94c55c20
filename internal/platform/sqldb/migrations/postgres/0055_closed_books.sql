-- The last day of the books that are closed: sums of money of days up to it do not change. Null: all is open.
ALTER TABLE companies ADD COLUMN books_closed_through TEXT COLLATE "C";
