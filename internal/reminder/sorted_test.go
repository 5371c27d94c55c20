package reminder

import (
	"slices"
	"strings"
	"testing"

	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/sqldb/sqldbtest"
)

func TestLogIsSortedByDueDate(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		rule := house.usual()
		for _, due := range []string{"2026-01-25", "2026-01-23", "2026-01-24", "2026-01-23"} {
			house.customer(due)
		}
		house.at("2026-01-20 08:00")
		house.work()
		house.at("2026-01-22 12:00")
		house.work()
		for _, filter := range []Filter{{}, {RuleID: rule.ID}, {Status: Sent}} {
			for _, sort := range []input.Sort{input.ByDueDate, "-" + input.ByDueDate} {
				list, total, err := house.Messages(t.Context(), house.actor, filter, input.Page{Number: 1, Size: 10, Sort: sort})
				must(t, err)
				var days []string
				for _, message := range list {
					days = append(days, message.DueOn.String())
				}
				if sort.Descending() {
					slices.Reverse(days)
				}
				if total < 1 || !slices.IsSorted(days) {
					t.Errorf("%+v by %s: %v", filter, sort, days)
				}
				last, _, err := house.Messages(t.Context(), house.actor, filter, input.Page{Number: total, Size: 1, Sort: sort})
				must(t, err)
				if len(last) != 1 || last[0].ID != list[len(list)-1].ID {
					t.Errorf("%+v by %s: the last page has %+v", filter, sort, last)
				}
			}
		}
	})
}

// Many messages are met along the index of due dates; few are found by their filter.
func TestLogByDueDateIsReadFromOneIndex(t *testing.T) {
	if sqldbtest.Raced {
		t.Skip("one goroutine, and many rows")
	}
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		house := newHouse(t, engine)
		house.fill(house.usual(), 5000)
		house.exec(`ANALYZE`)
		for _, look := range []struct {
			filter Filter
			count  int64
			index  string
		}{
			{Filter{}, Countable, "reminder_messages_day"},
			{Filter{Status: Sent}, Countable, "reminder_messages_day"},
			{Filter{CustomerID: 5}, 2, "customer_id"},
		} {
			window := matching{look.filter, look.count}.byDueDate(engine, house.actor.Company.ID)
			window.Limit = 50
			text, args := window.IDs()
			sqldbtest.WantIndex(t, house.db, look.index, text, args...)
			plan := sqldbtest.Explain(t, house.db, text, args...)
			if look.count == Countable && (strings.Contains(plan, "Sort") || strings.Contains(plan, "B-TREE")) {
				t.Errorf("%+v is sorted:\n%s", look.filter, plan)
			}
		}
	})
}
