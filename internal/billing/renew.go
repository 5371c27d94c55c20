package billing

import (
	"context"

	"carteira/internal/account"
	"carteira/internal/customer"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
)

// RenewalByHand is what a person asks when renewing a customer.
type RenewalByHand struct {
	Periods int64                // one after the other
	Invoice account.RenewInvoice // "": as the company has chosen

	Problems input.Problems // what the form had wrong
}

// ReadRenewal reads a renewal from the fields periods and invoice.
func ReadRenewal(in *input.Form) RenewalByHand {
	choices := make([]string, len(account.RenewInvoices))
	for n, choice := range account.RenewInvoices {
		choices[n] = string(choice)
	}
	r := RenewalByHand{
		Periods: in.Int("periods", 1, customer.MaxPeriods).Or(1),
		Invoice: account.RenewInvoice(in.Choice("invoice", choices...).Value),
	}
	r.Problems = in.Problems()
	return r
}

// Renew renews a customer by hand, by several periods if asked: all of them or
// none. The open invoices of the due dates that it renews are kept, paid or
// cancelled.
func (s *Service) Renew(ctx context.Context, a account.Actor, customerID int64, r RenewalByHand) (customer.Renewal, error) {
	if r.Invoice == "" {
		r.Invoice = a.Company.Settings.RenewInvoice
	}
	var renewed customer.Renewal
	err := a.Write(ctx, s.db, func(tx *sqldb.Tx) error {
		if _, err := customer.LockTx(ctx, tx, a, customerID); err != nil {
			return err
		}
		if err := r.Problems.Err(); err != nil {
			return err
		}
		for n := range r.Periods {
			step, err := s.renewStep(ctx, tx, a, customerID, r.Invoice)
			if err != nil {
				return err
			}
			if n > 0 {
				step.Previous = renewed.Previous
			}
			renewed = step
		}
		return nil
	})
	return renewed, err
}

// renewStep renews by one period.
func (s *Service) renewStep(
	ctx context.Context, tx *sqldb.Tx, a account.Actor, customerID int64, invoice account.RenewInvoice,
) (customer.Renewal, error) {
	owner, err := customer.LockTx(ctx, tx, a, customerID)
	if err != nil {
		return customer.Renewal{}, err
	}
	if invoice == account.PayInvoice {
		i, found, err := generatedFor(ctx, tx, owner, a.Company.ID)
		if err != nil {
			return customer.Renewal{}, err
		}
		if found && i.Status == Open && renews(i, owner) {
			return s.renewByPaying(ctx, tx, a, decisionOn(i, owner))
		}
	}
	r, err := s.customers.RenewTx(ctx, tx, a, customerID)
	if err != nil || invoice != account.CancelInvoice {
		return r, err
	}
	return r, s.cancelRenewed(ctx, tx, a, r)
}

// renewByPaying pays the invoice of the due date: its payment is the renewal, and
// undoing the one undoes the other.
func (s *Service) renewByPaying(ctx context.Context, tx *sqldb.Tx, a account.Actor, d decision) (r customer.Renewal, err error) {
	out, err := s.payByHand(ctx, tx, a, d, StatusChange{Status: Paid, Renew: input.Some(true)})
	if err != nil {
		return r, err
	}
	if !out.Renewed { // a renewal that cannot be is refused as one without an invoice is
		return r, fault.Field("data_de_vencimento", out.RenewalProblem)
	}
	r.Previous = d.owner.DueOn
	r.Customer, err = customer.FindTx(ctx, tx, a, d.owner.ID)
	return r, err
}

// cancelRenewed cancels the open invoices of the due dates that a renewal has
// passed. A person decided so: they are not opened again.
func (s *Service) cancelRenewed(ctx context.Context, tx *sqldb.Tx, a account.Actor, r customer.Renewal) error {
	if r.Previous.IsZero() {
		return nil
	}
	return s.changeAll(ctx, tx, a, r.Customer, func(i *Invoice) {
		if i.Status == Open && i.Generated && !i.IssuedFor.Before(r.Previous) && i.IssuedFor.Before(r.DueOn) {
			i.Status = Cancelled
		}
	})
}
