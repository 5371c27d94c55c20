// Package tally keeps counts and sums of a company's records, so that a list of
// fifty out of a million knows its total without counting, and a month's
// figures are not added up at every request. It owns the tally tables; what is
// counted in which counter is decided by the room that owns the records.
//
// A change appends rows to tally_deltas, in the transaction of the change and
// waiting for no other; Compact adds them to the sums from time to time. What is
// read is always sums plus deltas, in one statement, so that the number is
// exact at every moment.
package tally

import (
	"context"
	"fmt"

	"carteira/internal/platform/sqldb"
)

// Counter is a set of records that are counted together.
type Counter string

// The counters. Each is written by the room that owns its records, and read by
// that room and the dashboard.
const (
	Customers Counter = "customers" // Day: due date; PlanID, ProductID; State: see below
	Created   Counter = "created"   // Day: day of creation; PlanID, ProductID; State: Gone when deleted
	Recurring Counter = "recurring" // Day: month, YYYY-MM; PlanID, ProductID; State: see below; customers and what they are worth a month
	Debtors   Counter = "debtors"   // Day: due date of the oldest open invoice; PlanID, ProductID of the customer; customers
	Renewals  Counter = "renewals"  // Day: month, YYYY-MM; customers renewed in it
	Invoices  Counter = "invoices"  // Day: due date; PlanID, ProductID; State: status
	Payments  Counter = "payments"  // Day: day of payment; State: status/means
	Receipts  Counter = "receipts"  // Day: day of payment or refund; PlanID, ProductID; State: means; payments, refunds as a minus
	Paid      Counter = "paid"      // Day: day of payment; PlanID, ProductID; State: on_time or late, with _gone when deleted; invoices
	Resellers Counter = "resellers" // Day: last day; PlanID; State: level, kind, suspended, time zone
)

// The states of customers; the others pay their plan's value.
const (
	CustomerCancelled = "cancelled"
	CustomerOwnPrice  = "own"
)

// Gone is the state of deleted customers that still count as created, and the
// suffix of the states of Paid and Recurring that mean the same.
const Gone = "gone"

// The states of recurring revenue: what it was before it was counted by month,
// how a customer has moved since its month began, and what went from one plan or
// product to another. Lost customers that were deleted have the suffix Gone.
const (
	RecurringBase = "base"
	RecurringNew  = "new"
	RecurringLost = "lost"
	RecurringUp   = "up"
	RecurringDown = "down"
	RecurringIn   = "in"
	RecurringOut  = "out"
)

// Entry is a change of one of several counters.
type Entry struct {
	Counter Counter
	Change
}

// AddAll counts changes of several counters at once.
func AddAll(ctx context.Context, tx *sqldb.Tx, companyID int64, entries []Entry) error {
	if len(entries) == 0 {
		return nil
	}
	if err := appendDeltas(ctx, tx, companyID, entries); err != nil {
		return fmt.Errorf("count: %w", err)
	}
	return nil
}

// Moved is the entries of a record that was at one key and is now at another, as
// Move counts them; none when nothing moved.
func (b Counter) Moved(from, to Change) []Entry {
	if from == to {
		return nil
	}
	from.N, from.Cents = -from.N, -from.Cents
	return []Entry{{b, from}, {b, to}}
}

// Key is where a record is counted. The zero of a field means that the counter
// does not tell records apart by it, or that the record has none.
type Key struct {
	Day       string // YYYY-MM-DD
	PlanID    int64
	ProductID int64
	State     string
}

// Change is how many records, and how much money, come to a key or leave it.
type Change struct {
	Key
	N     int64
	Cents int64
}

// Add counts changes.
func (b Counter) Add(ctx context.Context, tx *sqldb.Tx, companyID int64, changes ...Change) error {
	entries := make([]Entry, len(changes))
	for n, change := range changes {
		entries[n] = Entry{b, change}
	}
	return AddAll(ctx, tx, companyID, entries)
}

// Move counts a record that was at one key and is now at another.
func (b Counter) Move(ctx context.Context, tx *sqldb.Tx, companyID int64, from, to Change) error {
	return AddAll(ctx, tx, companyID, b.Moved(from, to))
}

// Total is how many records the company has in the counter.
func (b Counter) Total(ctx context.Context, querier sqldb.Querier, companyID int64) (int64, error) {
	return sqldb.Value[int64](ctx, querier, `
		SELECT COALESCE((SELECT n FROM tally_totals WHERE company_id = ? AND book = ?), 0)
			+ COALESCE((SELECT CAST(SUM(n) AS BIGINT) FROM tally_deltas WHERE company_id = ? AND book = ?), 0)`,
		companyID, string(b), companyID, string(b))
}

// Totals is Total for many companies at once; one without records is left out.
func (b Counter) Totals(ctx context.Context, querier sqldb.Querier, companyIDs []int64) (map[int64]int64, error) {
	found := make(map[int64]int64, len(companyIDs))
	const of = ` WHERE book = ? AND company_id {in ?}`
	err := sqldb.Each(ctx, querier, `
		SELECT company_id, n FROM tally_totals`+of+`
		UNION ALL SELECT company_id, CAST(SUM(n) AS BIGINT) FROM tally_deltas`+of+` GROUP BY company_id`,
		[]any{string(b), companyIDs, string(b), companyIDs}, func(row sqldb.Row) error {
			var companyID, n int64
			err := row.Scan(&companyID, &n)
			found[companyID] += n
			return err
		})
	return found, err
}

// Sum counts the records, and their money, at the keys that the filter chooses.
func (b Counter) Sum(
	ctx context.Context, querier sqldb.Querier, companyID int64, filter Filter,
) (n, cents int64, err error) {
	from, args := sumsOf("state", companyID, b, filter)
	err = sqldb.Each(ctx, querier, `
		SELECT COALESCE(CAST(SUM(n) AS BIGINT), 0), COALESCE(CAST(SUM(cents) AS BIGINT), 0) FROM `+from,
		args, func(row sqldb.Row) error { return row.Scan(&n, &cents) })
	return n, cents, err
}

// By counts the records by the values of a column of the keys that the filter
// chooses.
func By[K comparable](
	ctx context.Context, querier sqldb.Querier, counter Counter, companyID int64, column string, filter Filter,
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

// Spans counts the records by state in each of the filter's days, which follow
// each other. The database sorts the days into spans, so that what is read is as
// much for a company of a million records as for one of ten.
func Spans(
	ctx context.Context, querier sqldb.Querier, counter Counter, companyID int64, filter Filter,
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

// Cut makes days that follow each other: each begins with a start and ends with
// the next, the last with until.
func Cut(starts []string, until string) []Days {
	list := make([]Days, len(starts))
	for n, start := range starts {
		list[n] = Days{From: start, Until: until}
		if n+1 < len(starts) {
			list[n].Until = starts[n+1]
		}
	}
	return list
}

// Sums is a number of records and their money.
type Sums struct{ N, Cents int64 }

// compactBatch bounds the transaction of one compaction to a few milliseconds.
const compactBatch = 2000

// Compact adds the deltas of all companies to their sums. It may run at any time
// and in any number of processes; each delta is compacted once. What another
// process is at is left to it.
func Compact(ctx context.Context, db *sqldb.DB) error {
	companies, err := sqldb.Values[int64](ctx, db, `SELECT DISTINCT company_id FROM tally_deltas`)
	if err != nil {
		return err
	}
	for _, companyID := range companies {
		if err := compactCompany(ctx, db, companyID); err != nil {
			return fmt.Errorf("compact the counts of company %d: %w", companyID, err)
		}
	}
	return nil
}

// Look finds whether there is anything to compact.
func Look() sqldb.Statement {
	return sqldb.Statement{Text: `SELECT 1 FROM tally_deltas /* every company_id */`}
}

func compactCompany(ctx context.Context, db *sqldb.DB, companyID int64) error {
	for compacted := compactBatch; compacted == compactBatch; {
		err := db.Write(ctx, func(tx *sqldb.Tx) error {
			compacted = 0
			if claimed, err := claimDeltas(ctx, tx, companyID); err != nil || !claimed {
				return err
			}
			deltas, err := takeDeltas(ctx, tx, companyID, compactBatch)
			compacted = len(deltas)
			if err != nil {
				return err
			}
			return addSums(ctx, tx, companyID, deltas)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
