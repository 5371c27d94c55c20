package sender

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"sync/atomic"
	"time"

	"carteira/internal/platform/id"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/watch"
)

const (
	// leaseTime is how long a lease lasts that is not renewed, and renewEvery how
	// often a process renews its leases: a lane goes on a few seconds after its
	// process was killed, however long a request takes.
	leaseTime  = 8 * time.Second
	renewEvery = 2 * time.Second
	// waiterTime is how long a delivery is a waiting person's: longer than the
	// longest attempt, since nobody renews it.
	waiterTime = Timeout + 20*time.Second
	// callTime bounds every call of the store, so that a database that vanished
	// without a word is noticed.
	callTime = 15 * time.Second
)

// store is what the sender asks of the database, each in one transaction.
// Every one may be called again after it failed.
type store struct {
	db       *sqldb.DB
	delays   schedule
	metrics  *metrics
	instance string // begins the tokens of this process's leases
	leases   *atomic.Int64
	sent     watch.Watcher[Sent]
}

// Sent is an attempt at a delivery that was made and recorded.
type Sent struct {
	CompanyID, DeliveryID int64
	Accepted              bool
}

// insertAttempts records attempts, where those who count them see it.
func (s store) insertAttempts(ctx context.Context, tx *sqldb.Tx, list ...attempt) error {
	if err := insertAttempts(ctx, tx, list...); err != nil {
		return err
	}
	if s.sent == nil {
		return nil
	}
	for _, attempt := range list {
		made := Sent{attempt.job.companyID, attempt.job.id, attempt.outcome.verdict == accepted}
		if err := s.sent(ctx, tx, made); err != nil {
			return err
		}
	}
	return nil
}

func newStore(db *sqldb.DB, delays schedule, metrics *metrics) store {
	return store{
		db:       db,
		delays:   delays,
		metrics:  metrics,
		instance: id.NewCode(12) + "-",
		leases:   &atomic.Int64{},
	}
}

// renew lengthens the leases of lanes, and returns those that this process has.
func (s store) renew(ctx context.Context, lanes []int64) (renewed []int64, err error) {
	err = s.db.WriteRelaxed(ctx, func(tx *sqldb.Tx) (err error) {
		renewed, err = renewLeases(ctx, tx, s.instance, lanes)
		return err
	})
	return renewed, err
}

// lease is a lane that a process has, and the token by which it has it.
type lease struct {
	lane  int64
	token string
}

// release gives lanes back.
func (s store) release(ctx context.Context, leases []lease) error {
	return s.db.WriteRelaxed(ctx, func(tx *sqldb.Tx) error { return endLeases(ctx, tx, leases) })
}

// inherit ends the leases of processes that are no more: those whose tokens
// begin so.
func (s store) inherit(ctx context.Context, instance string) error {
	return s.db.Write(ctx, func(tx *sqldb.Tx) error { return expireLeases(ctx, tx, instance) })
}

// openMissing makes rows for lanes that have none.
func (s store) openMissing(ctx context.Context, lanes []dueLane) error {
	var missing []int64
	for _, lane := range lanes {
		if lane.missing {
			missing = append(missing, lane.lane)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return s.db.Write(ctx, func(tx *sqldb.Tx) error { return insertLanes(ctx, tx, missing) })
}

// recordAccepted records accepted attempts at different deliveries in one
// transaction, and returns which it has recorded. It leaves out those whose
// webhook has failures to forget, and those whose rows are locked. Lanes of
// which nothing is left out are released if their attempts ask for it. A record that
// the disk has lost is a delivery that is made again, with the same id.
func (s store) recordAccepted(ctx context.Context, batch []attempt) (kept map[int64]bool, err error) {
	slices.SortStableFunc(batch, func(a, b attempt) int {
		return cmp.Compare(a.job.begun, b.job.begun)
	})
	err = s.db.WriteRelaxed(ctx, func(tx *sqldb.Tx) error {
		kept = make(map[int64]bool, len(batch))
		for list := range groupByFence(batch) {
			if err := s.recordGroup(ctx, tx, list, kept); err != nil {
				return err
			}
		}
		return endLeases(ctx, tx, releasable(batch, kept))
	})
	return kept, err
}

// releasable returns the leases of lanes whose last attempt is in a batch of which all
// their attempts were recorded.
func releasable(batch []attempt, kept map[int64]bool) (leases []lease) {
	incomplete := map[int64]bool{}
	for _, attempt := range batch {
		if !kept[attempt.job.id] {
			incomplete[attempt.job.lane] = true
		}
	}
	for _, attempt := range batch {
		if attempt.release && !incomplete[attempt.job.lane] {
			leases = append(leases, lease{attempt.job.lane, attempt.token})
		}
	}
	return leases
}

// groupByFence splits a list that is sorted by the number of begun attempts
// into runs of equal number.
func groupByFence(list []attempt) iter.Seq[[]attempt] {
	return func(yield func([]attempt) bool) {
		for len(list) > 0 {
			n := 1
			for n < len(list) && list[n].job.begun == list[0].job.begun {
				n++
			}
			if !yield(list[:n]) {
				return
			}
			list = list[n:]
		}
	}
}

func (s store) recordGroup(ctx context.Context, tx *sqldb.Tx, list []attempt, kept map[int64]bool) error {
	settled, err := settleAccepted(ctx, tx, list)
	if err != nil {
		return err
	}
	for _, id := range settled {
		kept[id] = true
	}
	ours := make([]attempt, 0, len(list))
	for _, attempt := range list {
		if kept[attempt.job.id] {
			ours = append(ours, attempt)
		}
	}
	return s.insertAttempts(ctx, tx, ours...)
}
