package payment

import (
	"context"
	"errors"
	"slices"
	"time"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/platform/crashpoint"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/sqldb"
)

// Reason is why a payment needs a person.
type Reason string

// The reasons.
const (
	ReasonLate             Reason = "late"              // after the charge had expired or been cancelled
	ReasonDouble           Reason = "double"            // the invoice or the charge was paid already
	ReasonWrongAmount      Reason = "wrong_amount"      // not what the invoice says
	ReasonWrongCurrency    Reason = "wrong_currency"    // not reais
	ReasonWrongReference   Reason = "wrong_reference"   // the gateway says that it is for something else
	ReasonCancelledInvoice Reason = "cancelled_invoice" // nobody owed it any more
	ReasonDeletedInvoice   Reason = "deleted_invoice"   // deleted with its customer
	ReasonRefunded         Reason = "refunded"          // given back at the gateway
)

// Reasons lists all of them.
var Reasons = []Reason{
	ReasonLate, ReasonDouble, ReasonWrongAmount, ReasonWrongCurrency, ReasonWrongReference, ReasonCancelledInvoice,
	ReasonDeletedInvoice, ReasonRefunded,
}

// grace is how long after its end a charge may still be paid by somebody who
// was on time: banks take a while.
const grace = 10 * time.Minute

var (
	errPaidByNothing = errors.New("the gateway says that the charge is paid, and by no payment")
	errOtherCharge   = errors.New("the gateway answered about another charge")
)

// settlement is one report of a gateway on its way into the books.
type settlement struct {
	*Service
	actor  account.Actor
	setup  Setup
	report Report
	claim  string // under which the gateway was asked; empty: under none
	strays bool   // the report's reference is nobody's

	charge  charge
	invoice *billing.Invoice // nil: deleted
}

// settle takes note of what a gateway reports of a charge, in one transaction:
// the payments that came, the invoice that one of them pays, and where the
// charge stands. However often it is told the same, it does so once. What does
// not fit is kept for a person to decide.
func (s *Service) settle(ctx context.Context, u Setup, c charge, r Report) error {
	if r.State == StatePaid && len(r.Payments) == 0 {
		return errPaidByNothing
	}
	st := &settlement{Service: s, setup: u, report: r, claim: c.claim}
	if r.Reference != "" && r.Reference != c.order.Reference {
		other, err := chargeByReference(ctx, s.db, c.companyID, r.Reference)
		switch {
		case err == nil:
			st.claim = ""
			return errors.Join(st.run(ctx, other), errOtherCharge)
		case !errors.Is(err, sqldb.ErrNotFound):
			return err
		}
		st.strays = true
	}
	return st.run(ctx, c)
}

func (s *settlement) run(ctx context.Context, c charge) (err error) {
	ctx, cancel := closing(ctx)
	defer cancel()
	if s.actor, err = s.accounts.Actor(ctx, c.companyID); err != nil {
		return err
	}
	slices.SortStableFunc(s.report.Payments, func(x, y Received) int { return x.At.Compare(y.At) })
	err = s.db.Write(ctx, func(tx *sqldb.Tx) error {
		if err := s.lock(ctx, tx, c); err != nil {
			return err
		}
		s.charge.take(s.report.Charge)
		for _, p := range s.report.Payments {
			if err := s.receive(ctx, tx, p); err != nil {
				return err
			}
		}
		s.follow(tx.Now())
		if s.charge.claim == s.claim || !s.charge.busy(tx.Now()) {
			s.charge.claim, s.charge.nextCheck = "", s.nextCheck(s.charge, s.setup.Provider, tx.Now())
		}
		s.charge.problem = ""
		crashpoint.Here("before-settlement-commit")
		return errors.Join(saveCharge(ctx, tx, s.charge), heardTx(ctx, tx, s.setup, nil))
	})
	crashpoint.Here("after-settlement-commit")
	return err
}

// lock takes customer, invoice and charge, in the order in which everybody does.
func (s *settlement) lock(ctx context.Context, tx *sqldb.Tx, c charge) error {
	s.invoice = nil
	i, err := billing.LockTx(ctx, tx, s.actor, c.invoiceID)
	switch {
	case err == nil:
		s.invoice = &i
	case fault.KindOf(err) != fault.KindNotFound:
		return err
	}
	s.charge, err = lockCharge(ctx, tx, c.companyID, c.id)
	return err
}

// receive takes note of one payment, unless it is known.
func (s *settlement) receive(ctx context.Context, tx *sqldb.Tx, p Received) error {
	if p.ID == "" {
		return errors.New("the gateway told of a payment without an id")
	}
	rowID, err := insertPayment(ctx, tx, s.charge, p, "")
	if err != nil {
		return err
	}
	if rowID == 0 {
		return s.again(ctx, tx, p)
	}
	reason := s.judge(p)
	if !s.strays {
		// Before the invoice is paid: what watches that would take the charge for one that is left over.
		s.charge.enter(paid, tx.Now())
		if err := saveCharge(ctx, tx, s.charge); err != nil {
			return err
		}
	}
	if reason != "" {
		tx.OnCommit(s.metrics.reviews.WithLabelValues(string(reason)).Inc)
		return insertReview(ctx, tx, s.charge.companyID, rowID, reason)
	}
	out, err := s.billing.PayTx(ctx, tx, s.actor, s.invoice.ID, s.charge.provider)
	if err != nil {
		return err
	}
	s.invoice = &out.Invoice
	lag := tx.Now().Sub(p.At)
	tx.OnCommit(func() { s.metrics.lag.Observe(max(lag, 0).Seconds()) })
	return markApplied(ctx, tx, s.charge.companyID, rowID)
}

// again is for a payment that is known: only that it was given back since would
// be news.
func (s *settlement) again(ctx context.Context, tx *sqldb.Tx, p Received) error {
	if !p.Refunded {
		return nil
	}
	rowID, err := markRefunded(ctx, tx, s.charge.companyID, s.charge.provider, p.ID)
	if err != nil || rowID == 0 {
		return err
	}
	tx.OnCommit(s.metrics.reviews.WithLabelValues(string(ReasonRefunded)).Inc)
	return insertReview(ctx, tx, s.charge.companyID, rowID, ReasonRefunded)
}

// judge says why a payment does not pay the invoice by itself; nothing when it
// does.
func (s *settlement) judge(p Received) Reason {
	switch {
	case s.strays:
		return ReasonWrongReference
	case p.Refunded:
		return ReasonRefunded
	case p.Currency != "BRL":
		return ReasonWrongCurrency
	case s.invoice == nil:
		return ReasonDeletedInvoice
	case s.charge.state == paid || s.invoice.Status == billing.Paid:
		return ReasonDouble
	case s.invoice.Status == billing.Cancelled:
		return ReasonCancelledInvoice
	case p.Amount != s.charge.order.Amount || p.Amount != s.invoice.Amount:
		return ReasonWrongAmount
	case s.charge.state == cancelled || s.charge.state == refused || p.At.After(s.charge.ExpiresAt.Add(grace)):
		return ReasonLate
	}
	return ""
}

// follow moves a charge to where the gateway says that it stands.
func (s *settlement) follow(now time.Time) {
	c := &s.charge
	switch {
	case s.strays || c.state == paid:
	case s.report.State == StateCancelled && !c.state.closed():
		if c.ExpiresAt.After(now) {
			c.enter(cancelled, now)
		} else {
			c.enter(expired, now)
		}
	case s.report.State == StatePending && c.state.closed(): // it can be paid after all
		c.enter(cancelling, now)
	case s.report.State == StatePending && c.state != cancelling && !c.ExpiresAt.After(now): // it does not expire by itself
		c.enter(cancelling, now)
	case s.report.State == StatePending && c.state == reserved && sane(c.Charge) == nil:
		c.enter(pending, now) // without its code it stays reserved: whoever asks for it makes it told
	}
}
