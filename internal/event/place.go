package event

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"carteira/internal/platform/sqldb"
)

// place gives positions to the next events that have none, and reports whether
// there may be more of them.
func (f *Feed) place(ctx context.Context, companyID int64) (full bool, err error) {
	err = f.db.Write(ctx, func(tx *sqldb.Tx) (err error) {
		full, err = placeTx(ctx, tx, companyID)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("give positions to events: %w", err)
	}
	return full, nil
}

// placeTx numbers committed events in the order of their ids. The lock on the
// company's feed lasts until the commit, so positions become visible in their
// order: whoever sees one sees all before it, and an event that commits later
// gets a later one.
func placeTx(ctx context.Context, tx *sqldb.Tx, companyID int64) (full bool, err error) {
	feed, err := lockFeed(ctx, tx, companyID)
	if errors.Is(err, sqldb.ErrNotFound) {
		if err = insertFeed(ctx, tx, companyID); err == nil {
			feed, err = lockFeed(ctx, tx, companyID)
		}
	}
	if err != nil {
		return false, err
	}
	ids, err := unplacedIDs(ctx, tx, companyID, placeBatch)
	if err != nil || len(ids) == 0 {
		return false, err
	}
	if err := setPositions(ctx, tx, companyID, feed.last, ids); err != nil {
		return false, err
	}
	feed.last += int64(len(ids))
	return len(ids) == placeBatch, updateFeed(ctx, tx, companyID, feed)
}

// Removed is an event that is no longer kept.
type Removed struct {
	ID       string
	Position sqldb.Ref // none: nobody has read that far
}

// ScanRemoved reads event_id and position.
func ScanRemoved(row sqldb.Row) (removed Removed, err error) {
	err = row.Scan(&removed.ID, &removed.Position)
	return removed, err
}

// LockFeedTx keeps others from giving positions to a company's events until the
// commit. Who removes old events calls it first.
func LockFeedTx(ctx context.Context, tx *sqldb.Tx, companyID int64) error {
	_, err := lockFeed(ctx, tx, companyID)
	if errors.Is(err, sqldb.ErrNotFound) { // nobody has read the feed yet
		return nil
	}
	return err
}

// PrunedTx remembers that old events were removed: a reader that had not come so
// far has missed them, and one that stopped at the last of them has not.
func PrunedTx(ctx context.Context, tx *sqldb.Tx, companyID int64, removed []Removed) error {
	feed, err := lockFeed(ctx, tx, companyID)
	if errors.Is(err, sqldb.ErrNotFound) || len(removed) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	newest := slices.MaxFunc(removed, func(a, b Removed) int { return int(a.Position.V - b.Position.V) })
	if newest.Position.V > feed.floor {
		feed.floor = newest.Position.V
		if err := insertMark(ctx, tx, companyID, newest); err != nil {
			return err
		}
	}
	if slices.ContainsFunc(removed, func(r Removed) bool { return !r.Position.Valid }) {
		feed.last++ // a position that no event has: every reader of before has missed something
		feed.floor = feed.last
	}
	if err := updateFeed(ctx, tx, companyID, feed); err != nil {
		return err
	}
	return deleteMarks(ctx, tx, companyID, feed.floor)
}

// ErasedTx remembers the positions of events that were removed before their
// time. Readers are not told: one that stopped there continues, and one that had
// not come so far does not get them.
func ErasedTx(ctx context.Context, tx *sqldb.Tx, companyID int64, removed []Removed) error {
	for _, erased := range removed {
		if !erased.Position.Valid {
			continue
		}
		if err := insertMark(ctx, tx, companyID, erased); err != nil {
			return err
		}
	}
	return nil
}
