package customer

import (
	"context"
	"maps"
	"slices"

	"carteira/internal/account"
	"carteira/internal/platform/sqldb"
)

// CustomNames are the names of the company's own fields that its customers have,
// in alphabetical order: the columns of an export.
func (s *Service) CustomNames(ctx context.Context, actor account.Actor) ([]string, error) {
	names := map[string]bool{}
	err := eachCustom(ctx, s.db, actor.Company.ID, func(custom Custom) {
		for name := range custom.Map() {
			names[name] = true
		}
	})
	return slices.Sorted(maps.Keys(names)), err
}

// Walk calls visit for every customer of a filter, newest first.
func (s *Service) Walk(
	ctx context.Context,
	actor account.Actor,
	filter Filter,
	visit func(Customer) error,
) error {
	if err := actor.NotAttendant(); err != nil {
		return err
	}
	l := s.listing(actor, filter)
	company, err := counter.Total(ctx, s.db, actor.Company.ID)
	if err != nil {
		return err
	}
	if l, err = s.known(ctx, l, company); err != nil {
		return err
	}
	if l.found != nil {
		return s.walkFound(ctx, l, visit)
	}
	return sqldb.Walk(func(last *Customer) ([]Customer, error) {
		source := l.matching()
		if last != nil {
			source.Where.And(source.ID+" < ?", last.ID)
		}
		return reading.Rows(ctx, s.db, actor.Company.ID, sqldb.Window{Source: source, Limit: sqldb.WalkBatch})
	}, visit)
}

// walkFound walks along those whom a search has found. The ids of all of them would be
// handed over with each batch.
func (s *Service) walkFound(ctx context.Context, l listing, visit func(Customer) error) error {
	for some := range slices.Chunk(l.found, sqldb.WalkBatch) {
		l.found = some
		list, err := reading.Rows(ctx, s.db, l.company, sqldb.Window{Source: l.matching(), Limit: sqldb.WalkBatch})
		if err != nil {
			return err
		}
		for _, one := range list {
			if err := visit(one); err != nil {
				return err
			}
		}
	}
	return nil
}
