package tally

import (
	"context"
	"fmt"

	"carteira/internal/platform/sqldb"
)

func appendDeltas(ctx context.Context, tx *sqldb.Tx, companyID int64, entries []Entry) error {
	for piece := range sqldb.Pieces(entries) {
		var values []any
		for _, c := range piece {
			values = append(values, companyID, string(c.Counter), c.Bucket, c.Day, c.PlanID, c.ProductID, c.State, c.N, c.Cents)
		}
		_, err := tx.Exec(ctx, `
			INSERT INTO tally_deltas (company_id, book, bucket, day, plan_id, product_id, state, n, cents)
			VALUES `+sqldb.Tuples(len(piece), len(values)/len(piece)), values...)
		if err != nil {
			return err
		}
	}
	return nil
}

func total(ctx context.Context, q sqldb.Querier, companyID int64, b Counter) (int64, error) {
	return sqldb.Value[int64](ctx, q, `
		SELECT COALESCE((SELECT n FROM tally_totals WHERE company_id = ? AND book = ?), 0)
			+ COALESCE((SELECT CAST(SUM(n) AS BIGINT) FROM tally_deltas WHERE company_id = ? AND book = ?), 0)`,
		companyID, string(b), companyID, string(b))
}

func totals(ctx context.Context, q sqldb.Querier, companyIDs []int64, b Counter) (map[int64]int64, error) {
	found := make(map[int64]int64, len(companyIDs))
	const of = ` WHERE book = ? AND company_id {in ?}`
	err := sqldb.Each(ctx, q, `
		SELECT company_id, n FROM tally_totals`+of+`
		UNION ALL SELECT company_id, CAST(SUM(n) AS BIGINT) FROM tally_deltas`+of+` GROUP BY company_id`,
		[]any{string(b), companyIDs, string(b), companyIDs}, func(r sqldb.Row) error {
			var companyID, n int64
			err := r.Scan(&companyID, &n)
			found[companyID] += n
			return err
		})
	return found, err
}

// both is sums plus deltas, each with the conditions of w; its arguments are
// w's twice.
func both(columns string, companyID int64, b Counter, w sqldb.Where) (from string, args []any) {
	var full sqldb.Where
	full.And("company_id = ?", companyID)
	full.And("book = ?", string(b))
	full.Join(w)
	return `(SELECT ` + columns + `, n, cents FROM tally_sums` + full.String() +
		` UNION ALL SELECT ` + columns + `, n, cents FROM tally_deltas` + full.String() + `) AS counted`, append(full.Args, full.Args...)
}

func sum(ctx context.Context, q sqldb.Querier, companyID int64, b Counter, w sqldb.Where) (n, cents int64, err error) {
	from, args := both("day", companyID, b, w)
	err = sqldb.Each(ctx, q, `
		SELECT COALESCE(CAST(SUM(n) AS BIGINT), 0), COALESCE(CAST(SUM(cents) AS BIGINT), 0) FROM `+from, args, func(r sqldb.Row) error {
		return r.Scan(&n, &cents)
	})
	return n, cents, err
}

func by[K comparable](ctx context.Context, q sqldb.Querier, companyID int64, b Counter, column string, w sqldb.Where) (map[K]Sums, error) {
	from, args := both(column, companyID, b, w)
	sums := map[K]Sums{}
	err := sqldb.Each(ctx, q, `
		SELECT `+column+`, CAST(SUM(n) AS BIGINT), CAST(SUM(cents) AS BIGINT) FROM `+from+` GROUP BY `+column, args, func(r sqldb.Row) error {
		var k K
		var s Sums
		err := r.Scan(&k, &s.N, &s.Cents)
		sums[k] = s
		return err
	})
	return sums, err
}

// spans has the database sort the days into spans, so that what is read is as
// much for a company of a million records as for one of ten.
func spans(ctx context.Context, q sqldb.Querier, companyID int64, b Counter, starts []string, w sqldb.Where) ([]map[string]Sums, error) {
	found := make([]map[string]Sums, len(starts))
	for n := range found {
		found[n] = map[string]Sums{}
	}
	w.And("day >= ?", starts[0])
	from, args := both("day, state", companyID, b, w)
	span := "CASE"
	var edges []any
	for n := len(starts) - 1; n > 0; n-- {
		span += fmt.Sprintf(" WHEN day >= ? THEN %d", n)
		edges = append(edges, starts[n])
	}
	if span += " ELSE 0 END"; len(starts) == 1 {
		span = "0"
	}
	err := sqldb.Each(ctx, q, `
		SELECT `+span+`, state, CAST(SUM(n) AS BIGINT), CAST(SUM(cents) AS BIGINT) FROM `+from+` GROUP BY 1, state`, append(edges, args...),
		func(r sqldb.Row) error {
			var n int
			var state string
			var s Sums
			err := r.Scan(&n, &state, &s.N, &s.Cents)
			found[n][state] = s
			return err
		})
	return found, err
}

// skip finds where the record at an offset of the newest-first list stands: it
// has an id lower than below, and skipped of the records before it have not.
func skip(ctx context.Context, q sqldb.Querier, companyID int64, b Counter, offset int64) (below, skipped int64, err error) {
	found := false
	args := []any{companyID, string(b), companyID, string(b)}
	err = sqldb.Each(ctx, q, `
		SELECT bucket, CAST(SUM(n) AS BIGINT) FROM (
			SELECT bucket, n FROM tally_buckets WHERE company_id = ? AND book = ?
			UNION ALL SELECT bucket, n FROM tally_deltas WHERE company_id = ? AND book = ?
		) AS counted GROUP BY bucket ORDER BY bucket DESC`, args, func(r sqldb.Row) error {
		var bucket, n int64
		if err := r.Scan(&bucket, &n); err != nil || found {
			return err
		}
		if skipped+n > offset {
			below, found = (bucket+1)*bucketSize, true
			return nil
		}
		skipped += n
		return nil
	})
	return below, skipped, err
}

// stamp changes with every change in a company's counters. The number and the sum
// of the deltas tell a late commit apart, which their highest id would not;
// folding counts up.
type stamp struct{ folds, deltas, sum int64 }

func stampOf(ctx context.Context, q sqldb.Querier, companyID int64, counters []Counter) (stamp, error) {
	args := []any{companyID}
	for _, b := range counters {
		args = append(args, string(b))
	}
	in := `company_id = ? AND book IN (` + sqldb.Marks(len(counters)) + `)`
	return sqldb.One(ctx, q, func(r sqldb.Row) (s stamp, err error) {
		err = r.Scan(&s.folds, &s.deltas, &s.sum)
		return s, err
	}, `SELECT COALESCE((SELECT CAST(SUM(folds) AS BIGINT) FROM tally_totals WHERE `+in+`), 0), count(*), COALESCE(CAST(SUM(id) AS BIGINT), 0)
		FROM tally_deltas WHERE `+in, append(args, args...)...)
}

func companiesWithDeltas(ctx context.Context, q sqldb.Querier) ([]int64, error) {
	return sqldb.Values[int64](ctx, q, `SELECT DISTINCT company_id FROM tally_deltas`)
}

type delta struct {
	counter Counter
	Change
}

func takeDeltas(ctx context.Context, tx *sqldb.Tx, companyID int64, limit int) ([]delta, error) {
	return sqldb.All(ctx, tx, func(r sqldb.Row) (d delta, err error) {
		err = r.Scan((*string)(&d.counter), &d.Bucket, &d.Day, &d.PlanID, &d.ProductID, &d.State, &d.N, &d.Cents)
		return d, err
	}, `DELETE FROM tally_deltas WHERE company_id = ? AND id IN (
			SELECT id FROM tally_deltas WHERE company_id = ? ORDER BY id LIMIT ?
		) RETURNING book, bucket, day, plan_id, product_id, state, n, cents`, companyID, companyID, limit)
}

// addSums adds deltas to the sums, each sum once.
func addSums(ctx context.Context, tx *sqldb.Tx, companyID int64, deltas []delta) error {
	type bucket struct {
		counter Counter
		number  int64
	}
	type key struct {
		counter Counter
		Key
	}
	totals, buckets, keys := map[Counter]Sums{}, map[bucket]Sums{}, map[key]Sums{}
	for _, d := range deltas {
		add(totals, d.counter, d.Change)
		add(buckets, bucket{d.counter, d.Bucket}, d.Change)
		d.Bucket = 0
		add(keys, key{d.counter, d.Key}, d.Change)
	}
	for k, s := range buckets {
		if err := addBucket(ctx, tx, companyID, k.counter, k.number, s); err != nil {
			return err
		}
	}
	for k, s := range keys {
		if err := addPlace(ctx, tx, companyID, k.counter, k.Key, s); err != nil {
			return err
		}
	}
	for b, s := range totals {
		if err := addTotal(ctx, tx, companyID, b, s); err != nil {
			return err
		}
	}
	return nil
}

func add[K comparable](sums map[K]Sums, k K, c Change) {
	s := sums[k]
	sums[k] = Sums{s.N + c.N, s.Cents + c.Cents}
}

func addTotal(ctx context.Context, tx *sqldb.Tx, companyID int64, b Counter, s Sums) error {
	_, err := tx.Exec(ctx, `
		INSERT INTO tally_totals (company_id, book, n, folds) VALUES (?, ?, ?, 1)
		ON CONFLICT (company_id, book) DO UPDATE SET n = tally_totals.n + excluded.n, folds = tally_totals.folds + 1`,
		companyID, string(b), s.N)
	return err
}

func addBucket(ctx context.Context, tx *sqldb.Tx, companyID int64, b Counter, bucket int64, s Sums) error {
	if s.N == 0 {
		return nil
	}
	_, err := tx.Exec(ctx, `
		INSERT INTO tally_buckets (company_id, book, bucket, n) VALUES (?, ?, ?, ?)
		ON CONFLICT (company_id, book, bucket) DO UPDATE SET n = tally_buckets.n + excluded.n`,
		companyID, string(b), bucket, s.N)
	if err != nil || s.N > 0 {
		return err
	}
	_, err = tx.Exec(ctx, `DELETE FROM tally_buckets WHERE company_id = ? AND book = ? AND bucket = ? AND n = 0`, companyID, string(b), bucket)
	return err
}

// addPlace also takes away a sum that has come to nothing: due dates pass, and
// the keys of years ago should not be read for ever.
func addPlace(ctx context.Context, tx *sqldb.Tx, companyID int64, b Counter, p Key, s Sums) error {
	if s == (Sums{}) {
		return nil
	}
	key := []any{companyID, string(b), p.Day, p.PlanID, p.ProductID, p.State}
	_, err := tx.Exec(ctx, `
		INSERT INTO tally_sums (company_id, book, day, plan_id, product_id, state, n, cents) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (company_id, book, day, plan_id, product_id, state)
		DO UPDATE SET n = tally_sums.n + excluded.n, cents = tally_sums.cents + excluded.cents`, append(key, s.N, s.Cents)...)
	if err != nil || s.N > 0 {
		return err
	}
	_, err = tx.Exec(ctx, `
		DELETE FROM tally_sums WHERE company_id = ? AND book = ? AND day = ? AND plan_id = ? AND product_id = ? AND state = ?
			AND n = 0 AND cents = 0`, key...)
	return err
}
