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
func (s *Service) CustomNames(ctx context.Context, a account.Actor) ([]string, error) {
	names := map[string]bool{}
	err := eachCustom(ctx, s.db, a.Company.ID, func(c Custom) {
		for name := range c.Map() {
			names[name] = true
		}
	})
	return slices.Sorted(maps.Keys(names)), err
}

// Walk calls visit for every customer of a filter, newest first. It goes along
// the ids, so that what is created meanwhile is neither seen twice nor pushes
// another over an edge, and holds no transaction: whoever reads slowly keeps
// nobody waiting.
func (s *Service) Walk(ctx context.Context, a account.Actor, f Filter, visit func(Customer) error) error {
	today := a.Today(s.db.Now())
	l := listing{db: s.db, company: a.Company.ID, filter: f, due: f.due(today), month: monthOf(today)}
	company, err := counter.Total(ctx, s.db, a.Company.ID)
	if err != nil {
		return err
	}
	last := int64(0)
	for {
		source := l.matching(company, false)
		if last != 0 {
			source.Where.And(source.ID+" < ?", last)
		}
		list, err := rows(ctx, s.db, a.Company.ID, sqldb.Window{Source: source, Limit: walkBatch})
		if err != nil {
			return err
		}
		for _, c := range list {
			if err := visit(c); err != nil {
				return err
			}
			last = c.ID
		}
		if len(list) < walkBatch {
			return nil
		}
	}
}
