package tally

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"carteira/internal/platform/sqldb"
)

// bucketKey is a bucket of a counter.
type bucketKey struct {
	counter Counter
	bucket  int64
}

// sumKey is a key of a counter, without its bucket.
type sumKey struct {
	counter Counter
	Key
}

func (k sumKey) compare(other sumKey) int {
	return cmp.Or(
		cmp.Compare(k.counter, other.counter), cmp.Compare(k.Day, other.Day), cmp.Compare(k.PlanID, other.PlanID),
		cmp.Compare(k.ProductID, other.ProductID), cmp.Compare(k.State, other.State),
	)
}

// addSums adds deltas to the sums: each sum once, and many in one statement. Totals come
// first: two transactions that add to the same company wait for each other there, and
// nowhere else.
func addSums(ctx context.Context, tx *sqldb.Tx, companyID int64, deltas []delta) error {
	totals, buckets, keys := map[Counter]int64{}, map[bucketKey]int64{}, map[sumKey]Sums{}
	for _, delta := range deltas {
		totals[delta.counter] += delta.N
		buckets[bucketKey{delta.counter, delta.Bucket}] += delta.N
		key := sumKey{delta.counter, delta.Key}
		key.Bucket = 0
		add(keys, key, delta.Change)
	}
	if err := addTotals(ctx, tx, companyID, totals); err != nil {
		return err
	}
	if err := addBuckets(ctx, tx, companyID, buckets); err != nil {
		return err
	}
	if err := addKeys(ctx, tx, companyID, keys); err != nil {
		return err
	}
	return addMonths(ctx, tx, companyID, deltas)
}

func add[K comparable](sums map[K]Sums, at K, change Change) {
	before := sums[at]
	sums[at] = Sums{before.N + change.N, before.Cents + change.Cents}
}

// addTotals also counts the fold of each total, whatever it adds.
func addTotals(ctx context.Context, tx *sqldb.Tx, companyID int64, totals map[Counter]int64) error {
	var rows [][]any
	for _, counter := range slices.Sorted(maps.Keys(totals)) {
		rows = append(rows, []any{companyID, string(counter), totals[counter], 1})
	}
	return upsert(ctx, tx, rows, `INSERT INTO tally_totals (company_id, book, n, folds) VALUES `, `
		ON CONFLICT (company_id, book) DO UPDATE SET n = tally_totals.n + excluded.n, folds = tally_totals.folds + 1`)
}

// addBuckets also removes a bucket that has become zero.
func addBuckets(ctx context.Context, tx *sqldb.Tx, companyID int64, sums map[bucketKey]int64) error {
	maps.DeleteFunc(sums, func(_ bucketKey, n int64) bool { return n == 0 })
	var rows [][]any
	emptied := map[Counter][]int64{}
	for _, at := range slices.SortedFunc(maps.Keys(sums), func(a, b bucketKey) int {
		return cmp.Or(cmp.Compare(a.counter, b.counter), cmp.Compare(a.bucket, b.bucket))
	}) {
		rows = append(rows, []any{companyID, string(at.counter), at.bucket, sums[at], 1})
		if sums[at] < 0 {
			emptied[at.counter] = append(emptied[at.counter], at.bucket)
		}
	}
	if err := upsert(ctx, tx, rows, `INSERT INTO tally_buckets (company_id, book, bucket, n, folds) VALUES `, `
		ON CONFLICT (company_id, book, bucket) DO UPDATE SET n = tally_buckets.n + excluded.n, folds = tally_buckets.folds + 1`); err != nil {
		return err
	}
	return removeEmpty(ctx, tx, companyID, emptied,
		`DELETE FROM tally_buckets WHERE company_id = ? AND book = ? AND bucket {in ?} AND n = 0`)
}

// addKeys also removes a sum that has become zero: due dates pass, and the
// keys of years ago should not be read for ever.
func addKeys(ctx context.Context, tx *sqldb.Tx, companyID int64, sums map[sumKey]Sums) error {
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
	if err := upsert(ctx, tx, rows, `
		INSERT INTO tally_sums (company_id, book, day, plan_id, product_id, state, n, cents) VALUES `, `
		ON CONFLICT (company_id, book, day, plan_id, product_id, state)
		DO UPDATE SET n = tally_sums.n + excluded.n, cents = tally_sums.cents + excluded.cents`); err != nil {
		return err
	}
	return removeEmpty(ctx, tx, companyID, emptied,
		`DELETE FROM tally_sums WHERE company_id = ? AND book = ? AND day {in ?} AND n = 0 AND cents = 0`)
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

// removeEmpty removes the rows of some days or buckets of each counter that have
// become zero.
func removeEmpty[K string | int64](
	ctx context.Context,
	tx *sqldb.Tx,
	companyID int64,
	emptied map[Counter][]K,
	text string,
) error {
	for _, counter := range slices.Sorted(maps.Keys(emptied)) {
		if _, err := tx.Exec(ctx, text, companyID, string(counter), slices.Compact(emptied[counter])); err != nil {
			return err
		}
	}
	return nil
}

type deltaKey struct {
	counter Counter
	Key
}

// appendDeltas writes changes of counters, one row for each key, also where
// the changes of a key add up to zero.
func appendDeltas(ctx context.Context, tx *sqldb.Tx, companyID int64, entries []Entry) error {
	for piece := range sqldb.Pieces(merged(entries)) {
		values := make([]any, 0, len(piece)*deltaColumns)
		for _, entry := range piece {
			values = append(values, companyID, string(entry.Counter), entry.Bucket, entry.Day, entry.PlanID,
				entry.ProductID, entry.State, entry.N, entry.Cents)
		}
		if err := tx.Queue(ctx, `
			INSERT INTO tally_deltas (company_id, book, bucket, day, plan_id, product_id, state, n, cents)
			VALUES `+sqldb.Tuples(len(piece), deltaColumns), values...); err != nil {
			return err
		}
	}
	return nil
}

// deltaColumns is how many columns a delta is inserted with.
const deltaColumns = 9

// merged are the entries with one for each key, in the order in which the keys
// came.
func merged(entries []Entry) []Entry {
	list := make([]Entry, 0, len(entries))
	at := make(map[deltaKey]int, len(entries))
	for _, entry := range entries {
		key := deltaKey{entry.Counter, entry.Key}
		if known, ok := at[key]; ok {
			list[known].N += entry.N
			list[known].Cents += entry.Cents
			continue
		}
		at[key] = len(list)
		list = append(list, entry)
	}
	return list
}

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
