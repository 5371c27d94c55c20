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
// those not yet told of, so a run with nothing due costs one look; what was
// missed while no process ran is found by the next run, and any number of
// processes may run it at once. It returns how many it told of.
func (s *Service) Expire(ctx context.Context, a account.Actor) (int, error) {
	due, err := anyLapsed(ctx, s.db, a.Company.ID, a.Today(s.db.Now()).String())
	if err != nil || !due {
		return 0, err
	}
	total := 0
	for told := expireBatch; told == expireBatch; total += told {
		err := a.Write(ctx, s.db, func(tx *sqldb.Tx) error {
			ids, err := lapsed(ctx, tx, a.Company.ID, a.Today(tx.Now()).String(), expireBatch)
			told = len(ids)
			if err != nil {
				return err
			}
			for _, id := range ids {
				if err := s.expire(ctx, tx, a, id); err != nil {
					return fmt.Errorf("customer %d: %w", id, err)
				}
			}
			return nil
		})
		if err != nil {
			return total, fmt.Errorf("expire customers of company %d: %w", a.Company.ID, err)
		}
	}
	return total, nil
}

func (s *Service) expire(ctx context.Context, tx *sqldb.Tx, a account.Actor, id int64) error {
	c, err := byID(ctx, tx, a.Company.ID, id)
	if err != nil {
		return err
	}
	return s.apply(ctx, tx, a, &Change{Action: ActionExpired, Before: c, After: c})
}
