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
// Move counts them.
func (b Counter) Moved(from, to Change) []Entry {
	if from == to {
		return []Entry{{b, Change{Key: to.Key}}}
	}
	from.N, from.Cents = -from.N, -from.Cents
	return []Entry{{b, from}, {b, to}}
}

// Key is where a record is counted. The zero of a field means that the counter
// does not tell records apart by it, or that the record has none.
type Key struct {
	Bucket    int64  // of the record's id
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

// bucketSize is how many consecutive ids share a bucket.
const bucketSize = 4096

// BucketOf is the bucket of an id.
func BucketOf(id int64) int64 { return id / bucketSize }

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
func (b Counter) Total(ctx context.Context, querier sqldb.Querier, companyID int64) (total int64, err error) {
	err = sqldb.Together(ctx, querier, totalStatement(companyID, b, &total))
	return total, err
}

// Totals is Total for many companies at once; one without records is left out.
func (b Counter) Totals(ctx context.Context, querier sqldb.Querier, companyIDs []int64) (map[int64]int64, error) {
	return totals(ctx, querier, companyIDs, b)
}

// Sum counts the records, and their money, at the keys that the filter chooses.
func (b Counter) Sum(
	ctx context.Context,
	querier sqldb.Querier,
	companyID int64,
	filter Filter,
) (n, cents int64, err error) {
	err = sqldb.Together(ctx, querier, sumStatement(companyID, b, filter, &n, &cents))
	return n, cents, err
}

// By counts the records by the values of a column of the keys that the filter
// chooses.
func By[K comparable](
	ctx context.Context,
	querier sqldb.Querier,
	counter Counter,
	companyID int64,
	column string,
	filter Filter,
) (map[K]Sums, error) {
	return by[K](ctx, querier, companyID, counter, column, filter)
}

// Spans counts the records by state in each of the filter's days, which follow
// each other.
func Spans(
	ctx context.Context,
	querier sqldb.Querier,
	counter Counter,
	companyID int64,
	filter Filter,
) ([]map[string]Sums, error) {
	return spans(ctx, querier, companyID, counter, filter)
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
	companies, err := companiesWithDeltas(ctx, db)
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
func Look() sqldb.Statement { return sqldb.Statement{Text: anyDelta} }

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
