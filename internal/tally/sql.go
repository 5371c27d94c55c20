package tally

import (
	"context"
	"fmt"
	"strings"

	"carteira/internal/platform/sqldb"
)

func totalStatement(companyID int64, counter Counter, into *int64) sqldb.Statement {
	return sqldb.Statement{
		Text: `
		SELECT COALESCE((SELECT n FROM tally_totals WHERE company_id = ? AND book = ?), 0)
			+ COALESCE((SELECT CAST(SUM(n) AS BIGINT) FROM tally_deltas WHERE company_id = ? AND book = ?), 0)`,
		Args: []any{companyID, string(counter), companyID, string(counter)},
		Scan: func(row sqldb.Row) error { return row.Scan(into) },
	}
}

func totals(ctx context.Context, querier sqldb.Querier, companyIDs []int64, counter Counter) (map[int64]int64, error) {
	found := make(map[int64]int64, len(companyIDs))
	const of = ` WHERE book = ? AND company_id {in ?}`
	err := sqldb.Each(ctx, querier, `
		SELECT company_id, n FROM tally_totals`+of+`
		UNION ALL SELECT company_id, CAST(SUM(n) AS BIGINT) FROM tally_deltas`+of+` GROUP BY company_id`,
		[]any{string(counter), companyIDs, string(counter), companyIDs}, func(row sqldb.Row) error {
			var companyID, n int64
			err := row.Scan(&companyID, &n)
			found[companyID] += n
			return err
		})
	return found, err
}

// reading is one look at the sums and deltas of a counter.
type reading struct {
	companyID int64
	counter   Counter
	filter    Filter
	texts     []string
	args      []any
}

// add reads from a table what the filter's conditions and the given ones leave.
func (r *reading) add(columns, table string, more sqldb.Where) {
	var where sqldb.Where
	where.And("company_id = ?", r.companyID)
	where.And("book = ?", string(r.counter))
	where.Join(more)
	where.Join(r.filter.Where)
	r.texts = append(r.texts, `SELECT `+columns+`, n, cents FROM `+table+where.String())
	r.args = append(r.args, where.Args...)
}

// sumsOf is sums plus deltas of columns of the keys. The first day of a month
// is the day of what is counted by month, unless days are asked for.
func sumsOf(columns string, companyID int64, counter Counter, filter Filter) (from string, args []any) {
	reading := reading{companyID: companyID, counter: counter, filter: filter}
	var days sqldb.Where
	if filter.Days != nil {
		among(filter.Days, &days, "day")
	}
	if filter.Days == nil || columns == unitDay {
		reading.add(columns, "tally_sums", days)
	} else {
		reading.addRuns(columns, runsOf(filter.Days))
	}
	reading.add(columns, "tally_deltas", days)
	return `(` + strings.Join(reading.texts, ` UNION ALL `) + `) AS counted`, reading.args
}

func (r *reading) addRuns(columns string, runs []run) {
	for _, run := range runs {
		var days sqldb.Where
		if run.unit == unitDay {
			among([]Days{run.Days}, &days, "day")
			r.add(columns, "tally_sums", days)
			continue
		}
		among([]Days{run.Days}, &days, "month")
		r.add(strings.Replace(columns, "day", "month || '-01' AS day", 1), "tally_months", days)
	}
}

func sumStatement(companyID int64, counter Counter, filter Filter, n, cents *int64) sqldb.Statement {
	from, args := sumsOf("state", companyID, counter, filter)
	return sqldb.Statement{
		Text: `
		SELECT COALESCE(CAST(SUM(n) AS BIGINT), 0), COALESCE(CAST(SUM(cents) AS BIGINT), 0) FROM ` + from,
		Args: args,
		Scan: func(row sqldb.Row) error { return row.Scan(n, cents) },
	}
}

func by[K comparable](
	ctx context.Context,
	querier sqldb.Querier,
	companyID int64,
	counter Counter,
	column string,
	filter Filter,
) (map[K]Sums, error) {
	from, args := sumsOf(column, companyID, counter, filter)
	sums := map[K]Sums{}
	err := sqldb.Each(ctx, querier, `
		SELECT `+column+`, CAST(SUM(n) AS BIGINT), CAST(SUM(cents) AS BIGINT) FROM `+from+` GROUP BY `+column,
		args, func(row sqldb.Row) error {
			var key K
			var s Sums
			err := row.Scan(&key, &s.N, &s.Cents)
			sums[key] = s
			return err
		})
	return sums, err
}

// spans has the database sort the days into spans, so that what is read is as
// much for a company of a million records as for one of ten.
func spans(
	ctx context.Context,
	querier sqldb.Querier,
	companyID int64,
	counter Counter,
	filter Filter,
) ([]map[string]Sums, error) {
	found := make([]map[string]Sums, len(filter.Days))
	for n := range found {
		found[n] = map[string]Sums{}
	}
	from, args := sumsOf("day, state", companyID, counter, filter)
	span := "CASE"
	var edges []any
	for n := len(found) - 1; n > 0; n-- {
		span += fmt.Sprintf(" WHEN day >= ? THEN %d", n)
		edges = append(edges, filter.Days[n].From)
	}
	if span += " ELSE 0 END"; len(found) == 1 {
		span = "0"
	}
	err := sqldb.Each(ctx, querier, `
		SELECT `+span+`, state, CAST(SUM(n) AS BIGINT), CAST(SUM(cents) AS BIGINT) FROM `+from+` GROUP BY 1, state`, append(edges, args...),
		func(row sqldb.Row) error {
			var n int
			var state string
			var sums Sums
			err := row.Scan(&n, &state, &sums.N, &sums.Cents)
			found[n][state] = sums
			return err
		})
	return found, err
}

func companiesWithDeltas(ctx context.Context, querier sqldb.Querier) ([]int64, error) {
	return sqldb.Values[int64](ctx, querier, `SELECT DISTINCT company_id FROM tally_deltas`)
}

const anyDelta = `SELECT 1 FROM tally_deltas /* every company_id */`

type delta struct {
	counter Counter
	Change
}

// claimDeltas locks the oldest delta of a company until the commit, and reports
// whether it could: another process that has it is folding the others, too. To
// wait for that one would only find them gone.
func claimDeltas(ctx context.Context, tx *sqldb.Tx, companyID int64) (bool, error) {
	if tx.Engine() == sqldb.SQLite {
		return true, nil // it has one writer
	}
	oldest, err := sqldb.Values[int64](ctx, tx, `
		SELECT id FROM tally_deltas WHERE company_id = ? AND id = (
			SELECT MIN(id) FROM tally_deltas WHERE company_id = ?) {for update skip locked}`, companyID, companyID)
	return len(oldest) > 0, err
}

func takeDeltas(ctx context.Context, tx *sqldb.Tx, companyID int64, limit int) ([]delta, error) {
	return sqldb.All(ctx, tx, func(row sqldb.Row) (delta delta, err error) {
		err = row.Scan(
			(*string)(&delta.counter),
			&delta.Bucket,
			&delta.Day,
			&delta.PlanID,
			&delta.ProductID,
			&delta.State,
			&delta.N,
			&delta.Cents,
		)
		return delta, err
	}, `DELETE FROM tally_deltas WHERE company_id = ? AND id IN (
			SELECT id FROM tally_deltas WHERE company_id = ? ORDER BY id LIMIT ?
		) RETURNING book, bucket, day, plan_id, product_id, state, n, cents`, companyID, companyID,
		limit)
}
