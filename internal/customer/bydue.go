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
	today := actor.Today(s.db.Now())
	l := listing{
		db:      s.db,
		company: actor.Company.ID,
		filter:  filter,
		due:     filter.due(today),
		month:   monthOf(today),
	}
	company, err := counter.Total(ctx, s.db, actor.Company.ID)
	if err != nil {
		return nil, 0, err
	}
	count, err := s.count(ctx, l, company)
	if err != nil || page.Offset() >= count {
		return []Customer{}, count, err
	}
	source := l.matching(company, true)
	if filter.Search != "" { // what a search finds has no columns until it is joined
		source = source.Rows()
	}
	list, err := rows(ctx, s.db, actor.Company.ID, dueWindow(source, page, count, latest))
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

// dueWindow is a page along the index of due dates, counted from the nearer end.
func dueWindow(source sqldb.Source, page input.Page, matches int64, latest bool) sqldb.Window {
	window := sqldb.Window{Source: source, Ascending: !latest, Limit: page.Size, Offset: page.Offset()}
	if window.Offset > matches/2 {
		window.Ascending = latest
		window.Limit = min(page.Size, matches-page.Offset())
		window.Offset = matches - page.Offset() - window.Limit
	}
	window.Order = "c.due_on DESC, c.id"
	if window.Ascending {
		window.Order = "c.due_on ASC, c.id"
	}
	return window
}
