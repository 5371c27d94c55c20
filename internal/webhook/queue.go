package webhook

import (
	"context"

	"carteira/internal/account"
	"carteira/internal/event"
	"carteira/internal/platform/input"
	"carteira/internal/platform/outbound"
	"carteira/internal/platform/sqldb"
	"carteira/internal/webhook/sender"
)

// Status is how a delivery stands.
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
func (s *Service) NotifyTx(ctx context.Context, tx *sqldb.Tx, actor account.Actor, invoiceID int64, address string) error {
	sealed := s.box.Seal([]byte(newSecret()), callbackContext(actor.Company.ID))
	if _, err := s.applyCallbackSecret(ctx, tx, actor, secretChange{sealed: sealed}); err != nil {
		return err
	}
	return insertNotification(ctx, tx, actor.Company.ID, invoiceID, address)
}

// Notification returns the address that was last given to be told of an
// invoice's payment; none when none ever was.
func (s *Service) Notification(
	ctx context.Context,
	actor account.Actor,
	invoiceID int64,
) (address string, found bool, err error) {
	return lastNotification(ctx, s.db, actor.Company.ID, invoiceID)
}
