package webhook

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"carteira/internal/platform/fault"
	"carteira/internal/platform/sqldb"
)

// close writes the outcome of an attempt in one transaction: the attempt, what
// becomes of the delivery, and the webhook's count of failures. It reports
// false when the claim had run out: then somebody else has the delivery, and
// nothing is written.
func (s *Service) close(ctx context.Context, j job, o outcome) (kept bool, err error) {
	err = s.db.Write(ctx, func(tx *sqldb.Tx) (err error) {
		w, err := s.webhookOf(ctx, tx, j, o)
		if fault.KindOf(err) == fault.KindNotFound {
			return nil // deleted meanwhile, and the delivery with it
		}
		if err != nil {
			return err
		}
		next := s.next(j, o, w.Active, tx.Now())
		if kept, err = settle(ctx, tx, j, next); err != nil || !kept {
			return err
		}
		if reason := reasonGivenUp(j, o, next); reason != "" {
			tx.OnCommit(s.metrics.givenUp.WithLabelValues(reason).Inc)
		}
		if o.verdict == held || o.verdict == ours && !j.test {
			return nil
		}
		if err := insertAttempt(ctx, tx, j, o); err != nil {
			return err
		}
		if j.webhookID == 0 || j.test {
			return nil
		}
		return s.countOutcome(ctx, tx, j.companyID, w, o)
	})
	return kept, err
}

// webhookOf reads the webhook of a delivery, for a change where there will be
// one: a receiver that is well is read without a lock, so that its deliveries
// do not wait for each other.
func (s *Service) webhookOf(ctx context.Context, tx *sqldb.Tx, j job, o outcome) (Webhook, error) {
	if j.webhookID == 0 {
		return Webhook{Active: true}, nil
	}
	w, err := webhookByID(ctx, tx, j.companyID, j.webhookID)
	if err != nil || o.verdict == accepted && w.Failures == 0 {
		return w, err
	}
	return lockWebhook(ctx, tx, j.companyID, j.webhookID)
}

// following is what becomes of a delivery after an attempt.
type following struct {
	status      Status
	step        int
	runAt       time.Time
	deliveredAt time.Time
}

// oursDelay is the wait after a failure of our own.
const oursDelay = 10 * time.Second

// next decides what becomes of a delivery.
func (s *Service) next(j job, o outcome, active bool, now time.Time) following {
	f := following{status: Pending, step: j.step, runAt: now}
	last := j.step+1 >= len(s.options.Delays)
	switch {
	case o.verdict == accepted:
		f.status, f.deliveredAt = Delivered, now
	case o.verdict == held:
		f.status = Parked
	case o.verdict == ours && !j.test:
		f.runAt = now.Add(oursDelay)
	case o.verdict == rejected:
		f.status = Refused
	case j.test || last:
		f.status = Failed
	default:
		f.step++
		f.runAt = now.Add(s.delay(f.step, o.retryAfter))
		if !active {
			f.status = Parked
		}
	}
	return f
}

// delay is the wait before an attempt: that of the schedule, lengthened by up
// to a tenth so that those who failed together do not come back together. A
// receiver may ask for more, up to the wait after it.
func (s *Service) delay(step int, asked time.Duration) time.Duration {
	d := s.options.Delays[step]
	longest := d
	if step+1 < len(s.options.Delays) {
		longest = max(d, s.options.Delays[step+1])
	}
	d = max(d, min(asked, longest))
	return d + time.Duration(rand.Int64N(int64(d)/10+1)) //nolint:gosec // jitter needs no secrecy
}

// countOutcome keeps the count of failures in a row, and switches the webhook
// off when there are too many.
func (s *Service) countOutcome(ctx context.Context, tx *sqldb.Tx, companyID int64, w Webhook, o outcome) error {
	if o.verdict == accepted {
		if w.Failures == 0 {
			return nil
		}
		w.Failures = 0
		return updateWebhook(ctx, tx, companyID, w)
	}
	w.Failures++
	if w.Active && w.Failures >= maxFailures {
		w.Active, w.DisabledAt = false, tx.Now()
		w.Notice = fmt.Sprintf("%d deliveries in a row failed, the last one: %s", w.Failures, o.problem)
		if err := park(ctx, tx, companyID, w.ID); err != nil {
			return err
		}
	}
	return updateWebhook(ctx, tx, companyID, w)
}
