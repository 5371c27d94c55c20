package customer

import (
	"context"
	"maps"
	"slices"

	"carteira/internal/account"
	"carteira/internal/platform/sqldb"
)

// walkBatch is how many customers a step of Walk reads: what is in memory does
// not grow with the company.
const walkBatch = 500

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

// Walk calls visit for every customer of a filter, newest first. It goes along
// the ids, so that what is created meanwhile is neither seen twice nor pushes
// another over an edge, and holds no transaction: whoever reads slowly keeps
// nobody waiting.
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
	last := int64(0)
	for {
		source := l.matching(company, false)
		if last != 0 {
			source.Where.And(source.ID+" < ?", last)
		}
		list, err := rows(ctx, s.db, actor.Company.ID, sqldb.Window{
			Source: source,
			Limit:  walkBatch,
		})
		if err != nil {
			return err
		}
		for _, customer := range list {
			if err := visit(customer); err != nil {
				return err
			}
			last = customer.ID
		}
		if len(list) < walkBatch {
			return nil
		}
	}
}
