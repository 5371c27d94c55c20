package webhook

import (
	"context"
	"fmt"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/sqldb"
)

// Replay is a job that sends again what happened since a time.
type Replay struct {
	ID        int64
	WebhookID int64
	Since     time.Time
	Queued    int64
	Finished  bool

	companyID int64
	cursor    int64
	until     int64
}

// StartReplay asks for everything that happened since a time, that the webhook
// wants and that it has not confirmed, to be sent again. The work is done in
// the background, in small steps, through the webhook's own lane.
func (s *Service) StartReplay(ctx context.Context, a account.Actor, webhookID int64, since time.Time) (Replay, error) {
	if !a.Company.TellsWebhooks(s.db.Now()) {
		return Replay{}, fault.Conflict("the company's webhooks are stopped until its subscription is renewed")
	}
	r := Replay{WebhookID: webhookID, Since: since, companyID: a.Company.ID}
	err := a.Write(ctx, s.db, func(tx *sqldb.Tx) error {
		w, err := lockWebhook(ctx, tx, a.Company.ID, webhookID)
		if err != nil {
			return err
		}
		if !w.Active {
			return fault.Field("active", "the webhook is switched off; switch it on first")
		}
		if r.cursor, r.until, err = eventSpan(ctx, tx, a.Company.ID, since); err != nil {
			return err
		}
		if r.ID, err = insertReplay(ctx, tx, r); err != nil {
			return err
		}
		return account.WriteAudit(ctx, tx, a, account.AuditEntry{
			Action: "webhook.replayed", Record: "webhook", ID: w.ID, Name: w.URL, After: account.AuditFields{"since": civil.Timestamp(since, a.Company.Zone)},
		})
	})
	return r, err
}

// replayBatch is how many events one step of a replay looks at.
const replayBatch = 200

// ContinueReplays does a step of every unfinished replay. Where it stands is
// written with what it queued, so that it goes on there after a crash.
func (s *Service) ContinueReplays(ctx context.Context) error {
	open, err := unfinishedReplays(ctx, s.db)
	if err != nil {
		return err
	}
	for _, r := range open {
		for finished := false; !finished; {
			err := s.db.Write(ctx, func(tx *sqldb.Tx) (err error) {
				finished, err = s.replayStep(ctx, tx, r)
				return err
			})
			if err != nil {
				return fmt.Errorf("replay %d: %w", r.ID, err)
			}
		}
	}
	return nil
}

func (s *Service) replayStep(ctx context.Context, tx *sqldb.Tx, r Replay) (finished bool, err error) {
	r, err = lockReplay(ctx, tx, r)
	if err != nil || r.Finished {
		return true, err
	}
	w, err := webhookByID(ctx, tx, r.companyID, r.WebhookID)
	if err != nil {
		return false, err
	}
	last, err := lastOfBatch(ctx, tx, r, replayBatch)
	if err != nil {
		return false, err
	}
	if last == 0 {
		return true, finishReplay(ctx, tx, r)
	}
	n, err := requeue(ctx, tx, r, last, w.Events)
	if err != nil {
		return false, err
	}
	tx.OnCommit(func() { s.sender.Wake(r.WebhookID) })
	return false, advanceReplay(ctx, tx, r, last, n)
}
