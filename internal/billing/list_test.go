package billing

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"carteira/internal/account"
	"carteira/internal/customer"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/input"
	"carteira/internal/platform/money"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/text"
	"carteira/internal/tally"
	"carteira/test/kit/sqldbtest"
)

var firstPage = input.Page{Number: 1, Size: 200}

// archive is what lists are held against: a company's invoices, newest first,
// read in the plainest way and filtered in memory.
type archive []Invoice

func (w *world) archive(t *testing.T, actor account.Actor) archive {
	t.Helper()
	list, err := sqldb.All(t.Context(), w.db, scan, `SELECT `+columns+` FROM invoices i`+joins+` WHERE i.company_id = ? ORDER BY i.id DESC`, actor.Company.ID)
	must(t, err)
	return list
}

func (m archive) match(filter Filter, actor account.Actor, now time.Time) archive {
	today := actor.Today(now)
	within := func(date, from, to civil.Date) bool {
		return (from.IsZero() || !date.IsZero() && !date.Before(from)) && (to.IsZero() || !date.IsZero() && !date.After(to))
	}
	return slices.DeleteFunc(slices.Clone(m), func(invoice Invoice) bool {
		ok := (filter.Status == "" || invoice.Status == filter.Status) &&
			(filter.CustomerID == 0 || invoice.Customer.ID == filter.CustomerID) &&
			(filter.PlanID == 0 || invoice.Plan.ID == filter.PlanID) &&
			(filter.ProductID == 0 || invoice.Product.ID == filter.ProductID) &&
			within(invoice.DueOn, filter.DueFrom, filter.DueTo) &&
			within(invoice.PaidOn, filter.PaidFrom, filter.PaidTo) &&
			within(actor.Today(invoice.CreatedAt), filter.CreatedFrom, filter.CreatedTo) &&
			(filter.Overdue == "" || filter.Overdue == fmt.Sprint(invoice.Status == Open && invoice.DueOn.Before(today))) &&
			invoice.UpdatedAt.UnixMicro() >= filter.UpdatedSince &&
			strings.Contains(text.Fold(invoice.Customer.Name), text.Fold(filter.Search))
		return !ok
	})
}

func numbers(list []Invoice) []int64 {
	all := make([]int64, len(list))
	for i := range list {
		all[i] = list[i].ID
	}
	return all
}

// wantPages looks at the beginning, the middle and the end of a list, and past
// its last page.
func (w *world) wantPages(t *testing.T, filter Filter, archive archive) {
	t.Helper()
	page := input.Page{Size: 7}
	last := page.Last(int64(len(archive)))
	for _, page.Number = range slices.Compact([]int64{1, last/2 + 1, last/2 + 2, last, last + 1, 1 << 40}) {
		w.wantPage(t, filter, archive, page)
	}
	w.wantPage(t, filter, archive, firstPage)
	w.wantSorted(t, filter, archive, sortsFor(filter, len(archive)))
	if t.Failed() {
		t.Fatalf("%+v differs from the model", filter)
	}
}

func (w *world) wantPage(t *testing.T, filter Filter, archive archive, page input.Page) {
	t.Helper()
	from := min(page.Offset(), int64(len(archive)))
	want := numbers(archive[from:min(from+page.Size, int64(len(archive)))])
	list, total, err := w.List(t.Context(), w.actor, filter, page)
	if err != nil || total != int64(len(archive)) || !slices.Equal(numbers(list), want) {
		t.Errorf("%+v, page %+v: %d of %d, %v; want %d of %d\ngot  %v\nwant %v", filter, page, len(list), total, err, len(want), len(archive), numbers(list), want)
	}
}

// many is enough for pages from both ends, in the middle, and for each filter.
const many = 1000

func TestEveryPageOfEveryFilterIsWhatItShouldBe(t *testing.T) {
	if sqldbtest.Raced {
		t.Skip("one goroutine, and many rows")
	}
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		w := newWorld(t, engine)
		other := w.process(t)
		other.actor = w.newCompany(t, "Pacific/Auckland")
		random := rand.New(rand.NewPCG(5, 6))
		for _, p := range []*world{w, other} {
			p.people(t)
		}
		for range 4 { // so that the companies' ids alternate
			w.populate(t, random, many/4)
			other.populate(t, random, 50)
		}
		must(t, tally.Compact(t.Context(), w.db))
		w.set(t, w.archive(t, w.actor).match(Filter{Status: Open}, w.actor, noon)[40].ID, Paid) // a count that is not folded
		must(t, w.customers.Delete(t.Context(), w.actor, 3))                                    // and a gap

		for _, p := range []*world{w, other} {
			archive := p.archive(t, p.actor)
			for page := firstPage; page.Number <= page.Last(int64(len(archive))); page.Number++ {
				p.wantPage(t, Filter{}, archive, page)
			}
			p.wantPages(t, Filter{}, archive)
			for _, filter := range p.filters(random) {
				p.wantPages(t, filter, archive.match(filter, p.actor, noon))
			}
		}
	})
}

// people makes 30 customers, three plans and their products.
func (w *world) people(t *testing.T) {
	t.Helper()
	for _, period := range []string{"1month", "1week", "1year"} {
		w.plan(t, period, "0.00") // so that no customer is billed automatically
	}
	for n := range 30 {
		_, err := w.customers.Create(t.Context(), w.actor, customer.ReadNew(values("name", fmt.Sprintf("%s %d", []string{"Ana", "João", "Álvaro"}[n%3], n))))
		must(t, err)
	}
}

// populate inserts invoices of all kinds at once, with all that issuing and
// paying leave in the tables.
func (w *world) populate(t *testing.T, random *rand.Rand, count int) {
	t.Helper()
	plans := texts(t, w.db, `SELECT CAST(id AS TEXT) FROM customer_plans WHERE company_id = ? ORDER BY id`, w.actor.Company.ID)
	people := texts(t, w.db, `SELECT CAST(id AS TEXT) FROM customers WHERE company_id = ? ORDER BY id`, w.actor.Company.ID)
	today := w.actor.Today(noon)
	var before int64
	if all := w.archive(t, w.actor); len(all) > 0 {
		before = all[0].ID
	}
	must(t, w.db.Write(t.Context(), func(tx *sqldb.Tx) error {
		for size := range slices.Chunk(make([]struct{}, count), 100) {
			var values []any
			for range size {
				status := pick(random, []Status{Open, Paid, Paid, Cancelled})
				plan := any(pick(random, plans))
				if random.IntN(5) == 0 {
					plan = nil
				}
				var paidAt, paidOn any
				via := ""
				if status == Paid {
					paidOn, paidAt, via = today.AddDays(-random.IntN(200)), noon.UnixMicro(), Manual
				}
				created := noon.Add(-time.Duration(random.IntN(200*24)) * time.Hour)
				values = append(values, w.actor.Company.ID, pick(random, people), false, string(status), 1+random.Int64N(int64(money.Max)), "x",
					today.AddDays(random.IntN(300)-200), plan, plan, paidAt, paidOn, via, "", 0, created.UnixMicro(), w.actor.Today(created), created.UnixMicro())
			}
			_, err := tx.Exec(t.Context(), `
				INSERT INTO invoices (company_id, customer_id, generated, status, amount_cents, description, due_on, plan_id, product_id,
					paid_at, paid_on, paid_via, note, renewed_day, created_at, created_on, updated_at)
				VALUES `+sqldb.Tuples(len(size), 17), values...)
			if err != nil {
				return err
			}
		}
		return nil
	}))
	var changes []tally.Change
	for _, invoice := range w.archive(t, w.actor).since(before) {
		changes = append(changes, counted(invoice, 1))
	}
	must(t, w.db.Write(t.Context(), func(tx *sqldb.Tx) error {
		return counter.Add(t.Context(), tx, w.actor.Company.ID, changes...)
	}))
	if w.db.Engine() == sqldb.Postgres { // as autovacuum does, which the servers of tests lack
		must(t, w.db.Write(t.Context(), func(tx *sqldb.Tx) error {
			_, err := tx.Exec(t.Context(), `ANALYZE`)
			return err
		}))
	}
}

func (m archive) since(id int64) archive {
	n := slices.IndexFunc(m, func(invoice Invoice) bool { return invoice.ID <= id })
	if n < 0 {
		return m
	}
	return m[:n]
}

// filters are each kind alone, and kinds together at random.
func (w *world) filters(random *rand.Rand) []Filter {
	today := w.actor.Today(noon)
	first := int64(1)
	if w.actor.Company.ID > 1 {
		first = 4
	}
	kinds := []func(filter *Filter){
		func(filter *Filter) { filter.Status = pick(random, []Status{Open, Paid, Cancelled}) },
		func(filter *Filter) { filter.CustomerID = 10 + random.Int64N(40) }, // perhaps the other company's
		func(filter *Filter) { filter.PlanID = first + random.Int64N(3) },
		func(filter *Filter) { filter.ProductID = first + random.Int64N(3) },
		func(filter *Filter) { filter.DueFrom = today.AddDays(-random.IntN(220)) },
		func(filter *Filter) { filter.DueTo = today.AddDays(random.IntN(220) - 110) },
		func(filter *Filter) { filter.DueFrom, filter.DueTo = today, today },
		func(filter *Filter) { filter.PaidFrom = today.AddDays(-random.IntN(220)) },
		func(filter *Filter) { filter.UpdatedSince = noon.AddDate(0, 0, -random.IntN(220)).UnixMicro() },
		func(filter *Filter) { filter.PaidTo = today.AddDays(-random.IntN(220)) },
		func(filter *Filter) { filter.CreatedFrom = today.AddDays(-random.IntN(220)) },
		func(filter *Filter) { filter.CreatedTo = today.AddDays(-random.IntN(220)) },
		func(filter *Filter) { filter.Overdue = "true" },
		func(filter *Filter) { filter.Overdue = "false" },
		func(filter *Filter) { filter.Search = pick(random, []string{"joao", "ANA 1", "9", "álv", "nobody"}) },
	}
	var all []Filter
	for _, kind := range kinds {
		var filter Filter
		kind(&filter)
		all = append(all, filter)
	}
	for range 20 {
		var filter Filter
		for range 2 + random.IntN(3) {
			pick(random, kinds)(&filter)
		}
		all = append(all, filter)
	}
	return all
}

// The count of a search is kept until something changes: the name of a customer
// is such a thing, though no invoice was touched.
func TestSearchFollowsTheCustomersName(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newWorld(t, engine)
		world.plan(t, "1month", "35.00")
		invoice := world.only(t, world.customer(t, 1, "2026-01-31").ID)
		want := func(search string, found int64) {
			t.Helper()
			for range 2 { // counted, and remembered
				list, total, err := world.List(t.Context(), world.actor, Filter{Search: search}, firstPage)
				if err != nil || total != found || int64(len(list)) != found {
					t.Errorf("%q: %d of %d, %v; want %d", search, len(list), total, err, found)
				}
			}
		}
		want("ana", 1)
		want("bia", 0)
		world.update(t, invoice.Customer.ID, "name", "Bia Rocha")
		want("ana", 0)
		want("bia", 1)
		world.update(t, invoice.Customer.ID, "whatsapp", "11 98765-4321", "usuario", "rocha", "email", "r@example.com")
		want("(11) 98765", 1)
		want("r@ex", 1)
		must(t, tally.Compact(t.Context(), world.db))
		want("rocha", 1)
		must(t, world.customers.Delete(t.Context(), world.actor, invoice.Customer.ID))
		want("rocha", 0)
	})
}

func TestListsFollowEveryChange(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newWorld(t, engine)
		world.plan(t, "1month", "35.00")
		id := world.customer(t, 1, "2026-01-31").ID
		invoice := world.only(t, id)
		january := Filter{PaidFrom: day("2026-01-01"), PaidTo: day("2026-01-31")}
		want := func(filter Filter, found int64) {
			t.Helper()
			if _, total, err := world.List(t.Context(), world.actor, filter, firstPage); err != nil || total != found {
				t.Errorf("%+v: %d, %v; want %d", filter, total, err, found)
			}
		}
		want(january, 0)
		want(Filter{Overdue: "true"}, 0)
		world.clock.Advance(15 * time.Hour) // midnight passes in São Paulo
		want(Filter{Overdue: "true"}, 1)
		want(Filter{Overdue: "true", CustomerID: id}, 1)
		world.set(t, invoice.ID, Paid, "paid_at", "2026-01-31")
		want(january, 1)
		want(Filter{Overdue: "true"}, 0)
		want(Filter{Overdue: "true", CustomerID: id}, 0)
		world.set(t, invoice.ID, Open)
		want(january, 0)
	})
}

func TestFilterIsReadFromAQuery(t *testing.T) {
	for query, want := range map[[2]string]Filter{
		{"status", "em aberto"}:        {Status: Open},
		{"status", "EM_ABERTO"}:        {Status: Open},
		{"status", "Pago"}:             {Status: Paid},
		{"status", "cancelado"}:        {Status: Cancelled},
		{"customer_id", "3"}:           {CustomerID: 3},
		{"plan_id", "3"}:               {PlanID: 3},
		{"product_id", "3"}:            {ProductID: 3},
		{"due_from", "2026-01-31"}:     {DueFrom: day("2026-01-31")},
		{"due_to", "2026-01-31"}:       {DueTo: day("2026-01-31")},
		{"paid_from", "2026-01-31"}:    {PaidFrom: day("2026-01-31")},
		{"paid_to", "2026-01-31"}:      {PaidTo: day("2026-01-31")},
		{"created_from", "2026-01-31"}: {CreatedFrom: day("2026-01-31")},
		{"created_to", "2026-01-31"}:   {CreatedTo: day("2026-01-31")},
		{"overdue", "true"}:            {Overdue: "true"},
		{"overdue", "1"}:               {Overdue: "true"},
		{"overdue", "0"}:               {Overdue: "false"},
		{"search", " João "}:           {Search: "João"},
	} {
		form := values(query[0], query[1])
		if got := ReadFilter(form); got != want || form.Err() != nil {
			t.Errorf("%q: %+v, %v; want %+v", query, got, form.Err(), want)
		}
		empty := values(query[0], "")
		if got := ReadFilter(empty); got != (Filter{}) || empty.Err() != nil {
			t.Errorf("an empty %s: %+v, %v", query[0], got, empty.Err())
		}
		wrong := values(query[0], "?\x00")
		ReadFilter(wrong)
		wantField(t, wrong.Err(), query[0])
	}
}

func TestLatestGivesTheNewestOfEachCustomer(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newWorld(t, engine)
		world.plan(t, "1month", "35.00")
		ids := []int64{world.customer(t, 0, "").ID}
		for n := range 4 {
			id := world.customer(t, 1, "2026-01-31").ID
			ids = append(ids, id)
			for range n {
				_, err := world.CreateExtra(t.Context(), world.actor, id, ReadExtra(values()))
				must(t, err)
			}
		}
		all := world.archive(t, world.actor)
		for limit := range int64(6) {
			found, err := world.Latest(t.Context(), world.actor, ids, limit)
			must(t, err)
			for _, id := range ids {
				want := all.match(Filter{CustomerID: id}, world.actor, noon)
				if limit > 0 {
					want = want[:min(limit, int64(len(want)))]
				}
				if !slices.Equal(numbers(found[id]), numbers(want)) {
					t.Errorf("limit %d, customer %d: %v, want %v", limit, id, numbers(found[id]), numbers(want))
				}
			}
		}
		few, err := world.Latest(t.Context(), world.actor, ids[:2], 0)
		if err != nil || len(few) != 1 {
			t.Errorf("of two customers: %v, %v; want the invoices of one", few, err)
		}
		none, err := world.Latest(t.Context(), world.actor, nil, 1)
		if err != nil || len(none) != 0 {
			t.Errorf("of nobody: %v, %v", none, err)
		}
	})
}
