package event

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"carteira/internal/platform/fault"
	"carteira/internal/platform/sqldb"
)

// Feed reads a company's events in an order that never changes: a reader that
// continues from the last event it saw gets each event once. The order is that
// of positions, which events get after their commit (placeTx).
type Feed struct {
	db      *sqldb.DB
	waiting *waitingRoom
}

// NewFeed makes the feed of the events that log records.
func NewFeed(db *sqldb.DB, log *Log) *Feed {
	feed := &Feed{db: db, waiting: newWaitingRoom()}
	log.Watch(feed.recorded)
	return feed
}

// recorded wakes the readers that wait in this process. A reader that comes
// after the check and before the commit is woken by Poll.
func (f *Feed) recorded(_ context.Context, tx *sqldb.Tx, event Event) error {
	if f.waiting.has(event.CompanyID) {
		tx.OnCommit(func() { f.waiting.wake(event.CompanyID) })
	}
	return nil
}

// Query chooses events of a company.
type Query struct {
	After string    // id of an event: only those that follow it; "": from the oldest one kept
	Since time.Time // only events that happened then or later; zero: all
	Names []Name    // only these events; empty: all
	Limit int
}

// Page is a part of the feed.
type Page struct {
	Bodies [][]byte // envelopes, as webhooks get them
	LastID string   // the last event looked at, where the next Query continues; "": there is none
	More   bool     // there are events after LastID

	last int64 // the last position given when the page was read
}

const (
	// placeBatch is how many events one transaction gives positions to.
	placeBatch = 1000
	// scanSpan is how many positions one statement looks through for wanted
	// events, and maxScans how many statements a Read uses for it: a reader that
	// wants rare events must not read the whole feed in one call.
	scanSpan = 2500
	maxScans = 4
)

// Read returns the next events of a query. When nothing is new, it costs one
// statement of index lookups.
func (f *Feed) Read(ctx context.Context, companyID int64, query Query) (Page, error) {
	cursor, err := f.cursor(ctx, companyID, query.After)
	if err != nil {
		return Page{}, err
	}
	if query.After != "" && (cursor.after < 0 || cursor.after < cursor.floor) {
		return Page{}, fault.New(fault.KindGone,
			"after: the events that follow this one are no longer kept; begin again without after, or with since")
	}
	scan := scan{db: f.db, companyID: companyID, query: query, from: max(cursor.after, cursor.floor), last: cursor.last}
	if err := scan.skip(ctx); err != nil {
		return Page{}, err
	}
	page := Page{LastID: query.After, last: cursor.last}
	for range maxScans {
		if scan.from >= scan.last || len(page.Bodies) > 0 {
			break
		}
		if err := scan.next(ctx, &page); err != nil {
			return Page{}, err
		}
	}
	page.More = scan.from < scan.last || cursor.unplaced
	return page, nil
}

// Latest is the id of a company's newest event: a Query after it gets what happens
// from now on. It is "" where no event is kept, and a Query after "" is the same then.
func (f *Feed) Latest(ctx context.Context, companyID int64) (string, error) {
	for {
		cursor, err := f.cursor(ctx, companyID, "")
		if err != nil {
			return "", err
		}
		if !cursor.unplaced {
			return lastIDOf(ctx, f.db, companyID, span{from: cursor.floor, until: cursor.last})
		}
	}
}

// cursor finds where a reader is, and gives positions to the events that have
// none yet.
func (f *Feed) cursor(ctx context.Context, companyID int64, after string) (cursor, error) {
	for {
		found, err := readCursor(ctx, f.db, companyID, after)
		if err != nil || !found.unplaced {
			return found, err
		}
		full, err := f.place(ctx, companyID)
		if err != nil {
			return cursor{}, err
		}
		if full && after != "" && found.after < 0 {
			continue // the event may be among those that have no position yet
		}
		found, err = readCursor(ctx, f.db, companyID, after)
		found.unplaced = found.unplaced && full
		return found, err
	}
}

// scan walks over the positions of a company.
type scan struct {
	db        *sqldb.DB
	companyID int64
	query     Query
	from      int64 // the last position looked at
	last      int64 // the last position there is
}

// skip moves to the first event of the query's time.
func (s *scan) skip(ctx context.Context) error {
	if s.query.Since.IsZero() || s.from >= s.last {
		return nil
	}
	first, err := sqldb.Value[int64](ctx, s.db,
		`SELECT COALESCE(MIN(position), -1) FROM events WHERE company_id = ? AND occurred_at >= ? AND position IS NOT NULL`,
		s.companyID, s.query.Since.UnixMicro())
	if err != nil {
		return fmt.Errorf("find the first event since %v: %w", s.query.Since, err)
	}
	if first < 0 {
		first = s.last // nothing is wanted before it, and the reader continues from there
	}
	s.from = max(s.from, first-1)
	return nil
}

// next adds the wanted events of the next span to the page.
func (s *scan) next(ctx context.Context, page *Page) error {
	until := min(s.from+scanSpan, s.last)
	rows, err := readSpan(ctx, s.db, s.companyID, span{s.query, s.from, until})
	if err != nil {
		return err
	}
	if len(rows) > s.query.Limit {
		rows = rows[:s.query.Limit]
		until = rows[s.query.Limit-1].position
	}
	for _, row := range rows {
		page.Bodies = append(page.Bodies, row.body)
	}
	lastID, err := s.idUpTo(ctx, rows, until)
	if lastID != "" {
		page.LastID = lastID
	}
	s.from = until
	return err
}

// idUpTo is the id of the last event up to a position that was looked at; ""
// when none is left there.
func (s *scan) idUpTo(ctx context.Context, rows []placed, until int64) (string, error) {
	if count := len(rows); count > 0 && rows[count-1].position == until {
		return rows[count-1].eventID, nil
	}
	return lastIDOf(ctx, s.db, s.companyID, span{from: s.from, until: until})
}

// place gives positions to the next events that have none, and reports whether
// there may be more of them.
func (f *Feed) place(ctx context.Context, companyID int64) (full bool, err error) {
	full, err = sqldb.Write(ctx, f.db, func(tx *sqldb.Tx) (bool, error) { return placeTx(ctx, tx, companyID) })
	if err != nil {
		return false, fmt.Errorf("give positions to events: %w", err)
	}
	return full, nil
}

// placeTx numbers committed events in the order of their ids. The lock on the
// company's feed lasts until the commit, so positions become visible in their
// order: a reader that sees one sees all before it, and an event that commits
// later gets a later one.
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
	ids, err := sqldb.Values[int64](ctx, tx,
		`SELECT id FROM events WHERE company_id = ? AND position IS NULL ORDER BY id LIMIT ?`, companyID, placeBatch)
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
	Position sqldb.Ref // none: no reader has come that far
}

// ScanRemoved reads event_id and position.
func ScanRemoved(row sqldb.Row) (removed Removed, err error) {
	err = row.Scan(&removed.ID, &removed.Position)
	return removed, err
}

// LockFeedTx keeps others from giving positions to a company's events until the
// commit. The removal of old events calls it first.
func LockFeedTx(ctx context.Context, tx *sqldb.Tx, companyID int64) error {
	_, err := lockFeed(ctx, tx, companyID)
	if errors.Is(err, sqldb.ErrNotFound) { // the feed has not been read yet
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
	return tx.Do(ctx, `DELETE FROM event_marks WHERE company_id = ? AND position < ?`, companyID, feed.floor)
}

// ErasedTx remembers the positions of events that were removed before their
// time. A reader that stopped there continues; one that had not come so far does
// not get them and gets no error.
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
