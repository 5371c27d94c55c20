-- The last day of the company's calendar whose work was found done; '': none, or its settings have changed since.
ALTER TABLE companies ADD COLUMN day_done TEXT NOT NULL DEFAULT '';
-- By zone, since all companies of a zone have the same day.
CREATE INDEX companies_day ON companies (timezone, day_done, id);

-- Companies that a change has brought work for a day that may have been found done. Rows are added and removed, never
-- changed, so that no change waits for another.
CREATE TABLE day_work_asked (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    company_id INTEGER NOT NULL REFERENCES companies (id)
) STRICT;
