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
func (s *Service) StartReplay(ctx context.Context, actor account.Actor, webhookID int64, since time.Time) (Replay, error) {
	if !actor.Company.TellsWebhooks(s.db.Now()) {
		return Replay{}, fault.Conflict("the company's webhooks are stopped until its subscription is renewed")
	}
	replay := Replay{WebhookID: webhookID, Since: since, companyID: actor.Company.ID}
	err := actor.Write(ctx, s.db, func(tx *sqldb.Tx) error {
		webhook, err := lockWebhook(ctx, tx, actor.Company.ID, webhookID)
		if err != nil {
			return err
		}
		if !webhook.Active {
			return fault.Field("active", "the webhook is switched off; switch it on first")
		}
		replay.cursor, replay.until, err = eventSpan(ctx, tx, actor.Company.ID, since)
		if err != nil {
			return err
		}
		if replay.ID, err = insertReplay(ctx, tx, replay); err != nil {
			return err
		}
		return account.WriteAudit(ctx, tx, actor, account.AuditEntry{
			Action: "webhook.replayed",
			Record: "webhook",
			ID:     webhook.ID,
			Name:   webhook.URL,
			After:  account.AuditFields{"since": civil.Timestamp(since, actor.Company.Zone)},
		})
	})
	return replay, err
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
	for _, replay := range open {
		for finished := false; !finished; {
			err := s.db.Write(ctx, func(tx *sqldb.Tx) (err error) {
				finished, err = s.replayStep(ctx, tx, replay)
				return err
			})
			if err != nil {
				return fmt.Errorf("replay %d: %w", replay.ID, err)
			}
		}
	}
	return nil
}

// ReplayLook finds whether there is a replay to continue.
func (s *Service) ReplayLook() sqldb.Look { return sqldb.Look{Text: anyReplay} }

func (s *Service) replayStep(ctx context.Context, tx *sqldb.Tx, replay Replay) (finished bool, err error) {
	replay, err = lockReplay(ctx, tx, replay)
	if err != nil || replay.Finished {
		return true, err
	}
	webhook, err := webhookByID(ctx, tx, replay.companyID, replay.WebhookID)
	if err != nil {
		return false, err
	}
	last, err := lastOfBatch(ctx, tx, replay, replayBatch)
	if err != nil {
		return false, err
	}
	if last == 0 {
		return true, finishReplay(ctx, tx, replay)
	}
	n, err := requeue(ctx, tx, replay, last, webhook.Events)
	if err != nil {
		return false, err
	}
	tx.OnCommit(func() { s.sender.Wake(replay.WebhookID) })
	return false, advanceReplay(ctx, tx, replay, last, n)
}
