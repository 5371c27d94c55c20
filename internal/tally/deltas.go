package tally

import (
	"context"

	"carteira/internal/platform/sqldb"
)

// deltas are the changes of counters that are written at the end of a
// transaction, one row for each key: on SQLite the transactions that share a
// commit share the rows. A key whose changes come to nothing keeps its row,
// which is the stamp of the change; see Move.
type deltas struct {
	keys []deltaKey // in the order in which they came
	sums map[deltaKey]Sums
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
	late := sqldb.Later(tx, pendingDeltas{}, func() *deltas { return &deltas{sums: map[deltaKey]Sums{}} })
	for _, entry := range entries {
		late.add(deltaKey{companyID, entry.Counter, entry.Key}, Sums{entry.N, entry.Cents})
	}
	if len(late.keys) < maxDeltas {
		return nil
	}
	return tx.CatchUp(ctx)
}

func (d *deltas) add(key deltaKey, more Sums) {
	sums, known := d.sums[key]
	if !known {
		d.keys = append(d.keys, key)
	}
	d.sums[key] = Sums{sums.N + more.N, sums.Cents + more.Cents}
}

// Tables is the table of deltas.
func (d *deltas) Tables() []string { return []string{"tally_deltas"} }

// Merge adds the changes of another transaction.
func (d *deltas) Merge(other sqldb.Late) {
	more := other.(*deltas) //nolint:forcetypeassert // the key says so
	for _, key := range more.keys {
		d.add(key, more.sums[key])
	}
}

// Statements insert the rows.
func (d *deltas) Statements() []sqldb.Statement {
	statements := make([]sqldb.Statement, 0, 1)
	for piece := range sqldb.Pieces(d.keys) {
		values := make([]any, 0, len(piece)*deltaColumns)
		for _, key := range piece {
			sums := d.sums[key]
			values = append(
				values,
				key.companyID,
				string(key.counter),
				key.Bucket,
				key.Day,
				key.PlanID,
				key.ProductID,
				key.State,
				sums.N,
				sums.Cents,
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
