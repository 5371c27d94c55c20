package customer

import (
	"context"

	"carteira/internal/account"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/sqldb"
)

// expiry is how far a customer is with the passing of its due date.
// customer.expired is recorded when a customer goes from not expired to
// expired, and never twice for one due date.
type expiry struct {
	// on is the due date that customer.expired is still to be recorded for once
	// it has passed; zero: there is none.
	on civil.Date
	// expired says that it was recorded, or imported as such, and that the
	// customer has not been current since.
	expired bool
}

// after decides how a customer with a due date stands after a change. One
// who was expired and still is was recorded already: a payment that leads from
// one past date to another must not cut off who has just paid.
func (e expiry) after(dueOn, today civil.Date) expiry {
	switch {
	case dueOn.IsZero():
		return expiry{}
	case !dueOn.Before(today):
		return expiry{on: dueOn}
	case e.expired:
		return expiry{expired: true}
	}
	return expiry{on: dueOn}
}

// expires is the due date whose passing matters; a cancelled customer has
// none.
func (c Customer) expires() civil.Date {
	if c.IsCancelled() {
		return civil.Date{}
	}
	return c.DueOn
}

// passedUnseen tells that the due date of a customer has passed and that no
// run of Expire has seen it yet.
func (c Customer) passedUnseen(today civil.Date) bool {
	return !c.expiry.on.IsZero() && c.DueOn.Before(today)
}

// askToExpire has the company's day looked at when one of its customers expires so
// soon that the look of that day may be over already.
func askToExpire(
	ctx context.Context,
	tx *sqldb.Tx,
	actor account.Actor,
	customers ...Customer,
) error {
	later := actor.Today(tx.Now()).AddDays(account.LaterDays)
	for _, customer := range customers {
		if on := customer.expiry.on; !on.IsZero() && on.Before(later) {
			return account.AskDayWork(ctx, tx, actor.Company.ID)
		}
	}
	return nil
}

// settleExpiry sets the expiry of a customer that is about to be written. A
// renewal that leads from a past date to another past date records
// customer.expired for the first one, before customer.renewed: afterwards
// nothing would.
func (s *Service) settleExpiry(
	ctx context.Context,
	tx *sqldb.Tx,
	actor account.Actor,
	change *Change,
) error {
	today := actor.Today(tx.Now())
	if change.Action == ActionRenewed && change.Before.passedUnseen(today) && change.After.DueOn.Before(today) {
		passed := Change{Action: ActionExpired, Before: change.Before, After: change.Before}
		if err := s.apply(ctx, tx, actor, &passed); err != nil {
			return err
		}
		change.Before.expiry, change.Before.recurring = passed.After.expiry, passed.After.recurring
	}
	change.After.expiry = change.Before.expiry.after(change.After.expires(), today)
	return nil
}
