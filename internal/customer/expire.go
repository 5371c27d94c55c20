package customer

import (
	"context"
	"fmt"

	"carteira/internal/account"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/sqldb"
)

// expireBatch bounds one transaction of Expire.
const expireBatch = 100

// Expire records customer.expired for every customer of the company whose due
// date has passed, once per due date. It finds what is due through an index of
// those not yet recorded, so a run with nothing due costs one look; what was
// missed while no process ran is found by the next run, and any number of
// processes may run it at once. It returns how many it recorded.
func (s *Service) Expire(ctx context.Context, actor account.Actor) (int, error) {
	due, err := anyLapsed(ctx, s.db, actor.Company.ID, actor.Today(s.db.Now()).String())
	if err != nil || !due {
		return 0, err
	}
	total := 0
	for found := expireBatch; found == expireBatch; {
		var recorded int
		err := actor.Write(ctx, s.db, func(tx *sqldb.Tx) (err error) {
			found, recorded, err = s.expireBatch(ctx, tx, actor)
			return err
		})
		if err != nil {
			return total, fmt.Errorf("expire customers of company %d: %w", actor.Company.ID, err)
		}
		total += recorded
	}
	return total, nil
}

// NextDue is the next due date of the company after today; zero: there is none.
func (s *Service) NextDue(ctx context.Context, actor account.Actor) (civil.Date, error) {
	return nextDue(ctx, s.db, actor.Company.ID, actor.Today(s.db.Now()))
}

// expireBatch returns how many customers have passed their due date, and for
// how many of them that was new.
func (s *Service) expireBatch(
	ctx context.Context,
	tx *sqldb.Tx,
	actor account.Actor,
) (found, recorded int, err error) {
	ids, err := lapsed(ctx, tx, actor.Company.ID, actor.Today(tx.Now()).String(), expireBatch)
	if err != nil {
		return 0, 0, err
	}
	for _, id := range ids {
		first, err := s.expire(ctx, tx, actor, id)
		if err != nil {
			return 0, 0, fmt.Errorf("customer %d: %w", id, err)
		}
		if first {
			recorded++
		}
	}
	return len(ids), recorded, nil
}

func (s *Service) expire(
	ctx context.Context,
	tx *sqldb.Tx,
	actor account.Actor,
	id int64,
) (first bool, err error) {
	customer, err := byID(ctx, tx, actor.Company.ID, id)
	if err != nil {
		return false, err
	}
	change := Change{Action: ActionExpired, Before: customer, After: customer}
	err = s.apply(ctx, tx, actor, &change)
	return !change.recorded, err
}
