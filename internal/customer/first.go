package customer

import (
	"context"

	"carteira/internal/account"
	"carteira/internal/platform/sqldb"
)

// First returns the newest few customers of a filter. It does not count the
// others, so that a search which finds half of a large company costs as much as
// one that finds three.
func (s *Service) First(
	ctx context.Context,
	actor account.Actor,
	filter Filter,
	limit int64,
) ([]Customer, error) {
	l := s.listing(actor, filter)
	company, err := counter.Total(ctx, s.db, actor.Company.ID)
	if err != nil {
		return nil, err
	}
	front, err := s.front(ctx, l, company)
	if err != nil {
		return nil, err
	}
	if front != nil {
		if ok, err := front.find(ctx, limit); err != nil {
			return nil, err
		} else if ok {
			return s.firstOf(ctx, l.company, part{limit: limit}.among(front.ids))
		}
	}
	if front == nil {
		if l, err = s.known(ctx, l, company); err != nil {
			return nil, err
		}
	}
	return reading.Rows(ctx, s.db, actor.Company.ID, sqldb.Window{Source: l.matching(), Limit: limit})
}
