package billing

import (
	"cmp"
	"slices"
	"strings"
	"testing"
	"time"

	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/test/kit/sqldbtest"
)

var everySort = []input.Sort{
	"id", "-id", "name", "-name", "due_date", "-due_date", "updated_at", "-updated_at",
}

// sortsFor are the orders in which a long list is looked at: all without a filter,
// else one field, by chance of how many match.
func sortsFor(filter Filter, matches int) []input.Sort {
	if filter == (Filter{}) {
		return everySort
	}
	field := matches % (len(everySort) / 2)
	return everySort[2*field : 2*field+2]
}

// inOrder sorts as the contract has it, and shares no code with the list.
func inOrder(list []Invoice, sort input.Sort) []int64 {
	fold := strings.NewReplacer("á", "a", "é", "e", "ã", "a")
	key := func(invoice Invoice) string {
		switch strings.TrimPrefix(string(sort), "-") {
		case "name":
			return fold.Replace(strings.ToLower(invoice.Customer.Name))
		case "due_date":
			return invoice.DueOn.String()
		case "updated_at":
			return invoice.UpdatedAt.UTC().Format("2006-01-02T15:04:05.000000")
		}
		return ""
	}
	keys := map[int64]string{}
	for _, record := range list {
		keys[record.ID] = key(record)
	}
	slices.SortFunc(list, func(a, b Invoice) int {
		order := cmp.Or(cmp.Compare(keys[a.ID], keys[b.ID]), cmp.Compare(a.ID, b.ID))
		if strings.HasPrefix(string(sort), "-") {
			return -order
		}
		return order
	})
	return numbers(list)
}

// wantSorted compares pages of the list in every order with the model's.
func (w *world) wantSorted(t *testing.T, filter Filter, list archive, sorts []input.Sort) {
	t.Helper()
	page := input.Page{Size: 7}
	last := page.Last(int64(len(list)))
	for _, sort := range sorts {
		want := inOrder(slices.Clone(list), sort)
		for _, page.Number = range slices.Compact([]int64{1, last/2 + 1, last, last + 1}) {
			from := min(page.Offset(), int64(len(want)))
			got, total, err := w.Sorted(t.Context(), w.actor, Query{filter, sort}, page)
			if err != nil || total != int64(len(want)) || !slices.Equal(numbers(got), want[from:min(from+page.Size, total)]) {
				t.Errorf("%+v by %s, page %d: %d, %v\ngot  %v", filter, sort, page.Number, total, err, numbers(got))
			}
		}
	}
}

func TestSortedListHasEveryInvoiceInOrder(t *testing.T) {
	ledger(t, func(t *testing.T, world *world) {
		names := []string{"Zé", "ana", "Álvaro", "Ana", "bruna"}
		for n, due := range []string{"2026-01-20", "2026-01-05", "2026-02-03", "2026-01-05", "2026-01-12"} {
			world.clock.Advance(time.Minute)
			id := world.customer(t, 1, due).ID
			world.update(t, id, "name", names[n])
		}
		all := world.archive(t, world.actor)
		world.clock.Advance(time.Minute)
		world.edit(t, all[3].ID, "description", "x")
		since := world.clock.Now().Add(-2 * time.Minute).UnixMicro()
		for _, filter := range []Filter{
			{},
			{Status: Open},
			{Overdue: "true"},
			{Search: "a"},
			{Search: "ana"},
			{Search: "\u0301"},
			{Status: Paid},
			{CustomerID: 1},
			{UpdatedSince: since},
			{UpdatedSince: since, Search: "a"},
		} {
			matches, total, err := world.List(t.Context(), world.actor, filter, firstPage)
			if err != nil || total == 0 && filter.Status != Paid {
				t.Errorf("%+v: %d, %v", filter, total, err)
			}
			world.wantSorted(t, filter, matches, everySort)
		}
	})
}

func TestUpdatedSinceHasEveryChangeOfAnInvoice(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newWorld(t, engine)
		world.plan(t, "1month", "35.00")
		owner := world.customer(t, 1, "2026-02-05").ID
		id := world.only(t, owner).ID
		changes := []func(){
			func() { world.update(t, owner, "data_de_vencimento", "2026-02-07") }, // the invoice follows
			func() { world.edit(t, id, "description", "x") },
			func() { world.set(t, id, Cancelled) },
			func() { world.set(t, id, Open) },
			func() { world.set(t, id, Paid) },
			func() { world.set(t, id, Open) },
			func() { world.update(t, owner, "cancelled", "true") },
		}
		for n, change := range changes {
			world.clock.Advance(time.Hour)
			now := world.clock.Now()
			change()
			got := numbersSince(t, world, now)
			if !slices.Contains(got, id) || len(numbersSince(t, world, now.Add(time.Microsecond))) > 0 {
				t.Errorf("change %d: %v", n, got)
			}
			if record := world.find(t, id); !record.UpdatedAt.Equal(now) {
				t.Errorf("change %d at %v: %v", n, now, record.UpdatedAt)
			}
		}
	})
}

func numbersSince(t *testing.T, world *world, since time.Time) []int64 {
	t.Helper()
	list, total, err := world.List(t.Context(), world.actor, Filter{UpdatedSince: since.UnixMicro()}, firstPage)
	must(t, err)
	if total != int64(len(list)) {
		t.Errorf("%d of %d", len(list), total)
	}
	return numbers(list)
}
