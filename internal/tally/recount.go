package tally

import (
	"context"

	"carteira/internal/platform/civil"
	"carteira/internal/platform/sqldb"
)

// Recount is how a room counts its records again.
type Recount struct {
	Counter Counter
	Records func(Scope) Records
	// Rows are what the records are read from, where they are made of other rows
	// themselves; nil: they are not.
	Rows *Derived
}

// Scope is what is counted again: the records of a company on its day.
type Scope struct {
	CompanyID int64
	Today     civil.Date
}

// Derived are rows that repeat what other rows say.
type Derived struct {
	// Wrong is how many of a company's rows are missing, too many, or differ.
	Wrong func(ctx context.Context, querier sqldb.Querier, companyID int64) (int64, error)
	// Mend makes them right.
	Mend func(ctx context.Context, tx *sqldb.Tx, companyID int64) error
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
	// Day is the only one that SQL selects; empty: all of them.
	Day string
	// View is what of the counter is compared, where that is not its keys: a list
	// of expressions named as those of SQL, without the bucket. What is wrong is
	// corrected at the keys that it has.
	View string
}

// partial reports whether the records are not all that the counter has, so that
// its buckets and its total cannot be compared.
func (r Records) partial() bool {
	return len(r.States) > 0 || r.Day != "" || r.View != ""
}

const keysAndSums = `day, plan_id, product_id, state, n, cents`

// counted selects what the counter has, deltas included.
func (r Records) counted(companyID int64, counter Counter) (text string, args []any) {
	view := r.View
	if view == "" {
		view = keysAndSums
	}
	var of sqldb.Where
	if len(r.States) > 0 {
		of.And("state {in ?}", r.States)
	}
	if r.Day != "" {
		of.And("day = ?", r.Day)
	}
	return `SELECT ` + view + ` FROM (
		SELECT ` + keysAndSums + ` FROM tally_sums WHERE company_id = ? AND book = ?
		UNION ALL SELECT ` + keysAndSums + ` FROM tally_deltas WHERE company_id = ? AND book = ?) AS all_of_it` + of.String(),
		append([]any{companyID, string(counter), companyID, string(counter)}, of.Args...)
}

// Differences is by how much the counter has more than the records, at the
// keys where it has; at most maxDifferences of them. Each comparison is one statement, and
// so of one moment.
func (r Recount) Differences(ctx context.Context, querier sqldb.Querier, scope Scope) ([]Change, error) {
	ctx = sqldb.WithoutDeadline(ctx)
	companyID := scope.CompanyID
	records := r.Records(scope)
	found, err := differentSums(ctx, querier, companyID, r.Counter, records)
	if err != nil {
		return nil, err
	}
	if r.Rows != nil {
		wrong, err := r.Rows.Wrong(ctx, querier, companyID)
		if err != nil {
			return nil, err
		}
		if wrong != 0 {
			found = append(found, Change{N: wrong})
		}
	}
	months, err := wrongMonths(ctx, querier, companyID, r.Counter)
	if err != nil {
		return nil, err
	}
	found = append(found, months...)
	if records.partial() {
		return found, nil
	}
	places, err := differentPlaces(ctx, querier, companyID, r.Counter, records)
	return append(found, places...), err
}

// differentPlaces compares where in the list records are, and how many there are.
func differentPlaces(
	ctx context.Context,
	querier sqldb.Querier,
	companyID int64,
	counter Counter,
	records Records,
) ([]Change, error) {
	buckets, err := differentBuckets(ctx, querier, companyID, counter, records)
	if err != nil {
		return nil, err
	}
	total, err := differentTotal(ctx, querier, companyID, counter, records)
	if total != 0 {
		buckets = append(buckets, Change{N: total})
	}
	return buckets, err
}

// Correct makes the counter say what the records are, while others change both:
// what is written is a difference, and theirs are too. It returns how many keys
// were wrong.
func (r Recount) Correct(ctx context.Context, db *sqldb.DB, scope Scope) (int, error) {
	ctx = sqldb.WithoutDeadline(ctx)
	corrected := 0
	err := db.Write(ctx, func(tx *sqldb.Tx) (err error) {
		mended, err := r.mendRows(ctx, tx, scope.CompanyID)
		if err != nil {
			return err
		}
		corrected, err = r.correct(ctx, tx, scope)
		corrected += mended
		return err
	})
	return corrected, err
}

// mendRows makes the rows right that the records are read from.
func (r Recount) mendRows(ctx context.Context, tx *sqldb.Tx, companyID int64) (int, error) {
	if r.Rows == nil {
		return 0, nil
	}
	wrong, err := r.Rows.Wrong(ctx, tx, companyID)
	if err != nil || wrong == 0 {
		return 0, err
	}
	return int(wrong), r.Rows.Mend(ctx, tx, companyID)
}

func (r Recount) correct(ctx context.Context, tx *sqldb.Tx, scope Scope) (int, error) {
	companyID := scope.CompanyID
	// The row of the total is locked, so that two corrections do not both
	// subtract the difference.
	if err := addTotals(ctx, tx, companyID, map[Counter]int64{r.Counter: 0}); err != nil {
		return 0, err
	}
	records := r.Records(scope)
	keys, err := r.correctSums(ctx, tx, companyID, records)
	if err != nil {
		return 0, err
	}
	months, err := r.correctMonths(ctx, tx, companyID)
	if keys += months; err != nil || records.partial() {
		return keys, err
	}
	places, err := r.correctPlaces(ctx, tx, companyID, records)
	return keys + places, err
}

// correctPlaces corrects where in the list records are, and how many there are.
func (r Recount) correctPlaces(ctx context.Context, tx *sqldb.Tx, companyID int64, records Records) (int, error) {
	buckets, err := r.correctBuckets(ctx, tx, companyID, records)
	if err != nil {
		return 0, err
	}
	total, err := differentTotal(ctx, tx, companyID, r.Counter, records)
	if err != nil || total == 0 {
		return buckets, err
	}
	return buckets + 1, addTotals(ctx, tx, companyID, map[Counter]int64{r.Counter: -total})
}

// correctSums corrects the sums by key.
func (r Recount) correctSums(ctx context.Context, tx *sqldb.Tx, companyID int64, records Records) (int, error) {
	find := func() ([]Change, error) { return differentSums(ctx, tx, companyID, r.Counter, records) }
	return correctAll(find, func(wrong []Change) error {
		sums := map[sumKey]Sums{}
		for _, at := range wrong {
			sums[sumKey{r.Counter, at.Key}] = Sums{-at.N, -at.Cents}
		}
		return addKeys(ctx, tx, companyID, sums)
	})
}

func (r Recount) correctBuckets(ctx context.Context, tx *sqldb.Tx, companyID int64, records Records) (int, error) {
	find := func() ([]Change, error) { return differentBuckets(ctx, tx, companyID, r.Counter, records) }
	return correctAll(find, func(wrong []Change) error {
		sums := map[bucketKey]int64{}
		for _, at := range wrong {
			sums[bucketKey{r.Counter, at.Bucket}] = -at.N
		}
		return addBuckets(ctx, tx, companyID, sums)
	})
}

// correctAll finds differences and takes them away, as many at a time as are
// found, and returns how many there were.
func correctAll[D any](find func() ([]D, error), takeAway func(wrong []D) error) (corrected int, err error) {
	for {
		wrong, err := find()
		if err != nil {
			return 0, err
		}
		if err := takeAway(wrong); err != nil {
			return 0, err
		}
		if corrected += len(wrong); len(wrong) < maxDifferences {
			return corrected, nil
		}
	}
}

// maxDifferences is how many differences are found at once.
const maxDifferences = 100

// differentSums compares the sums by key, deltas included, with the records.
func differentSums(
	ctx context.Context,
	querier sqldb.Querier,
	companyID int64,
	counter Counter,
	records Records,
) ([]Change, error) {
	counted, args := records.counted(companyID, counter)
	return sqldb.All(ctx, querier, func(row sqldb.Row) (change Change, err error) {
		err = row.Scan(&change.Day, &change.PlanID, &change.ProductID, &change.State, &change.N, &change.Cents)
		return change, err
	}, `SELECT day, plan_id, product_id, state, CAST(SUM(n) AS BIGINT), CAST(SUM(cents) AS BIGINT) FROM (
			SELECT `+keysAndSums+` FROM (`+counted+`) AS counted
			UNION ALL SELECT day, plan_id, product_id, state, -n, -cents FROM (`+records.SQL+`) AS actual
		) AS compared GROUP BY day, plan_id, product_id, state
		HAVING SUM(n) <> 0 OR SUM(cents) <> 0 ORDER BY day, plan_id, product_id, state LIMIT ?`,
		append(append(args, records.Args...), maxDifferences)...)
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
		) AS compared GROUP BY bucket HAVING SUM(n) <> 0 ORDER BY bucket LIMIT ?`,
		append(append(args, records.Args...), maxDifferences)...)
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
