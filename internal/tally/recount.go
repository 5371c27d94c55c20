package tally

import (
	"context"

	"carteira/internal/platform/sqldb"
)

// Recount is how a room counts its records anew.
type Recount struct {
	Counter Counter
	Records func(companyID int64) Records
}

// Records are what a counter should have of a company.
type Records struct {
	// SQL selects bucket, day, plan_id, product_id, state, n and cents of each
	// record, under these names.
	SQL  string
	Args []any
	// States are those that SQL selects, where it does not select all: a counter
	// may also have records that were deleted. Empty: all of them.
	States []string
}

// Differences is by how much the counter has more than the records, at the
// keys where it has; at most 100 of them. Each comparison is one statement, and
// so of one moment.
func (r Recount) Differences(
	ctx context.Context,
	querier sqldb.Querier,
	companyID int64,
) ([]Change, error) {
	ctx = sqldb.WithoutDeadline(ctx)
	records := r.Records(companyID)
	found, err := differentSums(ctx, querier, companyID, r.Counter, records)
	if err != nil || len(records.States) > 0 {
		return found, err
	}
	buckets, err := differentBuckets(ctx, querier, companyID, r.Counter, records)
	if err != nil {
		return nil, err
	}
	total, err := differentTotal(ctx, querier, companyID, r.Counter, records)
	if total != 0 {
		buckets = append(buckets, Change{N: total})
	}
	return append(found, buckets...), err
}

// Correct makes the counter say what the records are, while others change both:
// what is written is a difference, and theirs are too. It returns how many keys
// were wrong.
func (r Recount) Correct(ctx context.Context, db *sqldb.DB, companyID int64) (int, error) {
	ctx = sqldb.WithoutDeadline(ctx)
	corrected := 0
	err := db.Write(ctx, func(tx *sqldb.Tx) (err error) {
		corrected, err = r.correct(ctx, tx, companyID)
		return err
	})
	return corrected, err
}

func (r Recount) correct(ctx context.Context, tx *sqldb.Tx, companyID int64) (int, error) {
	// The row of the total is locked, so that two who correct do not both take
	// the difference away.
	if err := addTotal(ctx, tx, companyID, r.Counter, Sums{}); err != nil {
		return 0, err
	}
	records := r.Records(companyID)
	keys, err := differentSums(ctx, tx, companyID, r.Counter, records)
	if err != nil {
		return 0, err
	}
	for _, key := range keys {
		err := addPlace(ctx, tx, companyID, r.Counter, key.Key, Sums{-key.N, -key.Cents})
		if err != nil {
			return 0, err
		}
	}
	if len(records.States) > 0 {
		return len(keys), nil
	}
	buckets, err := differentBuckets(ctx, tx, companyID, r.Counter, records)
	if err != nil {
		return 0, err
	}
	for _, bucket := range buckets {
		err := addBucket(ctx, tx, companyID, r.Counter, bucket.Bucket, Sums{N: -bucket.N})
		if err != nil {
			return 0, err
		}
	}
	total, err := differentTotal(ctx, tx, companyID, r.Counter, records)
	if err != nil || total == 0 {
		return len(keys) + len(buckets), err
	}
	return len(keys) + len(buckets) + 1, addTotal(ctx, tx, companyID, r.Counter, Sums{N: -total})
}

// differentSums compares the sums by key, deltas included, with the records.
func differentSums(
	ctx context.Context,
	querier sqldb.Querier,
	companyID int64,
	counter Counter,
	records Records,
) ([]Change, error) {
	counted := `SELECT day, plan_id, product_id, state, n, cents FROM tally_sums WHERE company_id = ? AND book = ?
		UNION ALL SELECT day, plan_id, product_id, state, n, cents FROM tally_deltas WHERE company_id = ? AND book = ?`
	args := []any{companyID, string(counter), companyID, string(counter)}
	if len(records.States) > 0 {
		counted = `SELECT day, plan_id, product_id, state, n, cents FROM (` + counted + `) AS every_state
			WHERE state IN (` + sqldb.Marks(len(records.States)) + `)`
		for _, state := range records.States {
			args = append(args, state)
		}
	}
	return sqldb.All(ctx, querier, func(row sqldb.Row) (change Change, err error) {
		err = row.Scan(
			&change.Day,
			&change.PlanID,
			&change.ProductID,
			&change.State,
			&change.N,
			&change.Cents,
		)
		return change, err
	}, `SELECT day, plan_id, product_id, state, CAST(SUM(n) AS BIGINT), CAST(SUM(cents) AS BIGINT) FROM (
			SELECT day, plan_id, product_id, state, n, cents FROM (`+counted+`) AS counted
			UNION ALL SELECT day, plan_id, product_id, state, -n, -cents FROM (`+records.SQL+`) AS actual
		) AS compared GROUP BY day, plan_id, product_id, state
		HAVING SUM(n) <> 0 OR SUM(cents) <> 0 ORDER BY day, plan_id, product_id, state LIMIT 100`, append(args, records.Args...)...)
}

func differentBuckets(
	ctx context.Context,
	querier sqldb.Querier,
	companyID int64,
	counter Counter,
	records Records,
) ([]Change, error) {
	args := []any{companyID, string(counter), companyID, string(counter)}
	return sqldb.All(ctx, querier, func(row sqldb.Row) (change Change, err error) {
		err = row.Scan(&change.Bucket, &change.N)
		return change, err
	}, `SELECT bucket, CAST(SUM(n) AS BIGINT) FROM (
			SELECT bucket, n FROM tally_buckets WHERE company_id = ? AND book = ?
			UNION ALL SELECT bucket, n FROM tally_deltas WHERE company_id = ? AND book = ?
			UNION ALL SELECT bucket, -n FROM (`+records.SQL+`) AS actual
		) AS compared GROUP BY bucket HAVING SUM(n) <> 0 ORDER BY bucket LIMIT 100`, append(args, records.Args...)...)
}

func differentTotal(
	ctx context.Context,
	querier sqldb.Querier,
	companyID int64,
	counter Counter,
	records Records,
) (int64, error) {
	args := []any{companyID, string(counter), companyID, string(counter)}
	return sqldb.Value[int64](ctx, querier, `
		SELECT CAST(COALESCE(SUM(n), 0) AS BIGINT) FROM (
			SELECT n FROM tally_totals WHERE company_id = ? AND book = ?
			UNION ALL SELECT n FROM tally_deltas WHERE company_id = ? AND book = ?
			UNION ALL SELECT -n FROM (`+records.SQL+`) AS actual
		) AS compared`, append(args, records.Args...)...)
}
