package tally

import (
	"context"
	"strings"

	"carteira/internal/platform/sqldb"
)

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
		err = row.Scan((*string)(&delta.counter), &delta.Day, &delta.PlanID, &delta.ProductID, &delta.State, &delta.N,
			&delta.Cents)
		return delta, err
	}, `DELETE FROM tally_deltas WHERE company_id = ? AND id IN (
			SELECT id FROM tally_deltas WHERE company_id = ? ORDER BY id LIMIT ?
		) RETURNING book, day, plan_id, product_id, state, n, cents`, companyID, companyID,
		limit)
}
