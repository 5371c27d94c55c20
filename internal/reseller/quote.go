package reseller

import (
	"context"

	"carteira/internal/account"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
)

// Quote is what a renewal would cost and bring, for a person who wants to see it
// before it is done.
type Quote struct {
	Reseller  Reseller
	Plan      Plan
	Periods   int
	Cost      int64
	Balance   int64      // of the company that pays, as it is
	ExpiresOn civil.Date // the last day after it
}

// Enough reports whether the company can pay.
func (q Quote) Enough() bool { return q.Cost <= q.Balance }

// Left is the balance after it.
func (q Quote) Left() int64 { return q.Balance - q.Cost }

// QuoteRenewal says what Renew would do with the same request, and refuses the
// same, but for the want of credits. Reseller and Balance are set beside a
// refusal too.
func (s *Service) QuoteRenewal(ctx context.Context, a account.Actor, id int64, r RenewRequest) (q Quote, err error) {
	q.Periods = r.periods()
	if q.Reseller, err = s.Find(ctx, a, id); err != nil {
		return q, err
	}
	if q.Balance, err = s.Balance(ctx, a); err != nil {
		return q, err
	}
	var refused fault.Fields
	if q.Plan, refused, err = r.plan(ctx, s.db, a, q.Reseller.Company); err != nil {
		return q, err
	}
	if err := r.Problems.With(refused).Err(); err != nil {
		return q, err
	}
	q.Cost = r.cost(q.Plan)
	after, err := r.renewed(q.Reseller.Company, q.Plan, civil.Of(s.db.Now().In(q.Reseller.Zone)))
	q.ExpiresOn = after.ExpiresOn
	return q, err
}

// Movement is credits on their way between a company and its reseller, and what
// both would have after it.
type Movement struct {
	Reseller Reseller
	Balance  int64 // of the company, as it is
	Amount   int64
	Note     string
	After    Moved
}

// QuoteTransfer says what Transfer would do with the same request, and refuses
// the same. Reseller and Balance are set beside a refusal too.
func (s *Service) QuoteTransfer(ctx context.Context, a account.Actor, id int64, r CreditRequest) (Movement, error) {
	return s.quoteMove(ctx, a, transfer{down, id, r})
}

// QuoteTakeBack is QuoteTransfer for TakeBack.
func (s *Service) QuoteTakeBack(ctx context.Context, a account.Actor, id int64, r CreditRequest) (Movement, error) {
	return s.quoteMove(ctx, a, transfer{up, id, r})
}

func (s *Service) quoteMove(ctx context.Context, a account.Actor, t transfer) (m Movement, err error) {
	m.Amount, m.Note = t.request.Amount, t.request.Note
	if m.Reseller, err = s.Find(ctx, a, t.resellerID); err != nil {
		return m, err
	}
	if m.Balance, err = s.Balance(ctx, a); err != nil {
		return m, err
	}
	if err := t.request.err(); err != nil {
		return m, err
	}
	gain := t.direction.sign * m.Amount
	m.After = Moved{Balance: m.Balance + gain, ResellerBalance: m.Reseller.Credits - gain}
	switch {
	case m.After.Balance < 0:
		return m, tooFew(m.Amount, m.Balance)
	case m.After.ResellerBalance < 0:
		return m, tooFew(m.Amount, m.Reseller.Credits)
	}
	return m, nil
}

// Waiting reports whether the owner of a reseller has not set a password yet,
// and can be invited.
func (s *Service) Waiting(ctx context.Context, a account.Actor, id int64) (bool, error) {
	c, err := account.FindChild(ctx, s.db, a, id)
	if err != nil {
		return false, err
	}
	ready, err := account.InUse(ctx, s.db, c)
	return !ready, err
}

// LevelsFor lists the levels that a company may give a reseller besides the one
// it has, in rising order. With none, the error says why.
func LevelsFor(caller, present account.Level) (levels []account.Level, why error) {
	for _, wanted := range account.Levels {
		if wanted != present && mayChange(caller, present, wanted) {
			levels = append(levels, wanted)
		}
	}
	if len(levels) == 0 {
		return nil, refuseLevel(caller, present, present)
	}
	return levels, nil
}
