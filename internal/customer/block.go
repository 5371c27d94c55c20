package customer

import (
	"context"

	"carteira/internal/platform/sqldb"
)

// A search reads a few keys of all segments. On SQLite, where what is near in a key
// is near on disk, a segment that were written among the keys of all others would
// change a page for each of its keys; and a search of segments that lie apart
// reads a page for each segment and key. So the grams of a segment are written as
// a block, and the blocks of many segments are merged, a few keys in a step:
// all rows of those keys are moved together. PostgreSQL has its rows in no
// order, and need not merge.

// keysOfStep is how many keys are moved in a step.
const keysOfStep = 40

// merge does the next step of merging blocks.
func (s sealer) merge(ctx context.Context, tx *sqldb.Tx, companyID int64) (sealing, error) {
	if tx.Engine() != sqldb.SQLite {
		return sealingOver, nil
	}
	segments, err := unmerged(ctx, tx, companyID, true, s.block)
	if err != nil {
		return sealingOver, err
	}
	if len(segments) > 0 {
		return sealingGoesOn, mergeKeys(ctx, tx, companyID, segments)
	}
	segments, err = unmerged(ctx, tx, companyID, false, s.block)
	if err != nil || len(segments) < s.block {
		return sealingOver, err
	}
	return sealingGoesOn, beginBlock(ctx, tx, companyID, -segments[0], segments)
}

// mergeKeys moves the next keys of some segments, or ends their block.
func mergeKeys(ctx context.Context, tx *sqldb.Tx, companyID int64, segments []int64) error {
	for _, last := range segments {
		keys, err := firstKeys(ctx, tx, companyID, last, keysOfStep)
		if err != nil {
			return err
		}
		if len(keys) > 0 {
			block, err := blockOf(ctx, tx, companyID, last)
			if err != nil {
				return err
			}
			return moveKeys(ctx, tx, companyID, block, segments, keys)
		}
	}
	return endBlock(ctx, tx, companyID, segments)
}
