package sender

import (
	"context"
	"errors"
	"fmt"

	"carteira/internal/platform/id"
	"carteira/internal/platform/sqldb"
)

// maxFailures in a row switch a webhook off.
const maxFailures = 20

// record writes the outcome of one attempt: the attempt, what becomes of the
// delivery, and the webhook's count of failures. The lane is released with it if
// the attempt asks for that. It reports false when the claim had run out: then
// the delivery is somebody else's, and nothing is written.
func (s store) record(ctx context.Context, attempt attempt) (kept bool, err error) {
	err = s.db.Write(ctx, func(tx *sqldb.Tx) (err error) {
		if kept, err = s.recordTx(ctx, tx, attempt); err != nil || !kept || !attempt.release {
			return err
		}
		return endLeases(ctx, tx, []lease{{attempt.job.lane, attempt.token}})
	})
	return kept, err
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
	health, err := readHealth(ctx, tx, attempt.job.companyID, attempt.job.webhookID)
	if err != nil || attempt.outcome.verdict == accepted && health.failures == 0 {
		return health, err
	}
	return lockHealth(ctx, tx, attempt.job.companyID, attempt.job.webhookID)
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
// says whether it was due: one that is being sent is not.
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

// LockDelivery keeps a delivery from being sent until the commit, and says
// whether it is being sent at the moment. The lane is locked before the
// delivery's place in the queue, as those do who send.
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
		if err := clearLane(ctx, tx, lane); err != nil {
			return false, err
		}
		row.sending = nil
	}
	return lockQueued(ctx, tx, companyID, deliveryID, row.sending)
}
