package intake

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"carteira/internal/account"
	"carteira/internal/catalog"
	"carteira/internal/customer"
	"carteira/internal/customer/sheet"
	"carteira/internal/platform/crashpoint"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/id"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/worker"
)

// SQLite has one writer, and an import in one transaction would keep it from
// everybody else for as long as it takes. There the customers of a large import
// are staged: written a few at a time under ids that were reserved for them and
// that no reader sees (customer.Visible), then shown by a change of one row. One
// import at a time can do so.
//
//	phase       the customers are                      then
//	free        none                                   staging
//	staging     being written, hidden                  settling, or discarding when one is refused or the process dies
//	settling    all visible, consequences being drawn  free
//	discarding  being deleted, hidden                  free
type phase string

const (
	free       phase = "free"
	staging    phase = "staging"
	settling   phase = "settling"
	discarding phase = "discarding"
)

// stageLease is after how long an import that no process has renewed is another
// one's to finish.
const stageLease = 15 * time.Second

// stagePause is how often an import looks whether the one before it is over.
const stagePause = 100 * time.Millisecond

// stage is the import that is staged.
type stage struct {
	phase      phase
	companyID  int64
	hiddenFrom int64 // the hidden ids
	hiddenTo   int64
	next       int64 // the next id to be given, settled or deleted, as the phase is
	last       int64
	choices    stageChoices
	lease      string // of the process that works on it
	renewedAt  time.Time
}

// stageChoices are what another process must know to finish an import.
type stageChoices struct {
	customer.Consequences
	addedGoods
}

var noStage = stage{phase: free, hiddenTo: -1, last: -1}

// number gives customers the ids that were reserved for them.
func (st *stage) number(customers []customer.Customer) error {
	if st.next+int64(len(customers))-1 > st.last {
		return errors.New("the file has more rows than when it was checked")
	}
	for i := range customers {
		customers[i].ID = st.next
		st.next++
	}
	return nil
}

// show makes the customers visible.
func (st *stage) show() {
	st.phase, st.next = settling, st.hiddenFrom
	st.hiddenFrom, st.hiddenTo = noStage.hiddenFrom, noStage.hiddenTo
}

// chunk takes the next ids of a step. After the last the stage is free.
func (st *stage) chunk(size int64) (from, to int64) {
	from, to = st.next, min(st.next+size-1, st.last)
	if st.next = to + 1; st.next > st.last {
		*st = noStage
	}
	return from, to
}

// errTakenOver is what an import comes to that stood still for too long.
var errTakenOver = fault.Conflict("the import stood still for too long and was undone; try again")

// stager is the process that is at an import.
type stager struct {
	service *Service
	actor   account.Actor
	stage   stage
	yielded time.Time // when others could write last
}

// writeStaged writes all rows hidden, and shows them when all are written.
func (im *importer) writeStaged(ctx context.Context, rows Rows) (outcome, error) {
	stager, err := im.service.reserve(ctx, im.actor, int64(im.total.Skipped), im.options.consequences())
	if err != nil {
		return outcome{}, err
	}
	out, err := im.writeEach(ctx, rows, func(batch []sheet.Row) (written outcome, err error) {
		err = stager.step(ctx, func(tx *sqldb.Tx, st *stage) error {
			written, err = im.write(ctx, tx, batch, st)
			return err
		})
		return written, err
	})
	crashpoint.Here("import-staged")
	if err == nil {
		err = stager.step(ctx, func(tx *sqldb.Tx, st *stage) error {
			st.show()
			return im.finish(ctx, tx, out)
		})
	}
	switch {
	case errors.Is(err, errTakenOver):
		return out, err
	case err != nil:
		return out, errors.Join(err, stager.discard(context.WithoutCancel(ctx)))
	}
	crashpoint.Here("import-shown")
	im.total = im.done(out)
	return out, stager.settle(context.WithoutCancel(ctx))
}

// step runs one short transaction of an import, if it is still this process's,
// and lets others write now and then.
func (s *stager) step(ctx context.Context, do func(*sqldb.Tx, *stage) error) error {
	var after stage
	err := s.service.db.Write(ctx, func(tx *sqldb.Tx) error {
		after = s.stage
		if err := do(tx, &after); err != nil {
			return err
		}
		return replaceStage(ctx, tx, s.stage, &after)
	})
	if err != nil {
		return err
	}
	s.stage = after
	return s.service.db.Yield(ctx, &s.yielded)
}

// settle draws the consequences of visible customers: of those who are still
// there, as they are now. A failure for one of them does not stop the others.
func (s *stager) settle(ctx context.Context) error {
	var failures []error
	size := int64(importBatch)
	for s.stage.phase == settling {
		err := s.settleSome(ctx, size)
		switch {
		case err == nil:
		case ctx.Err() != nil || errors.Is(err, errTakenOver) || errors.Is(err, sqldb.ErrUnavailable) || errors.Is(err, sqldb.ErrBusy):
			return errors.Join(append(failures, err)...)
		case size > 1:
			size = 1 // find out which
			continue
		default:
			failures = append(failures, fmt.Errorf("after the import of customer %d: %w", s.stage.next, err))
			if err := s.step(ctx, func(_ *sqldb.Tx, st *stage) error { st.chunk(1); return nil }); err != nil {
				return errors.Join(append(failures, err)...)
			}
			size = importBatch
		}
	}
	return errors.Join(failures...)
}

func (s *stager) settleSome(ctx context.Context, size int64) error {
	return worker.Guard(ctx, func() error {
		return s.step(ctx, func(tx *sqldb.Tx, st *stage) error {
			want := st.choices.Consequences
			from, to := st.chunk(size)
			list, err := customer.Staged(ctx, tx, s.actor.Company.ID, from, to)
			if err != nil {
				return err
			}
			return s.service.customers.Announce(ctx, s.actor.In(tx), want, list)
		})
	})
}

// discard deletes customers who were never visible, and what was made for them.
func (s *stager) discard(ctx context.Context) error {
	if s.stage.phase == staging {
		s.stage.phase, s.stage.next = discarding, s.stage.hiddenFrom
	}
	for s.stage.phase == discarding {
		err := s.step(ctx, func(tx *sqldb.Tx, st *stage) error {
			added := st.choices.addedGoods
			from, to := st.chunk(importBatch)
			err := customer.RemoveStaged(ctx, tx, s.actor.Company.ID, from, to)
			if err != nil || st.phase != free {
				return err
			}
			return removeAdded(ctx, s.actor.In(tx), added)
		})
		if err != nil {
			return fmt.Errorf("take an import back: %w", err)
		}
	}
	return nil
}

// removeAdded takes plans and products back, but for those that are used by
// now. On SQLite a statement that is refused leaves its transaction whole.
func removeAdded(ctx context.Context, tx account.Tx, added addedGoods) error {
	remove := func(ids []int64, one func(context.Context, account.Tx, int64) error) error {
		for _, id := range ids {
			if err := one(ctx, tx, id); err != nil && !errors.Is(err, sqldb.ErrForeignKey) {
				return err
			}
		}
		return nil
	}
	return cmp.Or(remove(added.Plans, catalog.RemovePlan), remove(added.Products, catalog.RemoveProduct))
}

// reserve waits for the import before to be over, and reserves ids for some
// customers.
func (s *Service) reserve(ctx context.Context, actor account.Actor, count int64, want customer.Consequences) (*stager, error) {
	for {
		if err := s.ContinueImport(ctx); err != nil {
			return nil, err
		}
		own, err := sqldb.Write(ctx, s.db, func(tx *sqldb.Tx) (*stager, error) {
			now, err := readStage(ctx, tx)
			if err != nil || now.phase != free {
				return nil, err
			}
			first, err := reserveIDs(ctx, tx, count)
			if err != nil {
				return nil, err
			}
			last := first + count - 1
			return s.take(ctx, actor.In(tx), now, stage{
				phase:      staging,
				companyID:  actor.Company.ID,
				hiddenFrom: first,
				hiddenTo:   last,
				next:       first,
				last:       last,
				choices:    stageChoices{Consequences: want},
			})
		})
		if err != nil || own != nil {
			return own, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(stagePause):
		}
	}
}

// take makes an import this process's.
func (s *Service) take(ctx context.Context, tx account.Tx, before, after stage) (*stager, error) {
	after.lease = id.NewCode(16)
	err := replaceStage(ctx, tx.Tx, before, &after)
	return &stager{service: s, actor: tx.Actor, stage: after}, err
}

// ContinueImport finishes what a process left that was at an import and is no
// more: customers that are visible get their consequences, and customers that
// are not are deleted.
func (s *Service) ContinueImport(ctx context.Context) error {
	if s.db.Engine() != sqldb.SQLite {
		return nil
	}
	left, err := readStage(ctx, s.db)
	if err != nil || left.phase == free || s.db.Real().Sub(left.renewedAt) < stageLease {
		return err
	}
	own, err := sqldb.Write(ctx, s.db, func(tx *sqldb.Tx) (*stager, error) {
		company, err := account.FindCompany(ctx, tx, left.companyID)
		if err != nil {
			return nil, err
		}
		return s.take(ctx, account.System(company, "import").In(tx), left, left)
	})
	switch {
	case errors.Is(err, errTakenOver):
		return nil // another process was faster, or the one that was at it is not dead
	case err != nil:
		return err
	case own.stage.phase == settling:
		return own.settle(ctx)
	}
	return own.discard(ctx)
}
