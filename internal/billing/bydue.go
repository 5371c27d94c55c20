package billing

import (
	"cmp"
	"context"
	"slices"

	"carteira/internal/account"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
)

// largeSort is up to how many matches are sorted where no index has them in the
// order of due dates.
const largeSort = 20_000

// ListByDue is List in the order of due dates: the earliest first, or the latest.
// More paid or cancelled invoices than can be sorted at every look come as List
// has them.
func (s *Service) ListByDue(
	ctx context.Context,
	actor account.Actor,
	filter Filter,
	page input.Page,
	latest bool,
) ([]Invoice, int64, error) {
	l := listing{db: s.db, company: actor.Company.ID, filter: filter, today: actor.Today(s.db.Now())}
	all, err := counter.Total(ctx, s.db, actor.Company.ID)
	if err != nil {
		return nil, 0, err
	}
	count, err := s.count(ctx, l, all)
	if err != nil || page.Offset() >= count {
		return []Invoice{}, count, err
	}
	indexed := filter.Status == "" || filter.Status == Open
	if !indexed && count > largeSort {
		return s.List(ctx, actor, filter, page)
	}
	source := l.matching(1+smallSort, 0) // columns as they are, so that an index has their order
	if filter.Status == Open || filter.Overdue == "true" {
		source.Where.And("i.status = 'open'") // in letters: the index of what is owed is for these alone
	}
	list, err := rows(ctx, s.db, actor.Company.ID, dueWindow(source, page, count, latest))
	slices.SortFunc(list, func(a, b Invoice) int {
		order := cmp.Or(a.DueOn.Compare(b.DueOn), cmp.Compare(a.ID, b.ID))
		if latest {
			return -order
		}
		return order
	})
	return list, count, err
}

// dueWindow is a page along the index of due dates, counted from the nearer end.
func dueWindow(source sqldb.Source, page input.Page, matches int64, latest bool) sqldb.Window {
	window := sqldb.Window{Source: source, Ascending: !latest, Limit: page.Size, Offset: page.Offset()}
	if window.Offset > matches/2 {
		window.Ascending = latest
		window.Limit = min(page.Size, matches-page.Offset())
		window.Offset = matches - page.Offset() - window.Limit
	}
	window.Order = "i.due_on DESC, i.id"
	if window.Ascending {
		window.Order = "i.due_on ASC, i.id"
	}
	return window
}
