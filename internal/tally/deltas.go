package tally

import (
	"context"
	"slices"

	"carteira/internal/platform/sqldb"
)

// deltas are the changes of counters that are written at the end of a
// transaction, one row for each key: on SQLite the transactions that share a
// commit share the rows. A key whose changes come to nothing keeps its row,
// which is the stamp of the change; see Move.
type deltas struct {
	list   []pending        // in the order in which their keys came
	places map[deltaKey]int // in the list, once it is long; a map of five costs more than a look at them
}

type pending struct {
	deltaKey
	Sums
}

type deltaKey struct {
	companyID int64
	counter   Counter
	Key
}

// pendingDeltas is the key under which a transaction puts its deltas off.
type pendingDeltas struct{}

// maxDeltas is how many keys a transaction puts off; past it they are written.
const maxDeltas = 512

func appendDeltas(ctx context.Context, tx *sqldb.Tx, companyID int64, entries []Entry) error {
	late := sqldb.Later(tx, pendingDeltas{}, func() *deltas { return &deltas{list: make([]pending, 0, usualDeltas)} })
	for _, entry := range entries {
		late.add(deltaKey{companyID, entry.Counter, entry.Key}, Sums{entry.N, entry.Cents})
	}
	if len(late.list) < maxDeltas {
		return nil
	}
	return tx.CatchUp(ctx)
}

// A create has five deltas. shortList is how many are found without a map.
const (
	usualDeltas = 6
	shortList   = 16
)

func (d *deltas) add(key deltaKey, more Sums) {
	if at := d.place(key); at >= 0 {
		d.list[at].N += more.N
		d.list[at].Cents += more.Cents
		return
	}
	d.list = append(d.list, pending{key, more})
	if d.places != nil {
		d.places[key] = len(d.list) - 1
	} else if len(d.list) > shortList {
		d.places = make(map[deltaKey]int, 2*len(d.list))
		for at, known := range d.list {
			d.places[known.deltaKey] = at
		}
	}
}

// place is where a key is in the list; -1: it is new.
func (d *deltas) place(key deltaKey) int {
	if d.places != nil {
		if at, known := d.places[key]; known {
			return at
		}
		return -1
	}
	return slices.IndexFunc(d.list, func(known pending) bool { return known.deltaKey == key })
}

// Tables is the table of deltas.
func (d *deltas) Tables() []string { return []string{"tally_deltas"} }

// Merge adds the changes of another transaction.
func (d *deltas) Merge(other sqldb.Late) {
	more := other.(*deltas) //nolint:forcetypeassert // the key says so
	for _, change := range more.list {
		d.add(change.deltaKey, change.Sums)
	}
}

// Statements insert the rows.
func (d *deltas) Statements() []sqldb.Statement {
	statements := make([]sqldb.Statement, 0, 1)
	for piece := range sqldb.Pieces(d.list) {
		values := make([]any, 0, len(piece)*deltaColumns)
		for _, change := range piece {
			values = append(
				values,
				change.companyID,
				string(change.counter),
				change.Bucket,
				change.Day,
				change.PlanID,
				change.ProductID,
				change.State,
				change.N,
				change.Cents,
			)
		}
		statements = append(statements, sqldb.Statement{
			Text: `INSERT INTO tally_deltas (company_id, book, bucket, day, plan_id, product_id, state, n, cents)
				VALUES ` + sqldb.Tuples(len(piece), deltaColumns),
			Args: values,
		})
	}
	return statements
}

// deltaColumns is how many columns a delta is inserted with.
const deltaColumns = 9
