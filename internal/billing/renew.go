package billing

import (
	"cmp"
	"context"

	"carteira/internal/account"
	"carteira/internal/customer"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
)

// RenewalByHand is what a person asks when renewing a customer.
type RenewalByHand struct {
	Periods int64                // one after the other
	Invoice account.RenewInvoice // "": as the company has chosen

	Problems input.Problems // what the form had wrong
}

// ReadRenewal reads a renewal from the fields periods and invoice.
func ReadRenewal(in *input.Form) RenewalByHand {
	return RenewalByHand{
		Periods:  in.Int("periods", 1, customer.MaxPeriods).Or(1),
		Invoice:  input.OneOf(in, "invoice", account.RenewInvoices...).Value,
		Problems: in.Problems(),
	}
}

// Renew renews a customer by hand, by several periods if asked: all of them or
// none. The open invoices of the due dates that it renews are kept, paid or
// cancelled.
func (s *Service) Renew(
	ctx context.Context, actor account.Actor, customerID int64, hand RenewalByHand,
) (customer.Renewal, error) {
	if hand.Invoice == "" {
		hand.Invoice = actor.Company.Settings.RenewInvoice
	}
	return account.Write(ctx, actor, s.db, func(tx account.Tx) (renewed customer.Renewal, err error) {
		if _, err := customer.LockTx(ctx, tx, customerID); err != nil {
			return renewed, err
		}
		if err := hand.Problems.Err(); err != nil {
			return renewed, err
		}
		for n := range hand.Periods {
			step, err := s.renewStep(ctx, tx, customerID, hand.Invoice)
			if err != nil {
				return renewed, err
			}
			if n > 0 {
				step.Previous = renewed.Previous
			}
			renewed = step
		}
		return renewed, nil
	})
}

// renewStep renews by one period.
func (s *Service) renewStep(
	ctx context.Context, tx account.Tx, customerID int64, invoice account.RenewInvoice,
) (customer.Renewal, error) {
	owner, err := customer.LockTx(ctx, tx, customerID)
	if err != nil {
		return customer.Renewal{}, err
	}
	if invoice == account.PayInvoice {
		if err := customer.CanRenew(owner); err != nil {
			return customer.Renewal{}, err
		}
		bill, err := s.billToPay(ctx, tx, owner)
		if err != nil {
			return customer.Renewal{}, err
		}
		if bill.Status == Open && renews(bill, owner) {
			return s.renewByPaying(ctx, tx, decisionOn(bill, owner))
		}
	}
	renewal, err := s.customers.RenewTx(ctx, tx, customerID)
	if err != nil || invoice != account.CancelInvoice {
		return renewal, err
	}
	return renewal, s.cancelRenewed(ctx, tx, renewal)
}

// billToPay is the open invoice of the period that is renewed: one that was
// cancelled is opened again, and where there is none it is issued ahead of its
// time. It is zero where the period costs nothing, or was paid without renewing.
func (s *Service) billToPay(ctx context.Context, tx account.Tx, owner customer.Customer) (Invoice, error) {
	if owner.DueOn.IsZero() { // counted from today
		owner.DueOn = tx.Today(tx.Now())
	}
	bill, found, err := generatedFor(ctx, tx, owner, tx.Company.ID)
	change := Change{Action: ActionUpdated, Before: bill, After: bill}
	switch {
	case err != nil || found && bill.Status != Cancelled:
		return bill, err
	case !billable(owner) || bill.Renewed():
		return Invoice{}, nil
	case !found:
		change = Change{Action: ActionCreated, After: generated(owner, tx.Now()), chosen: true}
	case bill.Withdrawn.revivable():
		change.After.reprice(owner)
	}
	change.After.open()
	if err := s.apply(ctx, tx, &change); err != nil {
		return Invoice{}, err
	}
	return change.After, unschedule(ctx, tx, owner.ID)
}

// renewByPaying pays the invoice of the due date: its payment is the renewal, and
// undoing the one undoes the other.
func (s *Service) renewByPaying(
	ctx context.Context, tx account.Tx, decision decision,
) (renewal customer.Renewal, err error) {
	out, err := s.payByHand(ctx, tx, decision, StatusChange{Status: Paid, Renew: input.Some(true)})
	if err != nil {
		return renewal, err
	}
	if !out.Renewed { // a renewal that cannot be is refused as one without an invoice is
		return renewal, fault.Field("data_de_vencimento", civil.ErrOverflow.Error())
	}
	renewal.Previous = decision.owner.DueOn
	renewal.Customer, err = customer.FindTx(ctx, tx, decision.owner.ID)
	return renewal, err
}

// cancelRenewed cancels the open invoices of the due dates that a renewal has
// passed. A person decided so: they are not opened again.
func (s *Service) cancelRenewed(ctx context.Context, tx account.Tx, renewal customer.Renewal) error {
	if renewal.Previous.IsZero() {
		return nil
	}
	return s.changeAll(ctx, tx, renewal.Customer, func(invoice *Invoice) {
		if invoice.Status == Open && invoice.Generated && !invoice.IssuedFor.Before(renewal.Previous) && invoice.IssuedFor.Before(renewal.DueOn) {
			invoice.Status = Cancelled
		}
	})
}

// RenewalToUndo is a renewal by hand that is to be taken back.
type RenewalToUndo struct {
	CustomerID int64
	From, To   civil.Date // the due date before it and after it
	OwnDay     int        // the day of the month that From stood for; 0: as To does
	On         civil.Date // the day on which it was made
}

// UndoRenewal takes a renewal by hand back, as long as the due date is where the
// renewal put it: what was done since relies on it.
func (s *Service) UndoRenewal(ctx context.Context, actor account.Actor, undo RenewalToUndo) (customer.Customer, error) {
	return account.Write(ctx, actor, s.db, func(tx account.Tx) (record customer.Customer, err error) {
		before, err := customer.LockTx(ctx, tx, undo.CustomerID)
		if err != nil {
			return record, err
		}
		if before.DueOn != undo.To {
			return record, fault.Conflict("the due date was changed since")
		}
		return s.customers.ReverseRenewalTx(ctx, tx, undo.CustomerID, customer.Reversal{
			DueOn:  undo.From,
			OwnDay: undo.ownDay(before),
			On:     undo.On,
		})
	})
}

// UndoOpening cancels an open invoice again that a piece of work issued or opened.
// why is the withdrawal that it had before, as audit lines have it. The due date is
// billed when its time comes.
func (s *Service) UndoOpening(ctx context.Context, actor account.Actor, invoiceID int64, why Withdrawal) error {
	return actor.Write(ctx, s.db, func(tx account.Tx) error {
		before, owner, err := lock(ctx, tx, invoiceID)
		if err != nil || before.Status == Cancelled {
			return err
		}
		if before.Status != Open || before.Received > 0 {
			return fault.Conflict("money came for the invoice since")
		}
		change := Change{Action: ActionUpdated, Before: before, After: before}
		change.After.withdraw(why)
		if err := s.apply(ctx, tx, &change); err != nil {
			return err
		}
		if !why.revivable() || owner.DueOn != before.IssuedFor || !toBill(owner) {
			return nil
		}
		return schedule(ctx, tx, owner)
	})
}

// ownDay is the own day that the due date had, of a customer as the renewal left it.
func (u RenewalToUndo) ownDay(renewed customer.Customer) int {
	switch {
	case u.From.IsZero():
		return 0
	case u.OwnDay == 0 && renewed.OwnDay != renewed.DueOn.Day():
		return renewed.OwnDay
	}
	return cmp.Or(u.OwnDay, u.From.Day())
}
