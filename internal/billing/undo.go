package billing

import (
	"context"

	"carteira/internal/account"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/sqldb"
)

// UndoPayment takes one payment back that a person reported: it never happened.
func (s *Service) UndoPayment(ctx context.Context, actor account.Actor, paymentID int64) (Outcome, error) {
	var out Outcome
	err := actor.Write(ctx, s.db, func(tx *sqldb.Tx) error {
		invoiceID, err := invoiceOfPayment(ctx, tx, actor.Company.ID, paymentID)
		if err != nil {
			return err
		}
		out, err = s.undoTx(ctx, tx, actor, invoiceID, func() ([]Payment, error) {
			payment, err := lockPayment(ctx, tx, actor.Company.ID, paymentID)
			return []Payment{payment}, err
		})
		return err
	})
	return out, err
}

// UndoPaymentsIn takes back the payments that a piece of work registered for an
// invoice, and no earlier ones.
func (s *Service) UndoPaymentsIn(ctx context.Context, actor account.Actor, invoiceID int64, batch string) (Outcome, error) {
	var out Outcome
	err := actor.Write(ctx, s.db, func(tx *sqldb.Tx) (err error) {
		out, err = s.undoTx(ctx, tx, actor, invoiceID, func() ([]Payment, error) {
			return lockPaymentsIn(ctx, tx, actor.Company.ID, invoiceID, batch)
		})
		return err
	})
	return out, err
}

// undoTx takes payments of an invoice back, which it reads once the invoice is
// locked.
func (s *Service) undoTx(
	ctx context.Context, tx *sqldb.Tx, actor account.Actor, invoiceID int64, read func() ([]Payment, error),
) (Outcome, error) {
	before, owner, err := lock(ctx, tx, actor, invoiceID)
	if err != nil {
		return Outcome{}, err
	}
	out := Outcome{Invoice: before}
	taken, err := read()
	if err != nil {
		return out, err
	}
	if len(taken) == 0 {
		return out, fault.Conflict("no payment of it is left to be undone")
	}
	decision := decisionOn(before, owner)
	completed := false
	for _, payment := range taken {
		if err := payment.notUndone(); err != nil {
			return out, err
		}
		decision.dismiss(payment)
		completed = completed || payment.Status == PaymentApplied
	}
	if before.Status == Paid && (completed || decision.After.Received < before.cost()) {
		payments, err := lockPaymentsOf(ctx, tx, actor.Company.ID, before.ID)
		if err != nil {
			return out, err
		}
		decision.reopen(payments)
	}
	return s.applyDecision(ctx, tx, actor, &decision)
}

// notUndone says why a payment cannot be taken back.
func (p Payment) notUndone() error {
	switch {
	case !p.Status.counts():
		return fault.Field("payment", "does not count: it was undone or dismissed")
	case !p.byPerson():
		return fault.Field("payment", "came through a gateway; give it back instead")
	case p.Refunded > 0:
		return fault.Field("payment", "a part of it was given back; give back the rest instead")
	}
	return nil
}
