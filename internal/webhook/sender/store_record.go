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
func (s store) record(ctx context.Context, a attempt) (kept bool, err error) {
	err = s.db.Write(ctx, func(tx *sqldb.Tx) (err error) {
		if kept, err = s.recordTx(ctx, tx, a); err != nil || !kept || !a.release {
			return err
		}
		return endLeases(ctx, tx, []lease{{a.job.lane, a.token}})
	})
	return kept, err
}

func (s store) recordTx(ctx context.Context, tx *sqldb.Tx, a attempt) (kept bool, err error) {
	j := a.job
	h, err := healthOf(ctx, tx, a)
	if errors.Is(err, sqldb.ErrNotFound) {
		return false, nil // deleted meanwhile, and the delivery with it
	}
	if err != nil {
		return false, err
	}
	t := s.delays.decide(a, h.active)
	if kept, err = settle(ctx, tx, j, t); err != nil || !kept {
		return kept, err
	}
	if reason := reasonGivenUp(a, t); reason != "" {
		tx.OnCommit(s.metrics.givenUp.WithLabelValues(reason).Inc)
	}
	if a.inHistory(t) {
		if err := insertAttempts(ctx, tx, a); err != nil {
			return kept, err
		}
	}
	if j.webhookID == 0 || j.test {
		return kept, nil
	}
	return kept, s.countOutcome(ctx, tx, a, h)
}

// healthOf reads the webhook of a delivery, for a change where there will be
// one: a receiver that is well is read without a lock.
func healthOf(ctx context.Context, tx *sqldb.Tx, a attempt) (health, error) {
	if a.job.webhookID == 0 {
		return health{active: true}, nil
	}
	h, err := readHealth(ctx, tx, a.job.companyID, a.job.webhookID)
	if err != nil || a.outcome.verdict == accepted && h.failures == 0 {
		return h, err
	}
	return lockHealth(ctx, tx, a.job.companyID, a.job.webhookID)
}

// countOutcome keeps the count of failures in a row, and switches the webhook
// off when there are too many.
func (s store) countOutcome(ctx context.Context, tx *sqldb.Tx, a attempt, h health) error {
	companyID, webhookID := a.job.companyID, a.job.webhookID
	switch {
	case a.outcome.verdict == accepted && h.failures > 0:
		return saveFailures(ctx, tx, companyID, webhookID, 0)
	case !a.failed():
		return nil
	}
	h.failures++
	if err := saveFailures(ctx, tx, companyID, webhookID, h.failures); err != nil || !h.active || h.failures < maxFailures {
		return err
	}
	if err := Park(ctx, tx, companyID, webhookID); err != nil {
		return err
	}
	return switchOff(ctx, tx, companyID, webhookID,
		fmt.Sprintf("%d deliveries in a row failed, the last one: %s", h.failures, a.outcome.problem))
}

// ClaimNow claims a due delivery for a person who waits for its attempt, and
// says whether it was due: one that is being sent is not.
func (s *Sender) ClaimNow(ctx context.Context, tx *sqldb.Tx, companyID, deliveryID int64) (Job, bool, error) {
	due, err := claimDue(ctx, tx, companyID, deliveryID, id.NewCode(16))
	if err != nil || !due {
		return Job{}, false, err
	}
	jobs, err := readJobs(ctx, tx, []int64{deliveryID})
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
