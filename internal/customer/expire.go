package customer

import (
	"context"
	"fmt"

	"carteira/internal/account"
	"carteira/internal/platform/sqldb"
)

// expireBatch bounds one transaction of Expire.
const expireBatch = 100

// Expire records customer.expired for every customer of the company whose due
// date has passed, once per due date. It finds what is due through an index of
// those not yet recorded, so a run with nothing due costs one look; what was
// missed while no process ran is found by the next run, and any number of
// processes may run it at once. It returns how many it recorded.
func (s *Service) Expire(ctx context.Context, a account.Actor) (int, error) {
	due, err := anyLapsed(ctx, s.db, a.Company.ID, a.Today(s.db.Now()).String())
	if err != nil || !due {
		return 0, err
	}
	total := 0
	for found := expireBatch; found == expireBatch; {
		var recorded int
		err := a.Write(ctx, s.db, func(tx *sqldb.Tx) (err error) {
			found, recorded, err = s.expireBatch(ctx, tx, a)
			return err
		})
		if err != nil {
			return total, fmt.Errorf("expire customers of company %d: %w", a.Company.ID, err)
		}
		total += recorded
	}
	return total, nil
}

// expireBatch returns how many customers have passed their due date, and for
// how many of them that was new.
func (s *Service) expireBatch(ctx context.Context, tx *sqldb.Tx, a account.Actor) (found, recorded int, err error) {
	ids, err := lapsed(ctx, tx, a.Company.ID, a.Today(tx.Now()).String(), expireBatch)
	if err != nil {
		return 0, 0, err
	}
	for _, id := range ids {
		first, err := s.expire(ctx, tx, a, id)
		if err != nil {
			return 0, 0, fmt.Errorf("customer %d: %w", id, err)
		}
		if first {
			recorded++
		}
	}
	return len(ids), recorded, nil
}

func (s *Service) expire(ctx context.Context, tx *sqldb.Tx, a account.Actor, id int64) (first bool, err error) {
	c, err := byID(ctx, tx, a.Company.ID, id)
	if err != nil {
		return false, err
	}
	change := Change{Action: ActionExpired, Before: c, After: c}
	err = s.apply(ctx, tx, a, &change)
	return !change.recorded, err
}
