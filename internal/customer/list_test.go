package customer

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"carteira/internal/account"
	"carteira/internal/figures"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/input"
	"carteira/internal/platform/money"
	"carteira/internal/platform/sqldb"
	"carteira/internal/tally"
	"carteira/test/kit/sqldbtest"
)

// many is enough for pages of every filter, and for more of one than are added up at every look (smallSum).
const many = 3_000

func TestEveryPageOfEveryFilterIsWhatItShouldBe(t *testing.T) {
	if sqldbtest.Raced {
		t.Skip("one goroutine, and many rows")
	}
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newWorld(t, engine)
		other := world.newCompany(t)
		today := world.actor.Today(noon)
		for _, actor := range []account.Actor{world.actor, other} {
			world.offers(t, actor, "1month", "1week", "1year")
		}
		random := rand.New(rand.NewPCG(3, 4))
		const piece = many / 5
		for range many / piece { // so that the companies' ids alternate
			world.populate(t, world.actor, crowd(random, piece, 0, today))
			world.populate(t, other, crowd(random, piece/10, 3, today))
			world.clock.Advance(time.Minute) // so that not all changed at once
		}
		must(t, tally.Compact(t.Context(), world.db))
		for i, customer := range world.model(t, world.actor) { // gaps, and counts that are not folded yet
			if i%301 == 0 {
				must(t, world.Delete(t.Context(), world.actor, customer.ID))
			}
		}
		world.create(t, `{"name":"Zoé","plan_id":1,"external_id":"zoe"}`)

		model := world.model(t, world.actor)
		for _, filter := range []Filter{
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
			{DueFrom: today.AddDays(2), Status: Expired}, // no one
			{DueTo: today.AddDays(30), Status: Active},
			{DueFrom: today.AddDays(-1), DueTo: today, Status: DueToday, PlanID: 3},
			{PlanID: 4}, // the other company's
			{ExternalID: "zoe"},
			{ExternalID: "nobody"},
			{Search: "ana"},
			{Search: "zoe"},
			{Search: "an", Status: Expired},
			{Search: "9876", PlanID: 1, DueFrom: today},
			{UpdatedSince: noon.Add(time.Minute).UnixMicro()}, // many
			{UpdatedSince: noon.Add(4 * time.Minute).UnixMicro()},
			{UpdatedSince: noon.Add(3 * time.Minute).UnixMicro(), Status: Active},
			{UpdatedSince: noon.Add(3 * time.Minute).UnixMicro(), Search: "ana"},
			{UpdatedSince: noon.Add(time.Hour).UnixMicro()}, // no one
		} {
			world.wantPages(t, filter, model.match(filter, today))
		}
		// A year later most are expired.
		world.clock.Advance(350 * 24 * time.Hour)
		today = world.actor.Today(world.db.Now())
		expired := model.match(Filter{Status: Expired}, today)
		world.wantPages(t, Filter{Status: Expired}, expired)
	})
}

// wantPages goes through all pages, at two sizes, and past the last.
func (w *world) wantPages(t *testing.T, filter Filter, model model) {
	t.Helper()
	large := input.Page{Size: 200}
	for large.Number = 1; large.Number <= large.Last(int64(len(model)))+1; large.Number++ {
		w.wantPage(t, w.actor, model, filter, large)
	}
	small := input.Page{Size: 7}
	last := small.Last(int64(len(model)))
	for _, small.Number = range []int64{1, 2, last/2 + 1, last/2 + 2, 2*last/3 + 1, last - 1, last, last + 1, last + 1000, 1 << 40} {
		if small.Number > 0 {
			w.wantPage(t, w.actor, model, filter, small)
		}
	}
	w.wantSorted(t, filter, model, sortsFor(filter, len(model)))
	w.wantAmount(t, filter, model)
	if t.Failed() {
		t.Fatalf("%+v differs from the model", filter)
	}
}

// wantAmount compares what the matches pay with the model's sum. It is known if
// there are few matches, or if the counter has the sum.
func (w *world) wantAmount(t *testing.T, filter Filter, model model) {
	t.Helper()
	var want money.Cents
	for _, customer := range model {
		if customer.Plan.ID != 0 {
			want += figures.Monthly(customer.Price(), customer.period)
		}
	}
	got, known, err := w.Amount(t.Context(), w.actor, filter, int64(len(model)))
	if must := int64(len(model)) <= smallSum || filter.tallied(); err != nil || known != must || known && got != want {
		t.Errorf("%+v: they pay %s (known: %t, %v), want %s", filter, got, known, err, want)
	}
}

// wantSorted compares pages of the list in every order with the model's: the
// first, some in the middle and where those without a date begin, the last.
func (w *world) wantSorted(t *testing.T, filter Filter, list model, sorts []input.Sort) {
	t.Helper()
	page := input.Page{Size: 40}
	last := page.Last(int64(len(list)))
	for _, sort := range sorts {
		want := inOrder(slices.Clone(list), sort)
		for _, page.Number = range slices.Compact([]int64{1, last/2 + 1, 9*last/10 + 1, last}) {
			from := min(page.Offset(), int64(len(want)))
			got, total, err := w.Sorted(t.Context(), w.actor, Query{filter, sort}, page)
			if err != nil || total != int64(len(want)) || !slices.Equal(ids(got), want[from:min(from+page.Size, total)]) {
				t.Errorf("%+v by %s, page %d: %d, %v\ngot  %v", filter, sort, page.Number, total, err, ids(got))
			}
		}
	}
}

// crowd makes customers of plans from firstPlan+1 on, most of them due within
// a year of today.
func crowd(random *rand.Rand, n int, firstPlan int64, today civil.Date) []Customer {
	names := []string{"Ana", "João", "Álvaro", "Mariana", "José Ângelo", "Bia", "Zé"}
	list := make([]Customer, n)
	for i := range list {
		customer := &list[i]
		customer.Name = fmt.Sprintf("%s %d", names[random.IntN(len(names))], random.IntN(1000))
		customer.Whatsapp = fmt.Sprintf("55119%08d", random.IntN(1e8))
		if random.IntN(10) > 0 {
			customer.DueOn = today.AddDays(random.IntN(700) - 350)
			customer.OwnDay = customer.DueOn.Day()
		}
		if plan := random.Int64N(4); plan > 0 {
			customer.Plan.ID = firstPlan + plan
		}
		if random.IntN(3) == 0 {
			customer.Product.ID = firstPlan/3 + 1
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
		world := newWorld(t, engine)
		other := world.newCompany(t)
		mine := world.create(t, `{"name":"Ana","external_id":"7"}`)
		_, err := world.Create(t.Context(), other, ReadNew(form(t, `{"name":"Ana","external_id":"7"}`)))
		must(t, err)
		for _, filter := range []Filter{{}, {Search: "ana"}, {ExternalID: "7"}, {Status: Active}} {
			list, total, err := world.List(t.Context(), world.actor, filter, firstPage)
			if err != nil || total != 1 || !slices.Equal(ids(list), []int64{mine.ID}) {
				t.Errorf("%+v: %v of %d, %v; want %d", filter, ids(list), total, err, mine.ID)
			}
		}
	})
}

// Before, all customers that had changed were sorted for a page of the newest of them.
func TestPageOfThoseThatChangedSortsNothing(t *testing.T) {
	if sqldbtest.Raced {
		t.Skip("one goroutine, and many rows")
	}
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newWorld(t, engine)
		world.offers(t, world.actor, "1month", "1week", "1year")
		world.populate(t, world.actor, crowd(rand.New(rand.NewPCG(5, 6)), 4000, 0, world.actor.Today(noon)))
		for _, statistics := range []string{`SELECT 1`, `ANALYZE`} { // without any, and with true ones
			must(t, world.db.Write(t.Context(), func(tx *sqldb.Tx) error {
				_, err := tx.Exec(t.Context(), statistics)
				return err
			}))
			from := `customer_staging s CROSS JOIN customers c WHERE s.id = 1 AND s.hidden_to < s.hidden_from`
			if engine == sqldb.Postgres {
				from = `customers c WHERE TRUE`
			}
			if engine == sqldb.Postgres && statistics != `ANALYZE` { // it analyzes by itself, sooner or later
				continue
			}
			plan := sqldbtest.Explain(t, world.db, `SELECT c.id AS id FROM `+from+` AND c.company_id = ? AND c.updated_at >= ?
				ORDER BY c.id DESC LIMIT ? OFFSET ?`, world.actor.Company.ID, 1, 50, 0)
			if strings.Contains(plan, "ORDER BY") || strings.Contains(plan, "Sort") {
				t.Errorf("after %s:\n%s", statistics, plan)
			}
		}
	})
}
