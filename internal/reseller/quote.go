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
func (s *Service) QuoteRenewal(
	ctx context.Context,
	actor account.Actor,
	id int64,
	request RenewRequest,
) (quote Quote, err error) {
	quote.Periods = request.periods()
	if quote.Reseller, err = s.Find(ctx, actor, id); err != nil {
		return quote, err
	}
	if quote.Balance, err = s.Balance(ctx, actor); err != nil {
		return quote, err
	}
	var refused fault.Fields
	quote.Plan, refused, err = request.plan(ctx, s.db, actor, quote.Reseller.Company)
	if err != nil {
		return quote, err
	}
	if err := request.Problems.With(refused).Err(); err != nil {
		return quote, err
	}
	quote.Cost = request.cost(quote.Plan)
	after, err := request.renewed(quote.Reseller.Company, quote.Plan, civil.Of(s.db.Now().In(quote.Reseller.Zone)))
	quote.ExpiresOn = after.ExpiresOn
	return quote, err
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
func (s *Service) QuoteTransfer(
	ctx context.Context,
	actor account.Actor,
	id int64,
	request CreditRequest,
) (Movement, error) {
	return s.quoteMove(ctx, actor, transfer{down, id, request})
}

// QuoteTakeBack is QuoteTransfer for TakeBack.
func (s *Service) QuoteTakeBack(
	ctx context.Context,
	actor account.Actor,
	id int64,
	request CreditRequest,
) (Movement, error) {
	return s.quoteMove(ctx, actor, transfer{up, id, request})
}

func (s *Service) quoteMove(ctx context.Context, actor account.Actor, transfer transfer) (movement Movement, err error) {
	movement.Amount, movement.Note = transfer.request.Amount, transfer.request.Note
	if movement.Reseller, err = s.Find(ctx, actor, transfer.resellerID); err != nil {
		return movement, err
	}
	if movement.Balance, err = s.Balance(ctx, actor); err != nil {
		return movement, err
	}
	if err := transfer.request.err(); err != nil {
		return movement, err
	}
	gain := transfer.direction.sign * movement.Amount
	movement.After = Moved{
		Balance:         movement.Balance + gain,
		ResellerBalance: movement.Reseller.Credits - gain,
	}
	switch {
	case movement.After.Balance < 0:
		return movement, tooFew(movement.Amount, movement.Balance)
	case movement.After.ResellerBalance < 0:
		return movement, tooFew(movement.Amount, movement.Reseller.Credits)
	}
	return movement, nil
}

// Waiting reports whether the owner of a reseller has not set a password yet,
// and can be invited.
func (s *Service) Waiting(ctx context.Context, actor account.Actor, id int64) (bool, error) {
	company, err := account.FindChild(ctx, s.db, actor, id)
	if err != nil {
		return false, err
	}
	ready, err := account.InUse(ctx, s.db, company)
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
