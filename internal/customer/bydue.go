package customer

import (
	"cmp"
	"context"
	"slices"

	"carteira/internal/account"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
)

// ListByDue is List in the order of due dates: the earliest first, or the latest.
// Customers without a date are together at one end, where the database has them.
func (s *Service) ListByDue(
	ctx context.Context,
	actor account.Actor,
	filter Filter,
	page input.Page,
	latest bool,
) ([]Customer, int64, error) {
	l, company, count, err := s.matches(ctx, actor, filter)
	if err != nil || page.Offset() >= count {
		return []Customer{}, count, err
	}
	source := l.matching(company, true)
	if filter.Search != "" { // what a search finds has no columns until it is joined
		source = source.Rows()
	}
	source.Order = "c.id"
	window := sqldb.Window{Source: source, First: "c.due_on", Ascending: !latest, Limit: page.Size, Offset: page.Offset()}
	list, err := rows(ctx, s.db, actor.Company.ID, window.FromNearerEnd(count))
	slices.SortFunc(list, func(a, b Customer) int {
		order := cmp.Or(s.undated(a, b), a.DueOn.Compare(b.DueOn), cmp.Compare(a.ID, b.ID))
		if latest {
			return -order
		}
		return order
	})
	return list, count, err
}

// undated orders customers without a date against others: PostgreSQL has them
// last, SQLite first.
func (s *Service) undated(a, b Customer) int {
	if a.DueOn.IsZero() == b.DueOn.IsZero() {
		return 0
	}
	if a.DueOn.IsZero() == (s.db.Engine() == sqldb.Postgres) {
		return 1
	}
	return -1
}
