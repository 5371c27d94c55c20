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
	l, _, count, err := s.matches(ctx, actor, filter)
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
	source.Order = "i.id"
	window := sqldb.Window{Source: source, First: "i.due_on", Ascending: !latest, Limit: page.Size, Offset: page.Offset()}
	list, err := rows(ctx, s.db, actor.Company.ID, window.FromNearerEnd(count))
	slices.SortFunc(list, func(a, b Invoice) int {
		order := cmp.Or(a.DueOn.Compare(b.DueOn), cmp.Compare(a.ID, b.ID))
		if latest {
			return -order
		}
		return order
	})
	return list, count, err
}
