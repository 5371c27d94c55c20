package payment

import (
	"context"
	"errors"
	"time"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/money"
	"carteira/internal/platform/sqldb"
)

// A debit is announced in the working days from announceFrom to announceTo ahead
// of it. An invoice that is later is charged as usual.
const (
	announceFrom = 10
	announceTo   = 2
)

var (
	// errNotDebited says that an invoice is not debited by an authorisation: it is
	// outside of the window, the authorisation has ended, or a debit has failed.
	errNotDebited = errors.New("the invoice is not debited")
	// errCodeIsOut says that a payer has a code for the invoice. It is announced
	// when the code has ended, if it is not too late then.
	errCodeIsOut = errors.New("a payer has a code for the invoice")
	// errBeingDebited says that a debit can no longer be stopped.
	errBeingDebited = fault.Conflict(
		"the invoice is being debited from the customer's account and that can no longer be stopped; " +
			"a code is given out when the debit has failed",
	)
)

// announces reports whether a debit on a day can be announced today.
func announces(on, today civil.Date) bool {
	return !today.Before(on.AddWorkingDays(-announceFrom)) && !today.After(on.AddWorkingDays(-announceTo))
}

// announceDebits announces the invoices of a customer that are due soon. What
// fails is tried again at the next check of the authorisation.
func (s *Service) announceDebits(ctx context.Context, work authorisationCheck) error {
	actor := account.System(work.company, "autopay")
	if !actor.May(account.FunctionPayments) {
		return nil
	}
	today := actor.Today(s.db.Now())
	invoices, _, err := s.billing.List(ctx, actor, billing.Filter{
		CustomerID: work.known.customerID,
		Status:     billing.Open,
		DueFrom:    today,
	}, input.Page{Number: 1, Size: 100})
	if err != nil {
		return err
	}
	var failed []error
	for _, invoice := range invoices {
		if !invoice.Generated || !announces(invoice.DueOn.NextWorkingDay(), today) {
			continue
		}
		err := s.announce(ctx, actor, invoice.ID, work.known.id)
		if !notAnnounced(err) {
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}

// notAnnounced reports whether an invoice need not be announced again, or was.
func notAnnounced(err error) bool {
	return err == nil || errors.Is(err, errNotDebited) || errors.Is(err, errCodeIsOut) || errors.Is(err, errBeingDebited) ||
		fault.KindOf(err) == fault.KindInvalid || fault.KindOf(err) == fault.KindNotFound
}

// announce has the debit of an invoice announced. It goes the way of Charge.
func (s *Service) announce(ctx context.Context, actor account.Actor, invoiceID, authorisationID int64) error {
	job := s.newCharging(actor, invoiceID)
	job.debits = authorisationID
	return job.runAlone(ctx)
}

// mayDebit refuses to announce what is not to be debited; of a charge that a
// payer pays it refuses nothing.
func (j *charging) mayDebit(ctx context.Context, tx *sqldb.Tx) error {
	if j.debits == 0 {
		return nil
	}
	by, err := lockAuthorisation(ctx, tx, j.actor.Company.ID, j.debits)
	if err != nil {
		return err
	}
	givenUp, err := debitGivenUp(ctx, tx, j.actor.Company.ID, j.invoiceID)
	if err != nil {
		return err
	}
	open := announces(j.debitOn(), j.actor.Today(tx.Now()))
	if givenUp || !open || by.state != authActive || by.gatewayID != j.setup.ID || j.debitAmount() == 0 {
		return errNotDebited
	}
	return nil
}

// debitOn is the day on which the invoice is debited.
func (j *charging) debitOn() civil.Date { return j.invoice.DueOn.NextWorkingDay() }

// debitAmount is what is debited: what pays the invoice on its due date, also
// when banks rest on it.
func (j *charging) debitAmount() money.Cents {
	return j.invoice.PayableOn(j.actor.Company, j.invoice.DueOn).Rest
}

// asDebit makes a charge that is reserved a debit.
func (j *charging) asDebit(charge *charge) {
	charge.debit = debit{authorisationID: j.debits, on: j.debitOn()}
	charge.order.Amount, charge.payableOn = j.debitAmount(), j.invoice.DueOn
	charge.ExpiresAt = j.debitOn().AddDays(debitDays + 1).Start(j.actor.Company.Zone)
}

// fits reports whether a charge that the invoice has is what is wanted.
func (j *charging) fits(known charge, now time.Time) bool {
	switch {
	case j.code == authorisingCode && (known.debit.authorisationID != j.newest.id || !j.newest.state.live()),
		j.code == plainCode && known.authorises():
		return false
	case j.debits == 0:
		return j.owed(now).fits(known)
	}
	return known.debit.authorisationID == j.debits && known.order.Amount == j.debitAmount() &&
		known.payableOn == j.invoice.DueOn
}

// DebitDays says on which days invoices will be debited, by their ids. Those for
// which no debit is announced are left out.
func (s *Service) DebitDays(ctx context.Context, actor account.Actor, invoiceIDs []int64) (map[int64]civil.Date, error) {
	if len(invoiceIDs) == 0 {
		return map[int64]civil.Date{}, nil
	}
	return announcedOn(ctx, s.db, actor.Company.ID, invoiceIDs)
}
