package customer

import (
	"cmp"
	"fmt"
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

// sortWorld has customers with names that differ in case and accents, some
// without a date, some with equal names or dates, changed in another order
// than created.
func sortWorld(t *testing.T, engine sqldb.Engine) *world {
	t.Helper()
	world := newWorld(t, engine)
	names := []string{"Zé", "álvaro", "Ana", "ana b", "ANA", "Ana-Bela", "Bruno", "Ágata", "bruna", "Ana"}
	dues := []string{"2026-01-20", "", "2026-02-03", "2026-01-05", "", "2026-01-05", "2026-03-01", "2026-01-31", "", "2026-02-03"}
	for n, name := range names {
		body := `{"name":"` + name + `"}`
		if dues[n] != "" {
			body = `{"name":"` + name + `","data_de_vencimento":"` + dues[n] + `"}`
		}
		world.create(t, body)
		world.clock.Advance(time.Minute)
	}
	for _, id := range []int64{3, 9, 1} {
		_, err := world.Update(t.Context(), world.actor, id, ReadChanges(values("notes", "x")))
		must(t, err)
		world.clock.Advance(time.Minute)
	}
	return world
}

// inOrder sorts as the contract has it, and shares no code with the list.
func inOrder(list []Customer, sort input.Sort) []int64 {
	fold := strings.NewReplacer("á", "a", "é", "e", "ã", "a", "â", "a")
	key := func(record Customer) string {
		switch strings.TrimPrefix(string(sort), "-") {
		case "name":
			return fold.Replace(strings.ToLower(record.Name))
		case "due_date":
			return record.DueOn.String()
		case "updated_at":
			return record.UpdatedAt.UTC().Format("2006-01-02T15:04:05.000000")
		}
		return ""
	}
	keys := map[int64]string{}
	for _, record := range list {
		keys[record.ID] = key(record)
	}
	slices.SortFunc(list, func(a, b Customer) int {
		if last := keys[a.ID] == "" || keys[b.ID] == ""; last && keys[a.ID] != keys[b.ID] {
			return -cmp.Compare(keys[a.ID], keys[b.ID])
		}
		order := cmp.Or(cmp.Compare(keys[a.ID], keys[b.ID]), cmp.Compare(a.ID, b.ID))
		if strings.HasPrefix(string(sort), "-") {
			return -order
		}
		return order
	})
	return ids(list)
}

func TestSortedListHasEveryCustomerInOrder(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := sortWorld(t, engine)
		since := noon.Add(8 * time.Minute).UnixMicro()
		for name, filter := range map[string]Filter{
			"all": {}, "expired": {Status: Expired}, "active": {Status: Active}, "searched": {Search: "ana"}, "by letter": {Search: "a"},
			"updated": {UpdatedSince: since}, "updated and searched": {UpdatedSince: since, Search: "ana"},
		} {
			all, total, err := world.List(t.Context(), world.actor, filter, input.Page{Number: 1, Size: 50})
			must(t, err)
			for _, sort := range everySort {
				want := inOrder(all, sort)
				for _, size := range []int64{1, 3, 50} {
					var got []int64
					for number := int64(1); number <= (total+size-1)/size; number++ {
						list, count, err := world.Sorted(t.Context(), world.actor, Query{filter, sort}, input.Page{Number: number, Size: size})
						if err != nil || count != total {
							t.Fatalf("%s by %s: %d of %d, %v", name, sort, count, total, err)
						}
						got = append(got, ids(list)...)
					}
					if len(want) < 2 || !slices.Equal(got, want) {
						t.Errorf("%s by %s, %d a page: %v, want %v", name, sort, size, got, want)
					}
				}
			}
		}
	})
}

func TestUpdatedSinceHasEveryChange(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newWorld(t, engine)
		world.offers(t, world.actor, "1month")
		id := world.create(t, `{"name":"Ana","plan_id":1,"data_de_vencimento":"2026-02-10"}`).ID
		changes := []func(){
			func() { world.renew(t, id) },
			func() { world.update(t, id, `{"notes":"x"}`) },
			func() { world.update(t, id, `{"plan_id":null}`) },
			func() { world.update(t, id, `{"cancelled":true}`) },
		}
		for n, change := range changes {
			world.clock.Advance(time.Hour)
			now := world.db.Now()
			change()
			for since, want := range map[int64]int64{now.UnixMicro(): 1, now.UnixMicro() + 1: 0} {
				filter := Filter{UpdatedSince: since}
				if list, total, err := world.List(t.Context(), world.actor, filter, input.Page{Number: 1, Size: 5}); err != nil || total != want ||
					int64(len(list)) != want {
					t.Errorf("change %d: %d of %d since %d, %v", n, len(list), total, since, err)
				}
			}
		}
	})
}

func TestUpdatedSinceReadsADateInTheZone(t *testing.T) {
	zone := time.FixedZone("", -3*60*60)
	for asked, want := range map[string]string{
		"2026-01-31": "2026-01-31T03:00:00Z", "2026-01-31T10:00:00-03:00": "2026-01-31T13:00:00Z", "": "",
	} {
		form := input.FromStrings(map[string]string{"updated_since": asked})
		got := ReadQuery(form, zone).Filter.UpdatedSince
		if form.Err() != nil || fmt.Sprint(got) != wantMicro(want) {
			t.Errorf("%q: %d, %v", asked, got, form.Err())
		}
	}
}

func wantMicro(text string) string {
	if text == "" {
		return "0"
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprint(at.UnixMicro())
}
