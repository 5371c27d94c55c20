package tally

import (
	"context"
	"slices"

	"carteira/internal/platform/sqldb"
)

// Standing is what a counter says of a company at one moment: how many records there
// are, and how many of them a filter leaves. What is counted of records that are read
// later is kept by it (Cache.GetAt), so that nobody finds it who has seen a change
// since.
type Standing struct {
	Total, Left int64
	at          stamp
}

// Standing reads all of it in one statement: a record that came between two would
// make a filter look as if it left another number than it does.
func (b Counter) Standing(ctx context.Context, querier sqldb.Querier, companyID int64, filter Filter) (Standing, error) {
	const mine = ` WHERE company_id = ? AND book = ?`
	of := []any{companyID, string(b)}
	from, args := sumsOf("state", companyID, b, filter)
	return sqldb.One(ctx, querier, func(row sqldb.Row) (found Standing, err error) {
		var folded, added int64
		err = row.Scan(&found.at.Folds, &folded, &found.at.Deltas, &found.at.Sum, &added, &found.Left)
		found.Total = folded + added
		return found, err
	}, `SELECT COALESCE((SELECT folds FROM tally_totals`+mine+`), 0), COALESCE((SELECT n FROM tally_totals`+mine+`), 0),
			d.number, d.ids, d.added, COALESCE((SELECT CAST(SUM(n) AS BIGINT) FROM `+from+`), 0)
		FROM (SELECT count(*) AS number, COALESCE(CAST(SUM(id) AS BIGINT), 0) AS ids, COALESCE(CAST(SUM(n) AS BIGINT), 0) AS added
			FROM tally_deltas`+mine+`) d`, slices.Concat(of, of, args, of)...)
}
