package sqldb

import (
	"context"
	"errors"
)

// ReserveIDs keeps n consecutive ids of a table for the caller, and returns the
// first: no other row will get one of them. It is for SQLite, whose
// AUTOINCREMENT has its counters in a table that may be written.
func ReserveIDs(ctx context.Context, tx *Tx, table string, count int64) (first int64, err error) {
	last, err := Value[int64](
		ctx,
		tx,
		`UPDATE sqlite_sequence SET seq = seq + ? WHERE name = ? RETURNING seq`,
		count,
		table,
	)
	if errors.Is(err, ErrNotFound) { // the table has never had a row
		last = count
		_, err = tx.Exec(ctx, `INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)`, table, last)
	}
	return last - count + 1, err
}
