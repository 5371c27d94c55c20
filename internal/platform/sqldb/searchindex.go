package sqldb

import "context"

// SQLite's search index is brought up to date once for each commit, within it:
// FTS5 writes out what it has gathered at the end of every statement that
// changes it, which costs as much for one text as for a hundred. Triggers note
// which rows have changed (migration 0009); nobody sees the index in between,
// since readers see commits and writers do not search.
const (
	anyUnindexed = `SELECT count(*) FROM (SELECT 1 FROM customers_unindexed LIMIT 1)`
	dropOldTexts = `DELETE FROM customers_search WHERE rowid IN (SELECT id FROM customers_unindexed WHERE indexed = 1)`
	// The three characters stand for the company; see companyToken.
	addNewTexts = `INSERT INTO customers_search (rowid, text) /* every company_id */
	SELECT c.id, char(57344 + c.company_id % 6400, 57344 + c.company_id / 6400 % 6400, 57344 + c.company_id / 40960000 % 6400)
		|| char(10) || c.search
	FROM customers_unindexed u CROSS JOIN customers c ON c.id = u.id`
	forgetUnindexed = `DELETE FROM customers_unindexed`
)

// index brings the search index up to what the transaction has changed.
func (g *group) index(ctx context.Context) error {
	n, err := Value[int](ctx, g.writer, anyUnindexed)
	if err != nil || n == 0 {
		return err
	}
	for _, text := range []string{dropOldTexts, addNewTexts, forgetUnindexed} {
		if err := g.statement(ctx, text); err != nil {
			return err
		}
	}
	return nil
}
