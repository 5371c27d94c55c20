package sender

import (
	"context"
	"errors"
	"fmt"
	"maps"
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
	// waiterTime is how long a delivery belongs to a waiting person: longer
	// than the longest attempt, because it is not renewed.
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

// insertAttempts records attempts, and calls the watcher of sent attempts.
func (s store) insertAttempts(ctx context.Context, tx *sqldb.Tx, list ...attempt) error {
	err := insertAttempts(ctx, tx, list)
	if err != nil || s.sent == nil {
		return err
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

// inherit ends the leases of dead processes: those with tokens of a prefix. What was
// being sent stays recorded: the next claim burns those attempts.
func (s store) inherit(ctx context.Context, instance string) error {
	return s.db.Write(ctx, func(tx *sqldb.Tx) error {
		return tx.Do(ctx, `UPDATE delivery_lanes SET until = 0 WHERE until > 0 AND token LIKE ?`, instance+"%")
	})
}

// recordAccepted records accepted attempts at different deliveries in one
// transaction, and returns which it has recorded. It leaves out those of a webhook
// with a count of failures to reset, and those with locked rows. If the disk loses
// the record, the delivery is made again with the same id.
func (s store) recordAccepted(ctx context.Context, batch []attempt) (kept map[int64]bool, err error) {
	byFence := map[int][]attempt{} // the number of begun attempts
	for _, attempt := range batch {
		byFence[attempt.job.begun] = append(byFence[attempt.job.begun], attempt)
	}
	err = s.db.WriteRelaxed(ctx, func(tx *sqldb.Tx) error {
		kept = make(map[int64]bool, len(batch))
		for _, fence := range slices.Sorted(maps.Keys(byFence)) {
			if err := s.recordGroup(ctx, tx, byFence[fence], kept); err != nil {
				return err
			}
		}
		return nil
	})
	return kept, err
}

func (s store) recordGroup(ctx context.Context, tx *sqldb.Tx, list []attempt, kept map[int64]bool) error {
	settled, err := settleAccepted(ctx, tx, list)
	if err != nil {
		return err
	}
	for _, id := range settled {
		kept[id] = true
	}
	ours := slices.DeleteFunc(slices.Clone(list), func(attempt attempt) bool { return !kept[attempt.job.id] })
	return s.insertAttempts(ctx, tx, ours...)
}

// maxFailures in a row switch a webhook off.
const maxFailures = 20

// record writes the outcome of one attempt: the attempt, what becomes of the
// delivery, and the webhook's count of failures. It reports false when the claim
// had expired: another process owns the delivery now, and nothing is written.
func (s store) record(ctx context.Context, attempt attempt) (kept bool, err error) {
	return sqldb.Write(ctx, s.db, func(tx *sqldb.Tx) (bool, error) { return s.recordTx(ctx, tx, attempt) })
}

func (s store) recordTx(ctx context.Context, tx *sqldb.Tx, attempt attempt) (kept bool, err error) {
	job := attempt.job
	health, err := healthOf(ctx, tx, attempt)
	if errors.Is(err, sqldb.ErrNotFound) {
		return false, nil // deleted meanwhile, and the delivery with it
	}
	if err != nil {
		return false, err
	}
	transition := s.delays.decide(attempt, health.active)
	if kept, err = settle(ctx, tx, job, transition); err != nil || !kept {
		return kept, err
	}
	if reason := reasonGivenUp(attempt, transition); reason != "" {
		tx.OnCommit(s.metrics.givenUp.WithLabelValues(reason).Inc)
	}
	if attempt.inHistory(transition) {
		if err := s.insertAttempts(ctx, tx, attempt); err != nil {
			return kept, err
		}
	}
	if job.webhookID == 0 || job.test {
		return kept, nil
	}
	return kept, s.countOutcome(ctx, tx, attempt, health)
}

// healthOf reads the webhook of a delivery, for a change where there will be
// one: a receiver that is well is read without a lock.
func healthOf(ctx context.Context, tx *sqldb.Tx, attempt attempt) (health, error) {
	if attempt.job.webhookID == 0 {
		return health{active: true}, nil
	}
	health, err := readHealth(ctx, tx, attempt.job, "")
	if err != nil || attempt.outcome.verdict == accepted && health.failures == 0 {
		return health, err
	}
	return readHealth(ctx, tx, attempt.job, forChange)
}

// countOutcome keeps the count of failures in a row, and switches the webhook
// off when there are too many.
func (s store) countOutcome(ctx context.Context, tx *sqldb.Tx, attempt attempt, health health) error {
	companyID, webhookID := attempt.job.companyID, attempt.job.webhookID
	switch {
	case attempt.outcome.verdict == accepted && health.failures > 0:
		return saveFailures(ctx, tx, companyID, webhookID, 0)
	case !attempt.failed():
		return nil
	}
	health.failures++
	err := saveFailures(ctx, tx, companyID, webhookID, health.failures)
	if err != nil || !health.active || health.failures < maxFailures {
		return err
	}
	if err := Park(ctx, tx, companyID, webhookID); err != nil {
		return err
	}
	return switchOff(ctx, tx, companyID, webhookID,
		fmt.Sprintf("%d deliveries in a row failed, the last one: %s", health.failures, attempt.outcome.problem))
}

// ClaimNow claims a due delivery for a person who waits for its attempt, and
// reports whether it was due: one that is being sent is not.
func (s *Sender) ClaimNow(ctx context.Context, tx *sqldb.Tx, companyID, deliveryID int64) (Job, bool, error) {
	lane, err := claimDue(ctx, tx, companyID, deliveryID, id.NewCode(16))
	if err != nil || lane == 0 {
		return Job{}, false, err
	}
	jobs, err := readJobs(ctx, tx, []int64{deliveryID}, []int64{lane})
	job, ok := jobs[deliveryID]
	job.number = job.begun // taken with the claim
	return job, ok, err
}

// LockDelivery keeps a delivery from being sent until the commit, and reports
// whether it is being sent. The lane is locked before the delivery's row of
// the queue, in the order of the sender.
func LockDelivery(ctx context.Context, tx *sqldb.Tx, companyID, lane, deliveryID int64) (busy bool, err error) {
	rows, err := lockLanes(ctx, tx, []int64{lane}, wait)
	if err != nil {
		return false, err
	}
	row := rows[lane]
	if !row.leased && len(row.sending) > 0 {
		if _, err := burnAttempts(ctx, tx, row.sending); err != nil {
			return false, err
		}
		if err := endLeases(ctx, tx, []lease{{lane, row.token}}); err != nil {
			return false, err
		}
		row.sending = nil
	}
	return lockQueued(ctx, tx, companyID, deliveryID, row.sending)
}
