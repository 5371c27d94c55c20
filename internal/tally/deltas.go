package tally

import (
	"context"

	"carteira/internal/platform/sqldb"
)

type deltaKey struct {
	counter Counter
	Key
}

// appendDeltas writes changes of counters, one row for each key. A key whose
// changes come to nothing keeps its row, which is the stamp of the change; see
// Move.
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
