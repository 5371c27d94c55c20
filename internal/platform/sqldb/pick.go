package sqldb

import (
	"context"
	"errors"
)

// Picking is what a walk along a window looks for: rows for which a condition
// holds that no index of the walk knows, or whose ids are known.
type Picking struct {
	Condition string // with Args
	Args      []any
	Has       func(id int64) bool // in place of a condition
	Skip      int64               // how many that hold are passed over
	Want      int64               // how many come after them, at most
	Most      int64               // rows that are looked at, at most
}

// NearPick is up to which offset a page is read without the total. Farther ones are
// nearer to the end of the list, which the total tells.
const NearPick = 1000

// errPicked ends a walk that has found what it wants: SQLite reads no further.
var errPicked = errors.New("picked")

// Pick returns the ids of the rows that a walk looks for, in the order of the
// window. ok is false when it gave up before it had found them: nothing is known
// then of those that come after.
func (w Window) Pick(ctx context.Context, querier Querier, picking Picking) (ids []int64, ok bool, err error) {
	w.Limit = picking.Most
	holding := `1`
	if picking.Has == nil {
		holding = `CASE WHEN ` + picking.Condition + ` THEN 1 ELSE 0 END`
	}
	text, args := w.find(w.ID + `, ` + holding)
	args = append(append([]any{}, picking.Args...), args...)
	var seen, held int64
	err = Each(ctx, querier, text, args, func(row Row) error {
		var id, holds int64
		if err := row.Scan(&id, &holds); err != nil {
			return err
		}
		seen++
		if holds == 0 || picking.Has != nil && !picking.Has(id) {
			return nil
		}
		if held++; held > picking.Skip {
			ids = append(ids, id)
		}
		if held == picking.Skip+picking.Want {
			return errPicked
		}
		return nil
	})
	if errors.Is(err, errPicked) {
		return ids, true, nil
	}
	return ids, seen < picking.Most, err
}
