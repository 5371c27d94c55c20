package billing

import (
	"context"

	"carteira/internal/platform/civil"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
)

// matching is a filter of payments, and how many it has.
type matching struct {
	filter PaymentFilter
	count  int64
}

// paymentsByDay reads a page of payments in the order of the days on which they
// were paid.
func (s *Service) paymentsByDay(
	ctx context.Context,
	companyID int64,
	matching matching,
	page input.Page,
) ([]PaymentRecord, error) {
	window := matching.byDay(s.db.Engine(), companyID)
	window.Ascending, window.Offset, window.Limit = !page.Sort.Descending(), page.Offset(), page.Size
	list, err := recordReading.Rows(ctx, s.db, companyID, window.FromNearerEnd(matching.count))
	paymentKeys.Arrange(list, page.Sort)
	return list, err
}

// byDay has the payments of a filter in the order of days. Few are found by what
// they are filtered by, and sorted: the order is by expressions, which keep
// planners from a walk along the index of days. Many are met on that walk.
func (m matching) byDay(engine sqldb.Engine, companyID int64) sqldb.Window {
	source := sqldb.Source{From: "payments p", ID: "p.id", Order: "p.id"}
	if m.filter != (PaymentFilter{}) && m.count < smallSort {
		source.Where, source.Order = m.filter.where(companyID), "p.id + 0"
		return sqldb.Window{Source: source, First: "p.paid_on || ''"}
	}
	if engine == sqldb.Postgres { // its statistics say that there are many
		source.Where = m.filter.where(companyID)
		return sqldb.Window{Source: source, First: "p.paid_on"}
	}
	others := m.filter
	others.Via, others.Status = "", ""
	source.Where = others.where(companyID)
	if m.filter.Via != "" {
		source.Where.And("p.paid_via || '' = ?", m.filter.Via)
	}
	if m.filter.Status != "" {
		source.Where.And("p.status || '' = ?", string(m.filter.Status))
	}
	return sqldb.Window{Source: source, First: "p.paid_on"}
}

// paymentKeys are what the records of a page are sorted by.
var paymentKeys = input.Keys[PaymentRecord]{
	ID:  func(record PaymentRecord) int64 { return record.ID },
	Day: func(record PaymentRecord) civil.Date { return record.PaidOn },
}
