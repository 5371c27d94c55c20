package reseller

import (
	"context"

	"carteira/internal/account"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
)

// Quote is what a renewal would cost and bring, for somebody who wants to see
// it before it is done.
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

// QuoteRenewal tells what Renew would do with the same form, and refuses the
// same, but for the want of credits. Reseller and Balance are told beside a
// refusal too.
func (s *Service) QuoteRenewal(ctx context.Context, a account.Actor, id int64, in *input.Form) (q Quote, err error) {
	planID, _ := in.ID("plan_id").Get()
	q.Periods = readPeriods(in)
	if q.Reseller, err = s.Find(ctx, a, id); err != nil {
		return q, err
	}
	if q.Balance, err = s.Balance(ctx, a); err != nil {
		return q, err
	}
	if q.Plan, err = renewalPlan(ctx, s.db, a, q.Reseller.Company, planID, in); err != nil {
		return q, err
	}
	if err := in.Err(); err != nil {
		return q, err
	}
	q.Cost = q.Plan.Credits * int64(q.Periods)
	after, err := renewed(q.Reseller.Company, q.Plan, q.Periods, civil.Of(s.db.Now().In(q.Reseller.Zone)))
	q.ExpiresOn = after.ExpiresOn
	return q, err
}

// RenewAt is Renew for somebody who has seen a Quote: it refuses when the cost
// is no longer that of the field agreed.
func (s *Service) RenewAt(ctx context.Context, a account.Actor, id int64, in *input.Form) (Paid, error) {
	in.Require("agreed")
	agreed, _ := in.Int("agreed", 0, maxCredits*maxPeriods).Get()
	return s.renew(ctx, a, id, in, func(cost int64) error {
		if cost != agreed {
			return fault.Conflict("the price of the plan has changed; look at the cost again")
		}
		return nil
	})
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

// QuoteTransfer tells what Transfer would do with the same form, and refuses the
// same. Reseller and Balance are told beside a refusal too.
func (s *Service) QuoteTransfer(ctx context.Context, a account.Actor, id int64, in *input.Form) (Movement, error) {
	return s.quoteMove(ctx, a, id, in, -1)
}

// QuoteTakeBack is QuoteTransfer for TakeBack.
func (s *Service) QuoteTakeBack(ctx context.Context, a account.Actor, id int64, in *input.Form) (Movement, error) {
	return s.quoteMove(ctx, a, id, in, +1)
}

func (s *Service) quoteMove(ctx context.Context, a account.Actor, id int64, in *input.Form, sign int64) (m Movement, err error) {
	m.Amount, m.Note = readAmount(in)
	if m.Reseller, err = s.Find(ctx, a, id); err != nil {
		return m, err
	}
	if m.Balance, err = s.Balance(ctx, a); err != nil {
		return m, err
	}
	if err := in.Err(); err != nil {
		return m, err
	}
	m.After = Moved{Balance: m.Balance + sign*m.Amount, ResellerBalance: m.Reseller.Credits - sign*m.Amount}
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
	c, err := account.FindBelow(ctx, s.db, a, id)
	if err != nil {
		return false, err
	}
	ready, err := account.OwnerReady(ctx, s.db, c)
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

// noteMove writes into the audit log that credits were moved.
func noteMove(ctx context.Context, tx *sqldb.Tx, a account.Actor, kind EntryKind, c account.Company, amount int64) error {
	return account.WriteAudit(ctx, tx, a, account.AuditEntry{
		Action: "credits." + string(kind), Record: "reseller", ID: c.ID, Name: c.Name, After: account.AuditFields{"credits": amount},
	})
}
