package reminder

import (
	"context"

	"carteira/internal/platform/civil"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
)

// matching is a filter of the log, and how many messages it has, at most
// Countable.
type matching struct {
	filter Filter
	count  int64
}

// messagesByDueDate reads a page of the log in the order of due dates.
func messagesByDueDate(
	ctx context.Context,
	querier sqldb.Querier,
	companyID int64,
	matching matching,
	page input.Page,
) ([]Message, error) {
	window := matching.byDueDate(querier.Engine(), companyID)
	window.Ascending, window.Offset, window.Limit = !page.Sort.Descending(), page.Offset(), page.Size
	list, err := messageReading.Rows(ctx, querier, companyID, window)
	messageKeys.Arrange(list, page.Sort)
	return list, err
}

// byDueDate has the messages of a filter in the order of due dates. Few are found
// by what they are filtered by, and sorted: the order is by expressions, which keep
// planners from a walk along the index of due dates. Many are met on that walk,
// for which SQLite is to use no other index.
func (m matching) byDueDate(engine sqldb.Engine, companyID int64) sqldb.Window {
	source := sqldb.Source{From: "reminder_messages m", ID: "m.id", Order: "m.id"}
	if m.filter != (Filter{}) && m.count < Countable {
		source.Where, source.Order = chosen(companyID, m.filter), "m.id + 0"
		return sqldb.Window{Source: source, First: "m.due_on || ''"}
	}
	if engine == sqldb.Postgres {
		source.Where = chosen(companyID, m.filter)
		return sqldb.Window{Source: source, First: "m.due_on"}
	}
	source.Where = chosen(companyID, Filter{DueFrom: m.filter.DueFrom, DueTo: m.filter.DueTo})
	m.filter.inNoIndex(&source.Where)
	return sqldb.Window{Source: source, First: "m.due_on"}
}

// inNoIndex adds the conditions of the filter, but for the days, as expressions
// that no index has.
func (f Filter) inNoIndex(where *sqldb.Where) {
	if f.Status != "" {
		where.And("m.status || '' = ?", string(f.Status))
	}
	if f.Arrival != "" {
		where.And("m.arrival || '' = ?", string(f.Arrival))
	}
	if f.CustomerID != 0 {
		where.And("m.customer_id + 0 = ?", f.CustomerID)
	}
	if f.RuleID != 0 {
		where.And("m.rule_id + 0 = ?", f.RuleID)
	}
	if f.ChannelID != 0 {
		where.And("m.channel_id + 0 = ?", f.ChannelID)
	}
}

// messageKeys are what the messages of a page are sorted by.
var messageKeys = input.Keys[Message]{
	ID:  func(message Message) int64 { return message.ID },
	Day: func(message Message) civil.Date { return message.DueOn },
}
