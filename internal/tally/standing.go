package tally

import (
	"context"
	"slices"

	"carteira/internal/platform/sqldb"
)

// Standing is what a counter says of a company at one moment: how many records there
// are, and how many of them a filter leaves.
type Standing struct {
	Total, Left int64
}

// Standing reads all of it in one statement: a record that came between two would
// make a filter look as if it left another number than it does.
func (b Counter) Standing(
	ctx context.Context,
	querier sqldb.Querier,
	companyID int64,
	filter Filter,
) (found Standing, err error) {
	err = sqldb.Together(ctx, querier, b.StandingStatement(companyID, filter, &found))
	return found, err
}

// StandingStatement is Standing for sqldb.Together with other statements.
func (b Counter) StandingStatement(companyID int64, filter Filter, into *Standing) sqldb.Statement {
	const mine = ` WHERE company_id = ? AND book = ?`
	of := []any{companyID, string(b)}
	from, args := sumsOf("state", companyID, b, filter)
	return sqldb.Statement{
		Text: `
		SELECT COALESCE((SELECT n FROM tally_totals` + mine + `), 0)
				+ COALESCE((SELECT CAST(SUM(n) AS BIGINT) FROM tally_deltas` + mine + `), 0),
			COALESCE((SELECT CAST(SUM(n) AS BIGINT) FROM ` + from + `), 0)`,
		Args: slices.Concat(of, of, args),
		Scan: func(row sqldb.Row) error { return row.Scan(&into.Total, &into.Left) },
	}
}
