package tally

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"carteira/internal/platform/sqldb"
)

// Days are those from From on and before Until, compared as texts. A record
// without a day has "", which is before all others; Until "" has no end.
type Days struct{ From, Until string }

// The days of records without one, and of those with one.
var (
	NoDay   = Days{Until: "0"}
	SomeDay = Days{From: "0"}
)

// After is where a day or a month ends: it sorts behind it and before the next,
// also where the calendar has no next.
func After(day string) string { return day + "~" }

// On is one day, or one month of a counter by month.
func On(day string) Days { return Days{day, After(day)} }

// Filter chooses keys by conditions on plan_id, product_id and state, and by
// days; nil Days are all, and the conditions may name day.
type Filter struct {
	sqldb.Where

	Days []Days
}

// The units in which days are counted.
const (
	unitDay   = "day"
	unitMonth = "month"
)

// run is a part of days that is read in one unit.
type run struct {
	unit string
	Days
}

// lengthOfMonth is that of YYYY-MM.
const lengthOfMonth = 7

func monthOf(day string) string { return day[:min(lengthOfMonth, len(day))] }

// runsOf reads whole months where days are made of them, and single days at
// their ends. Where one ends and the next begins in the same unit they are one.
func runsOf(list []Days) (runs []run) {
	for _, days := range list {
		for _, next := range days.runs() {
			last := len(runs) - 1
			if last >= 0 && runs[last].unit == next.unit && runs[last].Until == next.From && next.From != "" {
				runs[last].Until = next.Until
				continue
			}
			runs = append(runs, next)
		}
	}
	return runs
}

func (d Days) runs() []run {
	from, beginsMonth := splitMonth(d.From)
	until, endsMonth := splitMonth(d.Until)
	months := Days{from, until}
	if !beginsMonth {
		months.From = After(from)
	}
	if d.Until != "" && months.From >= months.Until {
		return []run{{unitDay, d}}
	}
	var runs []run
	if months.From > d.From {
		runs = append(runs, run{unitDay, Days{d.From, months.From}})
	}
	runs = append(runs, run{unitMonth, months})
	if !endsMonth {
		runs = append(runs, run{unitDay, Days{months.Until, d.Until}})
	}
	return runs
}

// splitMonth is the month that an end of days is in, and whether that end is
// also one of a month.
func splitMonth(at string) (month string, whole bool) {
	switch {
	case len(at) <= lengthOfMonth:
		return at, true
	case at[lengthOfMonth:] == "-01":
		return at[:lengthOfMonth], true
	case at[lengthOfMonth:] == After(""):
		return at, true
	}
	return at[:lengthOfMonth], false
}

// lastDay sorts behind every day.
var lastDay = After("")

// among holds for what is in one of the days.
func among(list []Days, where *sqldb.Where, column string) {
	one := "(" + column + " >= ? AND " + column + " < ?)"
	conditions, ends := make([]string, len(list)), []any{}
	for n, days := range list {
		conditions[n] = one
		ends = append(ends, days.From, cmp.Or(days.Until, lastDay))
	}
	where.And("("+strings.Join(conditions, " OR ")+")", ends...)
}

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

// addMonthSums deletes sums that have become zero.
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
