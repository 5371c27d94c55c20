package customer

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"carteira/internal/account"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/sqldb/sqldbtest"
	"carteira/internal/tally"
)

// Enough customers for everything that a list does for large companies: pages
// found through the buckets, and rare dates through the index of dates.
const many = 13_000

func TestEveryPageOfEveryFilterIsWhatItShouldBe(t *testing.T) {
	if sqldbtest.Raced {
		t.Skip("one goroutine, and many rows")
	}
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		w := newWorld(t, engine)
		other := w.newCompany(t)
		today := w.actor.Today(noon)
		for _, a := range []account.Actor{w.actor, other} {
			w.offers(t, a, "1month", "1week", "1year")
		}
		random := rand.New(rand.NewPCG(3, 4))
		const piece = 1000
		for range many / piece { // so that the companies' ids alternate
			w.populate(t, w.actor, crowd(random, piece, 0, today))
			w.populate(t, other, crowd(random, piece/10, 3, today))
		}
		must(t, tally.Compact(t.Context(), w.db))
		for i, c := range w.model(t, w.actor) { // gaps, and counts that are not folded yet
			if i%301 == 0 {
				must(t, w.Delete(t.Context(), w.actor, c.ID))
			}
		}
		w.create(t, `{"name":"Zoé","plan_id":1,"external_id":"zoe"}`)

		m := w.model(t, w.actor)
		if len(m) <= tally.DeepOffset || len(m) <= smallSort || len(m) <= smallSearch {
			t.Fatalf("%d customers are too few for what this test is about", len(m))
		}
		for _, f := range []Filter{
			{},
			{Status: Active},
			{Status: DueToday},
			{Status: Expired},
			{PlanID: 2},
			{ProductID: 1},
			{PlanID: 1, ProductID: 1, Status: Expired},
			{DueFrom: today.AddDays(-3), DueTo: today.AddDays(3)},
			{DueTo: today.AddDays(-300)},
			{DueFrom: today.AddDays(-300)},
			{DueFrom: today.AddDays(2), Status: Expired}, // nobody
			{DueTo: today.AddDays(30), Status: Active},
			{DueFrom: today.AddDays(-1), DueTo: today, Status: DueToday, PlanID: 3},
			{PlanID: 4}, // the other company's
			{ExternalID: "zoe"},
			{ExternalID: "nobody"},
			{Search: "ana"},
			{Search: "zoe"},
			{Search: "an", Status: Expired},
			{Search: "9876", PlanID: 1, DueFrom: today},
		} {
			w.wantPages(t, f, m.match(f, today))
		}
	})
}

// wantPages goes through all pages, at two sizes, and past the last.
func (w *world) wantPages(t *testing.T, f Filter, m model) {
	t.Helper()
	large := input.Page{Size: 200}
	for large.Number = 1; large.Number <= large.Last(int64(len(m)))+1; large.Number++ {
		w.wantPage(t, w.actor, m, f, large)
	}
	small := input.Page{Size: 7}
	last := small.Last(int64(len(m)))
	for _, small.Number = range []int64{1, 2, last/2 + 1, last/2 + 2, 2*last/3 + 1, last - 1, last, last + 1, last + 1000, 1 << 40} {
		if small.Number > 0 {
			w.wantPage(t, w.actor, m, f, small)
		}
	}
	if t.Failed() {
		t.Fatalf("%+v differs from the model", f)
	}
}

// crowd makes customers of plans from firstPlan+1 on, most of them due within
// a year of today.
func crowd(random *rand.Rand, n int, firstPlan int64, today civil.Date) []Customer {
	names := []string{"Ana", "João", "Álvaro", "Mariana", "José Ângelo", "Bia", "Zé"}
	list := make([]Customer, n)
	for i := range list {
		c := &list[i]
		c.Name = fmt.Sprintf("%s %d", names[random.IntN(len(names))], random.IntN(1000))
		c.Whatsapp = fmt.Sprintf("55119%08d", random.IntN(1e8))
		if random.IntN(10) > 0 {
			c.DueOn = today.AddDays(random.IntN(700) - 350)
			c.OwnDay = c.DueOn.Day()
		}
		if plan := random.Int64N(4); plan > 0 {
			c.Plan.ID = firstPlan + plan
		}
		if random.IntN(3) == 0 {
			c.Product.ID = firstPlan/3 + 1
		}
	}
	return list
}

func TestFilterIsReadFromAQuery(t *testing.T) {
	for query, want := range map[[2]string]Filter{
		{"status", "ativo"}:                   {Status: Active},
		{"status", "VENCE HOJE"}:              {Status: DueToday},
		{"status", "vence_hoje"}:              {Status: DueToday},
		{"status", "Vencido"}:                 {Status: Expired},
		{"status", ""}:                        {},
		{"plan_id", "3"}:                      {PlanID: 3},
		{"product_id", " 3 "}:                 {ProductID: 3},
		{"due_from", "2026-01-31"}:            {DueFrom: day("2026-01-31")},
		{"due_to", "2026-01-31"}:              {DueTo: day("2026-01-31")},
		{"external_id", "Crm-1"}:              {ExternalID: "Crm-1"},
		{"search", " João "}:                  {Search: "João"},
		{"colour", "red"}:                     {},
		{"status", "xyz"}:                     {},
		{"plan_id", "0"}:                      {},
		{"product_id", "one"}:                 {},
		{"due_from", "31/12"}:                 {},
		{"due_to", "2026-02-30"}:              {},
		{"search", "a\x00b"}:                  {},
		{"search", "\xff"}:                    {},
		{"external_id", "a\nb"}:               {},
		{"search", string(make([]byte, 256))}: {},
	} {
		q := input.FromQuery(map[string][]string{query[0]: {query[1]}})
		got := ReadFilter(q)
		if got != want {
			t.Errorf("%q: %+v, want %+v", query, got, want)
		}
		refused := want == (Filter{}) && query[1] != "" && query[0] != "colour"
		if refused {
			wantFields(t, q.Err(), query[0])
		} else {
			must(t, q.Err())
		}
	}
}

func TestListShowsOneCompanyOnly(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		w := newWorld(t, engine)
		other := w.newCompany(t)
		mine := w.create(t, `{"name":"Ana","external_id":"7"}`)
		_, err := w.Create(t.Context(), other, ReadNew(form(t, `{"name":"Ana","external_id":"7"}`)))
		must(t, err)
		for _, f := range []Filter{{}, {Search: "ana"}, {ExternalID: "7"}, {Status: Active}} {
			list, total, err := w.List(t.Context(), w.actor, f, firstPage)
			if err != nil || total != 1 || !slices.Equal(ids(list), []int64{mine.ID}) {
				t.Errorf("%+v: %v of %d, %v; want %d", f, ids(list), total, err, mine.ID)
			}
		}
	})
}
