package billing

import (
	"context"

	"carteira/internal/account"
	"carteira/internal/customer"
	"carteira/internal/platform/sqldb"
)

// customerCancelled takes a cancelled customer off the schedule. When the
// change is the cancellation itself it also cancels the customer's open
// invoices, unless the caller keeps them: what is owed may still be claimed.
func (s *Service) customerCancelled(ctx context.Context, tx *sqldb.Tx, a account.Actor, c customer.Change) error {
	if err := unschedule(ctx, tx, a.Company.ID, c.After.ID); err != nil {
		return err
	}
	if c.Before.IsCancelled() || c.KeepInvoices {
		return nil
	}
	list, err := ofCustomer(ctx, tx, a.Company.ID, c.After.ID)
	if err != nil {
		return err
	}
	for _, i := range list {
		if i.Status != Open {
			continue
		}
		d := decisionOn(i, c.After)
		d.After.Status = Cancelled
		if _, err := s.applyDecision(ctx, tx, a, &d); err != nil {
			return err
		}
	}
	return nil
}
