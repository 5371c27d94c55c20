package webhook

import (
	"context"
	"fmt"
	"time"

	"carteira/internal/account"
	"carteira/internal/event"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/outbound"
	"carteira/internal/platform/sqldb"
	"carteira/internal/webhook/sender"
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
	err := actor.Write(ctx, s.db, func(tx account.Tx) error {
		webhook, err := lockWebhook(ctx, tx, webhookID)
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
		if replay.ID, err = insertReplay(ctx, tx.Tx, replay); err != nil {
			return err
		}
		return account.WriteAudit(ctx, tx, account.AuditEntry{
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

// ContinueReplays does a step of every unfinished replay. Its position is
// written in the transaction that queues deliveries, so that it continues
// there after a crash.
func (s *Service) ContinueReplays(ctx context.Context) error {
	open, err := unfinishedReplays(ctx, s.db)
	if err != nil {
		return err
	}
	for _, replay := range open {
		for finished := false; !finished; {
			finished, err = sqldb.Write(ctx, s.db, func(tx *sqldb.Tx) (bool, error) { return s.replayStep(ctx, tx, replay) })
			if err != nil {
				return fmt.Errorf("replay %d: %w", replay.ID, err)
			}
		}
	}
	return nil
}

// ReplayLook finds whether there is a replay to continue.
func (s *Service) ReplayLook() sqldb.Statement { return sqldb.Statement{Text: anyReplay} }

func (s *Service) replayStep(ctx context.Context, tx *sqldb.Tx, replay Replay) (finished bool, err error) {
	replay, err = sqldb.One(ctx, tx, scanReplay, `SELECT `+replayColumns+` FROM replays WHERE company_id = ? AND id = ? {for update}`,
		replay.companyID, replay.ID)
	if err != nil || replay.Finished {
		return true, err
	}
	webhook, err := webhookByID(ctx, tx, replay.companyID, replay.WebhookID)
	if err != nil {
		return false, err
	}
	last, err := sqldb.Value[int64](ctx, tx, `SELECT COALESCE(MAX(id), 0) FROM (
		SELECT id FROM events WHERE company_id = ? AND id > ? AND id <= ? ORDER BY id LIMIT ?) AS batch`,
		replay.companyID, replay.cursor, replay.until, replayBatch)
	if err != nil {
		return false, err
	}
	if last == 0 {
		return true, tx.Do(ctx, `UPDATE replays SET finished_at = ? WHERE company_id = ? AND id = ?`,
			tx.Now().UnixMicro(), replay.companyID, replay.ID)
	}
	n, err := requeue(ctx, tx, replay, last, webhook.Events)
	if err != nil {
		return false, err
	}
	tx.OnCommit(func() { s.sender.Wake(replay.WebhookID) })
	return false, tx.Do(ctx, `UPDATE replays SET cursor = ?, queued = queued + ? WHERE company_id = ? AND id = ?`, last, n,
		replay.companyID, replay.ID)
}

// Status is the state of a delivery.
type Status = sender.Status

// The statuses. Parked ones wait for their webhook to be switched on again.
const (
	Pending   = sender.Pending
	Delivered = sender.Delivered
	Failed    = sender.Failed
	Refused   = sender.Refused
	Parked    = sender.Parked
)

// enqueue writes a delivery for each active webhook that wants the event, and
// for each address that waits for the payment of the invoice, in the transaction
// that records the event.
func (s *Service) enqueue(ctx context.Context, tx *sqldb.Tx, recorded event.Event) error {
	if recorded.Name == event.Ping {
		return nil
	}
	var lanes []int64
	tx.OnCommit(func() {
		if len(lanes) > 0 {
			s.sender.Wake(lanes...)
		}
	})
	return insertDeliveries(ctx, tx, recorded, &lanes)
}

// CheckNotification refuses an address for the notification of an invoice,
// before anything is done about the payment.
func (s *Service) CheckNotification(ctx context.Context, in *input.Form) (string, bool) {
	address, ok := in.Line("notification_url", 2000).Get()
	if !ok || address == "" {
		return "", false
	}
	if err := s.gate.CheckURL(ctx, address); err != nil {
		in.Refuse("notification_url", outbound.Public(err))
		return "", false
	}
	return address, true
}

// NotifyTx remembers to tell an address when the invoice is paid. The same
// address again changes nothing. From then on the company has the secret that
// will sign it, whether it was ever read or not.
func (s *Service) NotifyTx(ctx context.Context, tx account.Tx, invoiceID int64, address string) error {
	sealed := s.box.Seal([]byte(newSecret()), sender.CallbackContext(tx.Company.ID))
	if _, err := s.applyCallbackSecret(ctx, tx, secretChange{sealed: sealed}); err != nil {
		return err
	}
	return tx.Do(ctx, `
		INSERT INTO invoice_notifications (company_id, invoice_id, url, created_at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`,
		tx.Company.ID, invoiceID, address, tx.Now().UnixMicro())
}

// Notification returns the address last given for the notification of an
// invoice's payment; "" when there is none.
func (s *Service) Notification(
	ctx context.Context,
	actor account.Actor,
	invoiceID int64,
) (address string, found bool, err error) {
	return lastNotification(ctx, s.db, actor.Company.ID, invoiceID)
}
