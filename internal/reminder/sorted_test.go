package reminder

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/test/kit/sqldbtest"
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

// Every page of every filter in both orders is what a look at all messages finds.
func TestPagesOfTheLogAreThoseOfAModel(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		house := newHouse(t, engine)
		rule := house.usual()
		house.fill(rule, 600)
		var all []Message
		must(t, house.WalkMessages(t.Context(), house.actor, Filter{}, func(message Message) error {
			all = append(all, message)
			return nil
		}))
		random := rand.New(rand.NewPCG(11, 12))
		for range 150 {
			one := all[random.IntN(len(all))]
			filter := Filter{Status: []Status{"", "", one.Status}[random.IntN(3)]}
			if random.IntN(4) == 0 {
				filter.CustomerID = one.CustomerID
			}
			if random.IntN(4) == 0 {
				filter.RuleID = one.RuleID
			}
			if random.IntN(4) == 0 {
				filter.ChannelID = one.ChannelID
			}
			if random.IntN(2) == 0 {
				filter.DueFrom = one.DueOn
			}
			if random.IntN(2) == 0 {
				filter.DueTo = all[random.IntN(len(all))].DueOn
			}
			page := input.Page{Number: 1 + random.Int64N(9), Size: 1 + random.Int64N(90)}
			page.Sort = []input.Sort{"", input.Newest, input.ByDueDate, "-" + input.ByDueDate}[random.IntN(4)]
			want := filter.among(all, page.Sort)
			total := int64(len(want))
			want = want[min(page.Offset(), total):min(page.Offset()+page.Size, total)]
			list, count, err := house.Messages(t.Context(), house.actor, filter, page)
			if err != nil || count != total || !slices.EqualFunc(list, want, func(a, b Message) bool { return a.ID == b.ID }) {
				t.Fatalf("%+v, %+v: %d of %d, %v, want %d of %d", filter, page, len(list), count, err, len(want), total)
			}
		}
	})
}

// among is what a filter has of all messages, in an order.
func (f Filter) among(all []Message, sort input.Sort) []Message {
	list := slices.DeleteFunc(slices.Clone(all), func(message Message) bool {
		return f.Status != "" && message.Status != f.Status || f.CustomerID != 0 && message.CustomerID != f.CustomerID ||
			f.RuleID != 0 && message.RuleID != f.RuleID || f.ChannelID != 0 && message.ChannelID != f.ChannelID ||
			!f.DueFrom.IsZero() && message.DueOn.Before(f.DueFrom) || !f.DueTo.IsZero() && message.DueOn.After(f.DueTo)
	})
	slices.SortFunc(list, func(a, b Message) int {
		order := cmp.Compare(a.ID, b.ID)
		if sort.Field() == input.ByDueDate {
			order = cmp.Or(strings.Compare(a.DueOn.String(), b.DueOn.String()), order)
		}
		if sort == input.ByDueDate {
			return order
		}
		return -order
	})
	return list
}
