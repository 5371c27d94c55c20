package dashboard

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"carteira/internal/billing"
	"carteira/internal/customer"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/housetest"
	"carteira/internal/platform/input"
	"carteira/internal/platform/money"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/sqldb/sqldbtest"
	"carteira/internal/tally"
	"carteira/internal/worldtest"
)

// world is a company and the rooms that the dashboard looks into.
type world struct {
	*worldtest.World
	*Service
	billing  *billing.Service
	renewals []renewal
}

// renewal is one that business brought about; invoiceID is 0 where no payment did.
type renewal struct {
	customerID, invoiceID int64
	on                    civil.Date
}

func newWorld(t *testing.T, engine sqldb.Engine) *world {
	t.Helper()
	base := worldtest.New(t, engine)
	w := &world{World: base, Service: New(base.DB), billing: billing.New(base.DB, base.Events, base.Customers)}
	w.plans(t)
	return w
}

// plans has the company sell one plan by the month and one by the week.
func (w *world) plans(t *testing.T) {
	t.Helper()
	w.Plan(t, "1month", "35.10")
	w.Plan(t, "1week", "35.10")
}

// another is a second company in the same world.
func (w *world) another(t *testing.T, timezone string) *world {
	t.Helper()
	other := *w
	other.World = w.For(w.Company(t, "timezone", timezone))
	other.plans(t)
	return &other
}

func (w *world) month(t *testing.T, first string) Month {
	t.Helper()
	m, err := w.Month(t.Context(), w.Actor, civil.MustParse(first))
	housetest.Must(t, err)
	return m
}

// received notes a payment of a customer of its own.
func (w *world) received(t *testing.T, amount, on string) {
	t.Helper()
	c, err := w.Customers.Create(t.Context(), w.Actor, customer.ReadNew(housetest.Form("name", "Ana")))
	housetest.Must(t, err)
	i, err := w.billing.CreateExtra(t.Context(), w.Actor, c.ID, billing.ReadExtra(housetest.Form("amount", amount)))
	housetest.Must(t, err)
	_, err = w.billing.SetStatus(t.Context(), w.Actor, i.ID, billing.ReadStatusChange(housetest.Form("status", "Pago", "paid_at", on)))
	housetest.Must(t, err)
}

// Three months of business, and then every number of five months is computed
// once more from what the lists show.
func TestEveryNumberIsWhatTheListsAddUpTo(t *testing.T) {
	if sqldbtest.Raced {
		t.Skip("one goroutine, and many days")
	}
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		w := newWorld(t, engine)
		other := w.another(t, "Pacific/Auckland")
		random := rand.New(rand.NewPCG(8, 9))
		for range 100 {
			for _, p := range []*world{w, other} {
				p.business(t, random)
			}
			w.Clock.Advance(22 * time.Hour)
			if random.IntN(9) == 0 {
				housetest.Must(t, tally.Compact(t.Context(), w.DB))
			}
		}
		for _, p := range []*world{w, other} {
			_, err := p.Customers.Create(t.Context(), p.Actor, customer.ReadNew(housetest.Form("name", "Ana", "data_de_vencimento", p.Actor.Today(w.Clock.Now()).String())))
			housetest.Must(t, err)
			for _, month := range []string{"2025-12-01", "2026-01-01", "2026-02-01", "2026-03-01", "2026-04-01", "2026-05-01", "2026-06-01"} {
				got, want := p.month(t, month), p.addUp(t, civil.MustParse(month))
				if !reflect.DeepEqual(got, want) {
					t.Errorf("got  %s\nwant %s", jsonOf(t, got), jsonOf(t, want))
				}
			}
			now, err := p.Month(t.Context(), p.Actor, civil.Date{})
			if today := p.Actor.Today(w.Clock.Now()); err != nil || now.Month != today.String()[:7] || !reflect.DeepEqual(now, p.month(t, now.Month+"-01")) {
				t.Errorf("the present month is %s on %v, %v", now.Month, today, err)
			}
		}
		february := w.month(t, "2026-02-01") // no number of it is there by chance
		for _, n := range []int64{
			february.Customers.New, february.Customers.Renewed, february.Customers.Lost, february.Invoices.Overdue.Count,
			february.Invoices.Paid.Count, february.Invoices.Cancelled.Count, int64(february.Revenue.PreviousMonth),
			w.month(t, "2026-05-01").Invoices.Open.Count, february.Customers.DueToday, february.Customers.Active, february.Customers.Expired,
		} {
			if n == 0 {
				t.Errorf("a number is not put to the test: %s", jsonOf(t, february))
			}
		}
	})
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	housetest.Must(t, err)
	return string(b)
}

// business is what happens in half a day.
func (w *world) business(t *testing.T, random *rand.Rand) {
	t.Helper()
	ctx, today := t.Context(), w.Actor.Today(w.Clock.Now())
	people := w.everybody(t)
	if len(people) < 40 && random.IntN(3) > 0 {
		_, err := w.Customers.Create(ctx, w.Actor, customer.ReadNew(housetest.Form("name", "Ana",
			"plan_id", fmt.Sprint(w.plan(random)), "data_de_vencimento", today.AddDays(random.IntN(30)-3).String())))
		housetest.Must(t, err)
	}
	if all := w.everything(t); len(all) > 0 {
		i := all[random.IntN(len(all))]
		out, err := w.billing.SetStatus(ctx, w.Actor, i.ID, billing.ReadStatusChange(housetest.Form(
			"status", []string{"Pago", "Pago", "Pago", "Em aberto", "Cancelado"}[random.IntN(5)],
			"paid_at", today.AddDays(-random.IntN(4)*random.IntN(15)).String())))
		if fault.KindOf(err) != fault.KindInvalid {
			housetest.Must(t, err)
		}
		if out.Renewed {
			w.renewals = append(w.renewals, renewal{i.Customer.ID, i.ID, out.PaidOn})
		}
		if out.MovedBack {
			w.renewals = slices.DeleteFunc(w.renewals, func(r renewal) bool { return r.invoiceID == i.ID })
		}
	}
	if len(people) > 0 {
		c := people[random.IntN(len(people))]
		switch random.IntN(12) {
		case 0:
			housetest.Must(t, w.Customers.Delete(ctx, w.Actor, c.ID))
		case 1, 2:
			_, err := w.Customers.Renew(ctx, w.Actor, c.ID)
			housetest.Must(t, err)
			w.renewals = append(w.renewals, renewal{customerID: c.ID, on: today})
		case 3:
			_, err := w.billing.CreateExtra(ctx, w.Actor, c.ID, billing.ReadExtra(housetest.Form("amount", money.Cents(1+random.Int64N(int64(money.Max))).String())))
			housetest.Must(t, err)
		case 4:
			_, err := w.Customers.Update(ctx, w.Actor, c.ID, customer.ReadChanges(housetest.Form("data_de_vencimento", "")))
			housetest.Must(t, err)
		}
	}
	_, err := w.Customers.Expire(ctx, w.Actor)
	housetest.Must(t, err)
	_, err = w.billing.Issue(ctx, w.Actor)
	housetest.Must(t, err)
}

func (w *world) plan(random *rand.Rand) int64 { return 2*w.Actor.Company.ID - random.Int64N(2) }

// everybody and everything are the lists from their first page to their last.
func (w *world) everybody(t *testing.T) []customer.Customer {
	t.Helper()
	return pages(t, func(p input.Page) ([]customer.Customer, int64, error) {
		return w.Customers.List(t.Context(), w.Actor, customer.Filter{}, p)
	})
}

func (w *world) everything(t *testing.T) []billing.Invoice {
	t.Helper()
	return pages(t, func(p input.Page) ([]billing.Invoice, int64, error) {
		return w.billing.List(t.Context(), w.Actor, billing.Filter{}, p)
	})
}

func pages[T any](t *testing.T, list func(input.Page) ([]T, int64, error)) (all []T) {
	t.Helper()
	for p := (input.Page{Number: 1, Size: 200}); ; p.Number++ {
		some, total, err := list(p)
		housetest.Must(t, err)
		if all = append(all, some...); p.Number >= p.Last(total) {
			return all
		}
	}
}

// addUp computes a month from the lists, and who was renewed from what was done.
func (w *world) addUp(t *testing.T, first civil.Date) Month {
	t.Helper()
	m := Month{Month: first.String()[:7]}
	in := func(d civil.Date) bool { return !d.IsZero() && d.String()[:7] == m.Month }
	today := w.Actor.Today(w.Clock.Now())
	for _, c := range w.everybody(t) {
		m.Customers.Total++
		switch c.Status(today) {
		case customer.Active:
			m.Customers.Active++
		case customer.DueToday:
			m.Customers.DueToday++
		case customer.Expired:
			m.Customers.Expired++
			if in(c.DueOn) {
				m.Customers.Lost++
			}
		case customer.Cancelled: // none in this test
		}
		if in(w.Actor.Today(c.CreatedAt)) {
			m.Customers.New++
		}
	}
	m.Customers.Renewed = int64(len(w.renewed(in)))
	before := first.AddDays(-1).String()[:7]
	byDay := map[civil.Date]Day{}
	for _, i := range w.everything(t) {
		switch {
		case i.Status == billing.Paid:
			if in(i.PaidOn) {
				m.Invoices.Paid.add(i)
			}
		case !in(i.DueOn):
		case i.Status == billing.Cancelled:
			m.Invoices.Cancelled.add(i)
		case i.Overdue(today):
			m.Invoices.Overdue.add(i)
		default:
			m.Invoices.Open.add(i)
		}
	}
	for _, came := range w.money(t) {
		if in(came.Date) {
			m.Revenue.Received += came.Amount
			d := byDay[came.Date]
			byDay[came.Date] = Day{came.Date, d.Amount + came.Amount, d.Count + 1}
		}
		if came.Date.String()[:7] == before {
			m.Revenue.PreviousMonth += came.Amount
		}
	}
	for d := first; in(d); d = d.AddDays(1) {
		m.Revenue.ByDay = append(m.Revenue.ByDay, Day{d, byDay[d].Amount, byDay[d].Count})
	}
	m.Revenue.Expected = m.Revenue.Received + m.Invoices.Open.Amount + m.Invoices.Overdue.Amount
	m.Revenue.ChangePercent = percent(m.Revenue.Received, m.Revenue.PreviousMonth)
	return m
}

// money is every payment that counts, also those of customers who were deleted
// since: what a month received stays.
func (w *world) money(t *testing.T) []Day {
	t.Helper()
	list, err := sqldb.All(t.Context(), w.DB, func(r sqldb.Row) (d Day, err error) {
		err = r.Scan(&d.Date, (*int64)(&d.Amount))
		return d, err
	}, `SELECT paid_on, amount_cents FROM payments WHERE company_id = ? AND status = 'applied'`, w.Actor.Company.ID)
	housetest.Must(t, err)
	return list
}

func (s *Sum) add(i billing.Invoice) {
	s.Count++
	s.Amount += i.Amount
}

// percent is the change in tenths of a percent, rounded in whole numbers.
func percent(now, before money.Cents) *float64 {
	if before == 0 {
		return nil
	}
	tenths := ((now-before)*2000 + before) / (2 * before)
	if now < before {
		tenths = -(((before-now)*2000 + before) / (2 * before))
	}
	p := float64(tenths) / 10
	return &p
}

// renewed are the customers that were renewed in a month, deleted ones too.
func (w *world) renewed(in func(civil.Date) bool) map[int64]bool {
	found := map[int64]bool{}
	for _, r := range w.renewals {
		if in(r.on) {
			found[r.customerID] = true
		}
	}
	return found
}

func TestChangeIsAgainstTheMonthBefore(t *testing.T) {
	for _, c := range []struct {
		before, now string // "": nothing
		want        string
	}{
		{"", "", "null"},
		{"", "10.00", "null"},
		{"10.00", "", "-100"},
		{"10.00", "10.00", "0"},
		{"10.00", "15.00", "50"},
		{"30.00", "10.00", "-66.7"},
		{"3.00", "4.00", "33.3"},
		{"8.00", "8.01", "0.1"},
		{"0.01", "99999999.99", "999999999800"},
	} {
		w := newWorld(t, sqldb.SQLite)
		if c.before != "" {
			w.received(t, c.before, "2025-12-31")
		}
		if c.now != "" {
			w.received(t, c.now, "2026-01-01")
		}
		w.received(t, "7.00", "2025-11-30") // long ago
		m := w.month(t, "2026-01-01")
		if got := jsonOf(t, m.Revenue.ChangePercent); got != c.want {
			t.Errorf("%q after %q: %s percent, want %s", c.now, c.before, got, c.want)
		}
	}
}

func TestCompanyWithoutBusinessHasZerosForEveryDay(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		w := newWorld(t, engine)
		for first, days := range map[string]int{
			"2026-01-01": 31, "2026-02-01": 28, "2028-02-01": 29, "2026-04-01": 30, "1900-01-01": 31, "9999-12-01": 31,
		} {
			m := w.month(t, first)
			if len(m.Revenue.ByDay) != days {
				t.Errorf("%s has %d days, want %d", first, len(m.Revenue.ByDay), days)
			}
			for i, d := range m.Revenue.ByDay {
				if d != (Day{Date: civil.MustParse(first).AddDays(i)}) {
					t.Errorf("%s: %+v on day %d", first, d, i+1)
				}
			}
			m.Revenue.ByDay = nil
			if want := (Month{Month: first[:7]}); !reflect.DeepEqual(m, want) {
				t.Errorf("%s: %s, want zeros", first, jsonOf(t, m))
			}
		}
	})
}

func TestMonthIsReadFromAQuery(t *testing.T) {
	for query, want := range map[string]string{"": "", " ": "", "2026-01": "2026-01-01", " 2026-12 ": "2026-12-01", "9999-12": "9999-12-01"} {
		q := housetest.Form("month", query)
		if got := ReadMonth(q); got.String() != want || q.Err() != nil {
			t.Errorf("%q: %v, %v; want %s", query, got, q.Err(), want)
		}
	}
	for _, wrong := range []string{"2026-13", "2026-00", "2026-1", "2026", "01/2026", "2026-01-01", "1899-12", "10000-01", "January", "2026-01-01-01"} {
		q := housetest.Form("month", wrong)
		ReadMonth(q)
		if field, _ := fault.FieldsOf(q.Err()).First(); field != "month" {
			t.Errorf("%q: %v, want it refused", wrong, q.Err())
		}
	}
}
