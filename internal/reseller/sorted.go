package reseller

import (
	"carteira/internal/platform/civil"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/text"
)

// sorted has the matches in an order. Few are found by what they are filtered by
// and sorted: the order is by expressions, which keep planners from a walk along
// its index. Many are met on that walk.
func (l listing) sorted(sort input.Sort, matches int64) sqldb.Window {
	few := l.filter != (Filter{}) && matches < smallSort
	l.walked = !few
	source := l.matching(matches).Rows()
	source.Order = "c.id"
	first := "c.name_key"
	if sort.Field() == input.ByExpiry {
		first = "COALESCE(c.expires_on, '" + input.Never + "')"
	}
	if few {
		first, source.Order = first+" || ''", "c.id + 0"
	}
	return sqldb.Window{Source: source, First: first}
}

// sortKeys are what the resellers of a page are sorted by.
var sortKeys = input.Keys[Reseller]{
	ID:   func(reseller Reseller) int64 { return reseller.ID },
	Name: func(reseller Reseller) string { return sqldb.Searchable(text.Fold(reseller.Name)) },
	Day:  func(reseller Reseller) civil.Date { return reseller.Subscription.ExpiresOn },
}
