package tally

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"carteira/internal/platform/sqldb"
)

// sumKey is a key of a counter.
type sumKey struct {
	counter Counter
	Key
}

func (k sumKey) compare(other sumKey) int {
	return cmp.Or(cmp.Compare(k.counter, other.counter), cmp.Compare(k.Day, other.Day),
		cmp.Compare(k.PlanID, other.PlanID), cmp.Compare(k.ProductID, other.ProductID),
		cmp.Compare(k.State, other.State))
}

// sumTable is a table of sums by key, and its column of the key's day.
type sumTable struct{ name, day string }

var (
	byDay   = sumTable{"tally_sums", "day"}
	byMonth = sumTable{"tally_months", "month"}
)

// addSums adds deltas to the sums: each sum once, and many in one statement. Totals come
// first: two transactions that add to the same company wait for each other there, and
// nowhere else.
func addSums(ctx context.Context, tx *sqldb.Tx, companyID int64, deltas []delta) error {
	totals, days, months := map[Counter]int64{}, map[sumKey]Sums{}, map[sumKey]Sums{}
	for _, delta := range deltas {
		totals[delta.counter] += delta.N
		at := sumKey{delta.counter, delta.Key}
		days[at] = days[at].plus(delta.Change)
		at.Day = monthOf(delta.Day)
		months[at] = months[at].plus(delta.Change)
	}
	if err := addTotals(ctx, tx, companyID, totals); err != nil {
		return err
	}
	if err := addKeys(ctx, tx, companyID, byDay, days); err != nil {
		return err
	}
	return addKeys(ctx, tx, companyID, byMonth, months)
}

func (s Sums) plus(change Change) Sums { return Sums{s.N + change.N, s.Cents + change.Cents} }

// addTotals also locks the row of each total, whatever it adds.
func addTotals(ctx context.Context, tx *sqldb.Tx, companyID int64, totals map[Counter]int64) error {
	var rows [][]any
	for _, counter := range slices.Sorted(maps.Keys(totals)) {
		rows = append(rows, []any{companyID, string(counter), totals[counter]})
	}
	return upsert(ctx, tx, rows, `INSERT INTO tally_totals (company_id, book, n) VALUES `, `
		ON CONFLICT (company_id, book) DO UPDATE SET n = tally_totals.n + excluded.n`)
}

// addKeys also removes a sum that has become zero: due dates pass, and the
// keys of years ago should not be read for ever.
func addKeys(ctx context.Context, tx *sqldb.Tx, companyID int64, table sumTable, sums map[sumKey]Sums) error {
	maps.DeleteFunc(sums, func(_ sumKey, sums Sums) bool { return sums == (Sums{}) })
	var rows [][]any
	emptied := map[Counter][]string{}
	for _, at := range slices.SortedFunc(maps.Keys(sums), sumKey.compare) {
		more := sums[at]
		rows = append(rows, []any{
			companyID, string(at.counter), at.Day, at.PlanID, at.ProductID, at.State, more.N, more.Cents,
		})
		if more.N <= 0 {
			emptied[at.counter] = append(emptied[at.counter], at.Day)
		}
	}
	key := `(company_id, book, ` + table.day + `, plan_id, product_id, state`
	if err := upsert(ctx, tx, rows, `INSERT INTO `+table.name+` `+key+`, n, cents) VALUES `, `
		ON CONFLICT `+key+`) DO UPDATE SET n = `+table.name+`.n + excluded.n, cents = `+table.name+`.cents + excluded.cents`); err != nil {
		return err
	}
	for _, counter := range slices.Sorted(maps.Keys(emptied)) {
		if _, err := tx.Exec(ctx, `DELETE FROM `+table.name+` WHERE company_id = ? AND book = ? AND `+table.day+` {in ?} AND n = 0 AND cents = 0`,
			companyID, string(counter), slices.Compact(emptied[counter])); err != nil {
			return err
		}
	}
	return nil
}

// upsert inserts rows of different keys, or adds them to those that are there.
// The rows are in one order, so that two transactions wait for each other
// without a deadlock.
func upsert(ctx context.Context, tx *sqldb.Tx, rows [][]any, into, conflict string) error {
	for piece := range sqldb.Pieces(rows) {
		text := into + sqldb.Tuples(len(piece), len(piece[0])) + conflict
		if _, err := tx.Exec(ctx, text, slices.Concat(piece...)...); err != nil {
			return err
		}
	}
	return nil
}

// appendDeltas writes changes of counters, one row for each key; none where the
// changes of a key add up to zero.
func appendDeltas(ctx context.Context, tx *sqldb.Tx, companyID int64, entries []Entry) error {
	for piece := range sqldb.Pieces(merged(entries)) {
		values := make([]any, 0, len(piece)*deltaColumns)
		for _, entry := range piece {
			values = append(values, companyID, string(entry.Counter), entry.Day, entry.PlanID,
				entry.ProductID, entry.State, entry.N, entry.Cents)
		}
		if err := tx.Queue(ctx, `
			INSERT INTO tally_deltas (company_id, book, day, plan_id, product_id, state, n, cents)
			VALUES `+sqldb.Tuples(len(piece), deltaColumns), values...); err != nil {
			return err
		}
	}
	return nil
}

// deltaColumns is how many columns a delta is inserted with.
const deltaColumns = 8

// merged are the entries with one for each key, in the order in which the keys
// came, without those that add up to zero.
func merged(entries []Entry) []Entry {
	list := make([]Entry, 0, len(entries))
	at := make(map[sumKey]int, len(entries))
	for _, entry := range entries {
		key := sumKey{entry.Counter, entry.Key}
		if known, ok := at[key]; ok {
			list[known].N += entry.N
			list[known].Cents += entry.Cents
			continue
		}
		at[key] = len(list)
		list = append(list, entry)
	}
	return slices.DeleteFunc(list, func(entry Entry) bool { return entry.N == 0 && entry.Cents == 0 })
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
