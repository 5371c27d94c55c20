package webhook

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"

	"carteira/internal/account"
	"carteira/internal/event"
	"carteira/internal/platform/sqldb"
	"carteira/internal/webhook/sender"
)

// pruneBatch is how many rows one step of Prune looks at: few, so that a claim
// never waits for it.
const pruneBatch = 500

// wholeWalk is after how long Prune begins at the beginning again.
const wholeWalk = 24 * time.Hour

// walk is how far Prune has come through a table, so that the next run does not
// walk past everything that had to stay. It starts again when a webhook was
// changed here, and once a day for what was changed elsewhere.
type walk struct {
	read    func(context.Context, sqldb.Querier, int64, int) ([]oldRow, error)
	remove  func(context.Context, *sqldb.Tx, int64, []int64) ([]string, error) // what went, by the ids that people know
	kind    string                                                             // of what is removed
	newest  int64                                                              // how many of the newest stay at any age; 0: age decides
	after   int64
	began   time.Time
	changed int64 // what the sender's Generation was then
}

// walks are those of a service; one Prune runs at a time.
type walks struct {
	sync.Mutex
	deliveries, events walk
}

// Prune removes history that is older than it is kept, in small steps.
func (s *Service) Prune(ctx context.Context) error {
	s.walks.Lock()
	defer s.walks.Unlock()
	before := s.db.Now().Add(-s.options.Keep)
	s.walks.events.newest = s.options.KeepEvents
	for _, w := range []*walk{&s.walks.deliveries, &s.walks.events} {
		changed := s.sender.Generation()
		if s.db.Now().Sub(w.began) >= wholeWalk || w.changed != changed {
			w.after, w.began, w.changed = 0, s.db.Now(), changed
		}
		for more := true; more; {
			var err error
			if more, err = s.pruneStep(ctx, w, before); err != nil {
				return fmt.Errorf("prune history: %w", err)
			}
		}
	}
	return s.db.Write(ctx, func(tx *sqldb.Tx) error { return pruneReplays(ctx, tx, before) })
}

// pruneStep removes what is old among the next rows, and reports whether there
// may be more.
func (s *Service) pruneStep(ctx context.Context, walk *walk, before time.Time) (more bool, err error) {
	rows, err := walk.read(ctx, s.db, walk.after, pruneBatch)
	if err != nil {
		return false, err
	}
	first := int64(math.MaxInt64) // of those that are kept by their number
	if walk.newest > 0 {
		if first, err = newestEvent(ctx, s.db); err != nil {
			return false, err
		}
		first -= walk.newest - 1
	}
	old := map[int64][]int64{}
	after := walk.after
	more = len(rows) == pruneBatch
	for _, row := range rows {
		if row.id >= first || walk.newest == 0 && !row.at.Before(before) {
			more = false
			break
		}
		after = row.id
		if !row.needed {
			old[row.companyID] = append(old[row.companyID], row.id)
		}
	}
	if len(old) > 0 {
		err = s.db.Write(ctx, func(tx *sqldb.Tx) error { return s.removeAll(ctx, tx, walk, old) })
	}
	if err == nil {
		walk.after = after
	}
	return more, err
}

func (s *Service) removeAll(ctx context.Context, tx *sqldb.Tx, walk *walk, old map[int64][]int64) error {
	for companyID, ids := range old {
		gone, err := walk.remove(ctx, tx, companyID, ids)
		if err != nil {
			return err
		}
		if s.options.Pruned == nil {
			continue
		}
		if err := s.options.Pruned(ctx, tx, account.Pruned{CompanyID: companyID, Kind: walk.kind, IDs: gone}); err != nil {
			return err
		}
	}
	return nil
}

// aboutPerson finds the events that bear the uuid of a customer.
func aboutPerson(subject account.DataSubject) string {
	return `%"uuid":"` + subject.UUID + `"%`
}

// KeptAbout lists the events about a customer, as they were sent.
func (s *Service) KeptAbout(
	ctx context.Context, querier sqldb.Querier, actor account.Actor, subject account.DataSubject,
) ([]account.Kept, error) {
	return account.ReadKept(ctx, querier, []any{actor.Company.ID, aboutPerson(subject)},
		`SELECT event_id, name, occurred_at, body FROM events WHERE company_id = ? AND body LIKE ? ORDER BY id`)
}

// EraseTx removes the events about a customer, those that wait to be sent too, with
// the history of their deliveries.
func (s *Service) EraseTx(ctx context.Context, tx account.Tx, subject account.DataSubject) error {
	ids, err := sqldb.Values[int64](ctx, tx, `SELECT id FROM events WHERE company_id = ? AND body LIKE ?`,
		tx.Company.ID, aboutPerson(subject))
	if err != nil || len(ids) == 0 {
		return err
	}
	return eraseEvents(ctx, tx, ids)
}

func eraseEvents(ctx context.Context, tx account.Tx, ids []int64) error {
	if err := sender.Drop(ctx, tx.Tx, tx.Company.ID, ids); err != nil {
		return err
	}
	deliveries, err := sqldb.Values[int64](ctx, tx,
		`DELETE FROM deliveries WHERE company_id = ? AND event_id {in ?} RETURNING id`, tx.Company.ID, ids)
	if err != nil {
		return err
	}
	if err := removeAttempts(ctx, tx.Tx, tx.Company.ID, deliveries); err != nil {
		return err
	}
	removed, err := sqldb.All(ctx, tx, event.ScanRemoved,
		`DELETE FROM events WHERE company_id = ? AND id {in ?} RETURNING event_id, position`, tx.Company.ID, ids)
	if err != nil {
		return err
	}
	return event.ErasedTx(ctx, tx.Tx, tx.Company.ID, removed)
}
