package tally

import (
	"context"

	"carteira/internal/platform/civil"
	"carteira/internal/platform/rows"
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
	// SQL selects day, plan_id, product_id, state, n and cents of each record,
	// under these names.
	SQL  string
	Args []any
	// States are those that SQL selects, where it does not select all: a counter
	// may also have records that were deleted. Empty: all of them.
	States []string
	// Days are the condition of those that SQL selects; none: all of them.
	Days sqldb.Where
	// View is what of the counter is compared, where that is not its keys: a list
	// of expressions named as those of SQL. What is wrong is corrected at the keys
	// that it has.
	View string
}

// partial reports whether the records are not all that the counter has, so that
// its total cannot be compared.
func (r Records) partial() bool {
	return len(r.States) > 0 || r.Days.String() != "" || r.View != ""
}

const keysAndSums = `day, plan_id, product_id, state, n, cents`

// counted selects what the counter has, deltas included.
func (r Records) counted(companyID int64, counter Counter) (text string, args []any) {
	view := r.View
	if view == "" {
		view = keysAndSums
	}
	var of sqldb.Where
	of.Join(r.Days)
	of.If(len(r.States) > 0, "state {in ?}", r.States)
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
	months, err := differentMonths(ctx, querier, companyID, r.Counter)
	if err != nil {
		return nil, err
	}
	found = append(found, months...)
	if records.partial() {
		return found, nil
	}
	total, err := differentTotal(ctx, querier, companyID, r.Counter, records)
	if total != 0 {
		found = append(found, Change{N: total})
	}
	return found, err
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
	keys, err := r.takeAway(ctx, tx, companyID, byDay, func() ([]Change, error) {
		return differentSums(ctx, tx, companyID, r.Counter, records)
	})
	if err != nil {
		return 0, err
	}
	months, err := r.takeAway(ctx, tx, companyID, byMonth, func() ([]Change, error) {
		return differentMonths(ctx, tx, companyID, r.Counter)
	})
	if keys += months; err != nil || records.partial() {
		return keys, err
	}
	total, err := differentTotal(ctx, tx, companyID, r.Counter, records)
	if err != nil || total == 0 {
		return keys, err
	}
	return keys + 1, addTotals(ctx, tx, companyID, map[Counter]int64{r.Counter: -total})
}

// takeAway finds differences and takes them away, as many at a time as are
// found, and returns how many there were.
func (r Recount) takeAway(
	ctx context.Context, tx *sqldb.Tx, companyID int64, table sumTable, find func() ([]Change, error),
) (corrected int, err error) {
	for {
		wrong, err := find()
		if err != nil {
			return 0, err
		}
		sums := map[sumKey]Sums{}
		for _, at := range wrong {
			sums[sumKey{r.Counter, at.Key}] = Sums{-at.N, -at.Cents}
		}
		if err := addKeys(ctx, tx, companyID, table, sums); err != nil {
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
	ctx context.Context, querier sqldb.Querier, companyID int64, counter Counter, records Records,
) ([]Change, error) {
	counted, args := records.counted(companyID, counter)
	return differences(ctx, querier, `SELECT `+keysAndSums+` FROM (`+counted+`) AS counted
		UNION ALL SELECT day, plan_id, product_id, state, -n, -cents FROM (`+records.SQL+`) AS actual`, append(args, records.Args...))
}

// differentMonths compares the sums by month with those by day. Both are changed
// in the same transactions, so deltas have no part in it.
func differentMonths(ctx context.Context, querier sqldb.Querier, companyID int64, counter Counter) ([]Change, error) {
	return differences(ctx, querier, `
		SELECT month AS day, plan_id, product_id, state, n, cents FROM tally_months WHERE company_id = ? AND book = ?
		UNION ALL SELECT substr(day, 1, 7), plan_id, product_id, state, -n, -cents FROM tally_sums WHERE company_id = ? AND book = ?`,
		[]any{companyID, string(counter), companyID, string(counter)})
}

// differences are the keys at which what is compared does not add up to zero.
func differences(ctx context.Context, querier sqldb.Querier, compared string, args []any) ([]Change, error) {
	return sqldb.All(ctx, querier, rows.Into(func(change *Change) []any {
		return []any{&change.Day, &change.PlanID, &change.ProductID, &change.State, &change.N, &change.Cents}
	}), `SELECT day, plan_id, product_id, state, CAST(SUM(n) AS BIGINT), CAST(SUM(cents) AS BIGINT) FROM (`+compared+`) AS compared
		GROUP BY day, plan_id, product_id, state
		HAVING SUM(n) <> 0 OR SUM(cents) <> 0 ORDER BY day, plan_id, product_id, state LIMIT ?`, append(args, maxDifferences)...)
}

func differentTotal(
	ctx context.Context, querier sqldb.Querier, companyID int64, counter Counter, records Records,
) (int64, error) {
	args := []any{companyID, string(counter), companyID, string(counter)}
	return sqldb.Value[int64](ctx, querier, `
		SELECT CAST(COALESCE(SUM(n), 0) AS BIGINT) FROM (
			SELECT n FROM tally_totals WHERE company_id = ? AND book = ?
			UNION ALL SELECT n FROM tally_deltas WHERE company_id = ? AND book = ?
			UNION ALL SELECT -n FROM (`+records.SQL+`) AS actual
		) AS compared`, append(args, records.Args...)...)
}
