package billing

import (
	"context"

	"carteira/internal/account"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/sqldb"
)

// ActionCharged is a person who asked a customer to pay by means of their own, such
// as the WhatsApp on their phone. It changes nothing of the invoice.
const ActionCharged Action = "invoice.charged"

// ChargedOn is the batch of the audit log that has the invoices for which customers
// were asked to pay by hand on a day.
func ChargedOn(day civil.Date) string { return "charged-" + day.String() }

// NoteCharged writes down that a person has asked for the payment of an open invoice
// today.
func (s *Service) NoteCharged(ctx context.Context, actor account.Actor, invoiceID int64) error {
	actor.Batch = ChargedOn(actor.Today(s.db.Now()))
	return actor.Write(ctx, s.db, func(tx *sqldb.Tx) error {
		invoice, err := LockTx(ctx, tx, actor, invoiceID)
		if err != nil || invoice.Status != Open {
			return err
		}
		return account.WriteAudit(ctx, tx, actor, account.AuditEntry{
			Action: string(ActionCharged),
			Record: "invoice",
			ID:     invoice.ID,
			Name:   invoice.Customer.Name,
		})
	})
}
