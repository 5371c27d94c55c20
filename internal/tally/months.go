package tally

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"carteira/internal/platform/sqldb"
)

// Goods are a plan and a product; 0: none.
type Goods struct{ PlanID, ProductID int64 }

// monthKey is where a record is counted by the month of its day.
type monthKey struct {
	counter Counter
	month   string
	Goods
	state string
}

func compareMonths(a, b monthKey) int {
	return cmp.Or(cmp.Compare(a.counter, b.counter), cmp.Compare(a.month, b.month),
		cmp.Compare(a.PlanID, b.PlanID), cmp.Compare(a.ProductID, b.ProductID), cmp.Compare(a.state, b.state))
}

// addMonths adds deltas to the sums by month, each sum once.
func addMonths(ctx context.Context, tx *sqldb.Tx, companyID int64, deltas []delta) error {
	sums := map[monthKey]Sums{}
	for _, delta := range deltas {
		at := monthKey{delta.counter, monthOf(delta.Day), Goods{delta.PlanID, delta.ProductID}, delta.State}
		add(sums, at, delta.Change)
	}
	return addMonthSums(ctx, tx, companyID, sums)
}

// addMonthSums deletes sums that have come to nothing.
func addMonthSums(ctx context.Context, tx *sqldb.Tx, companyID int64, sums map[monthKey]Sums) error {
	maps.DeleteFunc(sums, func(_ monthKey, sums Sums) bool { return sums == (Sums{}) })
	var rows [][]any
	emptied := false
	for _, at := range slices.SortedFunc(maps.Keys(sums), compareMonths) {
		more := sums[at]
		emptied = emptied || more.N <= 0
		rows = append(rows, []any{companyID, string(at.counter), at.month, at.PlanID, at.ProductID, at.state, more.N, more.Cents})
	}
	err := upsert(ctx, tx, rows, `
		INSERT INTO tally_months (company_id, book, month, plan_id, product_id, state, n, cents) VALUES `, `
		ON CONFLICT (company_id, book, month, plan_id, product_id, state)
		DO UPDATE SET n = tally_months.n + excluded.n, cents = tally_months.cents + excluded.cents`)
	if err != nil || !emptied {
		return err
	}
	_, err = tx.Exec(ctx, `DELETE FROM tally_months WHERE company_id = ? AND n = 0 AND cents = 0`, companyID)
	return err
}

// monthDifference is by how much a sum by month is more than its days.
type monthDifference struct {
	monthKey
	Sums
}

// differentMonths compares the sums by month with those by day. Both are changed
// in the same transactions, so deltas have no part in it.
func differentMonths(ctx context.Context, querier sqldb.Querier, companyID int64, counter Counter) ([]monthDifference, error) {
	return sqldb.All(ctx, querier, func(row sqldb.Row) (at monthDifference, err error) {
		at.counter = counter
		err = row.Scan(&at.month, &at.PlanID, &at.ProductID, &at.state, &at.N, &at.Cents)
		return at, err
	}, `SELECT month, plan_id, product_id, state, CAST(SUM(n) AS BIGINT), CAST(SUM(cents) AS BIGINT) FROM (
			SELECT month, plan_id, product_id, state, n, cents FROM tally_months WHERE company_id = ? AND book = ?
			UNION ALL SELECT substr(day, 1, 7), plan_id, product_id, state, -n, -cents FROM tally_sums WHERE company_id = ? AND book = ?
		) AS compared GROUP BY month, plan_id, product_id, state
		HAVING SUM(n) <> 0 OR SUM(cents) <> 0 ORDER BY month, plan_id, product_id, state LIMIT ?`,
		companyID, string(counter), companyID, string(counter), maxDifferences)
}

// wrongMonths is differentMonths as changes.
func wrongMonths(ctx context.Context, querier sqldb.Querier, companyID int64, counter Counter) ([]Change, error) {
	found, err := differentMonths(ctx, querier, companyID, counter)
	list := make([]Change, len(found))
	for n, at := range found {
		key := Key{Day: at.month, PlanID: at.PlanID, ProductID: at.ProductID, State: at.state}
		list[n] = Change{Key: key, N: at.N, Cents: at.Cents}
	}
	return list, err
}

// correctMonths makes the sums by month those of the days.
func (r Recount) correctMonths(ctx context.Context, tx *sqldb.Tx, companyID int64) (int, error) {
	find := func() ([]monthDifference, error) { return differentMonths(ctx, tx, companyID, r.Counter) }
	return correctAll(find, func(wrong []monthDifference) error {
		sums := map[monthKey]Sums{}
		for _, at := range wrong {
			sums[at.monthKey] = Sums{-at.N, -at.Cents}
		}
		return addMonthSums(ctx, tx, companyID, sums)
	})
}
