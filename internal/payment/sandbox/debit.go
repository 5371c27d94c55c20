package sandbox

import (
	"context"
	"errors"
	"time"

	"carteira/internal/payment"
	"carteira/internal/payment/wire"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/id"
	"carteira/internal/platform/sqldb"
)

// debit is a debit as the simulated provider knows it: a charge that is paid by
// itself on its day.
type debit struct {
	Charge
	authorisationID string
	on              civil.Date
	attempts        int
	waiting         bool // for the attempt of that day
}

// The hours of a simulated bank: when it debits, and until when it can be stopped.
const (
	debitsAt = 6 * time.Hour
	stopsAt  = 0
)

var bankZone = time.FixedZone("BRT", -3*60*60)

// attempted reports whether the day of the newest attempt has come.
func (d debit) attempted(now time.Time) bool {
	return !now.Before(d.on.At(debitsAt, bankZone))
}

// started reports whether the newest attempt can no longer be stopped.
func (d debit) started(now time.Time) bool {
	return d.waiting && !now.Before(d.on.At(stopsAt, bankZone))
}

func (d debit) report(by authorisation) payment.DebitReport {
	report := payment.DebitReport{
		DebitRef: payment.DebitRef{
			Ref:           payment.Ref{ID: d.ID, Reference: d.Reference},
			Authorisation: payment.Ref{ID: by.id, Reference: by.reference},
		},
		State:    payment.DebitFailed,
		On:       d.on,
		Attempts: d.attempts,
		Payments: d.Payments,
	}
	if d.waiting {
		report.Attempts++ // the one that is scheduled counts
	}
	switch {
	case len(d.Payments) > 0:
		report.State = payment.DebitPaid
	case d.Cancelled:
		report.State = payment.DebitCancelled
	case d.waiting && d.attempts > 0:
		report.State = payment.DebitRetrying
	case d.waiting:
		report.State = payment.DebitAnnounced
	default:
		report.Reason = "the account had too little money"
	}
	return report
}

// Announce announces a debit, or finds it.
func (g *gateway) Announce(ctx context.Context, order payment.Debit) (report payment.DebitReport, err error) {
	made := debit{Charge: Charge{
		ID:          id.NewCode(26),
		Reference:   order.Reference,
		Amount:      order.Amount,
		Description: order.Description,
		PayerName:   order.Payer.Name,
		ExpiresAt:   order.On.AddDays(30).Start(bankZone),
		secret:      id.NewCode(32),
	}, on: order.On}
	return sqldb.Write(ctx, g.db, func(tx *sqldb.Tx) (report payment.DebitReport, err error) {
		by, err := lockAuthorisation(ctx, tx, wire.Pick(order.Authorisation.ID, order.Authorisation.Reference))
		if errors.Is(err, payment.ErrNoCharge) || err == nil && by.state != payment.AuthorisationActive {
			return report, &payment.Refusal{Reason: "the payer has not authorised"}
		}
		if err != nil {
			return report, err
		}
		if err := insertDebit(ctx, tx, made, by.id); err != nil {
			return report, err
		}
		known, err := debitNamed(ctx, tx, order.Reference)
		report = known.report(by)
		return report, err
	})
}

// FetchDebit reads a debit back. What the bank does on its day is done by then.
func (g *gateway) FetchDebit(ctx context.Context, ref payment.DebitRef) (report payment.DebitReport, err error) {
	err = g.changeDebit(ctx, ref, func(tx *sqldb.Tx, d *debit, by *authorisation) error {
		if d.waiting && !d.Cancelled && len(d.Payments) == 0 && d.attempted(tx.Now()) {
			if err := g.attempt(ctx, tx, d, by); err != nil {
				return err
			}
		}
		report = d.report(*by)
		return nil
	})
	return report, err
}

// attempt debits the payer's account.
func (g *gateway) attempt(ctx context.Context, tx *sqldb.Tx, d *debit, by *authorisation) error {
	d.waiting = false
	d.attempts++
	if by.fails > 0 {
		by.fails--
		return nil
	}
	if err := insertPayment(ctx, tx, d.ID, d.Amount); err != nil {
		return err
	}
	paid, err := charge(ctx, tx, d.ID)
	d.Payments = paid.Payments
	return err
}

// CancelDebit stops a debit before its day.
func (g *gateway) CancelDebit(ctx context.Context, ref payment.DebitRef) error {
	err := g.changeDebit(ctx, ref, func(tx *sqldb.Tx, d *debit, _ *authorisation) error {
		switch {
		case d.Cancelled:
			return nil
		case len(d.Payments) > 0, d.started(tx.Now()):
			return payment.ErrPaid
		}
		d.waiting = false
		return cancelCharge(ctx, tx, d.ID)
	})
	if errors.Is(err, payment.ErrNoCharge) {
		return nil
	}
	return err
}

// RetryDebit has a debit that failed attempted once more.
func (g *gateway) RetryDebit(ctx context.Context, ref payment.DebitRef, on civil.Date) error {
	return g.changeDebit(ctx, ref, func(_ *sqldb.Tx, d *debit, by *authorisation) error {
		switch {
		case d.waiting && d.on == on:
			return nil
		case d.waiting, d.Cancelled, len(d.Payments) > 0, d.attempts >= 4, by.state != payment.AuthorisationActive:
			return &payment.Refusal{Reason: "there is no attempt left"}
		}
		d.on, d.waiting = on, true
		return nil
	})
}

// changeDebit locks a debit with its authorisation and changes both.
func (g *gateway) changeDebit(
	ctx context.Context, ref payment.DebitRef, change func(tx *sqldb.Tx, d *debit, by *authorisation) error,
) error {
	return g.db.Write(ctx, func(tx *sqldb.Tx) error {
		known, err := debitNamed(ctx, tx, wire.Pick(ref.ID, ref.Reference))
		if err != nil {
			return err
		}
		by, err := lockAuthorisation(ctx, tx, known.authorisationID)
		if err != nil {
			return err
		}
		if known, err = debitNamed(ctx, tx, known.ID); err != nil { // as it is under the lock
			return err
		}
		if err := change(tx, &known, &by); err != nil {
			return err
		}
		return errors.Join(updateDebit(ctx, tx, known), updateAuthorisation(ctx, tx, by))
	})
}
