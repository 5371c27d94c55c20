package dashboard

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"carteira/internal/billing"
	"carteira/internal/customer"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/sqldb"
	"carteira/test/kit/housetest"
	"carteira/test/kit/sqldbtest"
	"carteira/test/kit/worldtest"
)

// world is a company and the rooms that the dashboard looks into.
type world struct {
	*worldtest.World
	*Service
	billing *billing.Service
	model
}

func newWorld(t *testing.T, engine sqldb.Engine) *world {
	t.Helper()
	base := worldtest.New(t, engine)
	w := &world{World: base, Service: New(base.DB), billing: billing.New(base.DB, base.Events, base.Customers)}
	w.Catalog.WatchPlans(w.Customers.PlansChanged)
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
	other.model = model{}
	other.World = w.For(w.Company(t, "timezone", timezone))
	other.plans(t)
	return &other
}

func (w *world) month(t *testing.T, first string) Month {
	t.Helper()
	month, err := w.Month(t.Context(), w.Actor, Question{First: civil.MustParse(first)})
	housetest.Must(t, err)
	return month
}

// received notes a payment of a customer of its own.
func (w *world) received(t *testing.T, amount, on string) {
	t.Helper()
	record, err := w.Customers.Create(t.Context(), w.Actor, customer.ReadNew(housetest.Form("name", "Ana")))
	housetest.Must(t, err)
	invoice, err := w.billing.CreateExtra(t.Context(), w.Actor, record.ID, billing.ReadExtra(housetest.Form("amount", amount)))
	housetest.Must(t, err)
	_, err = w.billing.SetStatus(t.Context(), w.Actor, invoice.ID, billing.ReadStatusChange(housetest.Form("status", "Pago", "paid_at", on)))
	housetest.Must(t, err)
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	housetest.Must(t, err)
	return string(b)
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
		world := newWorld(t, sqldb.SQLite)
		if c.before != "" {
			world.received(t, c.before, "2025-12-31")
		}
		if c.now != "" {
			world.received(t, c.now, "2026-01-01")
		}
		world.received(t, "7.00", "2025-11-30") // long ago
		month := world.month(t, "2026-01-01")
		if got := jsonOf(t, month.Revenue.ChangePercent); got != c.want {
			t.Errorf("%q after %q: %s percent, want %s", c.now, c.before, got, c.want)
		}
	}
}

func TestCompanyWithoutBusinessHasZerosForEveryDay(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newWorld(t, engine)
		for first, days := range map[string]int{
			"2026-01-01": 31, "2026-02-01": 28, "2028-02-01": 29, "2026-04-01": 30, "1900-01-01": 31, "9999-12-01": 31,
		} {
			month := world.month(t, first)
			if len(month.Revenue.ByDay) != days {
				t.Errorf("%s has %d days, want %d", first, len(month.Revenue.ByDay), days)
			}
			for i, day := range month.Revenue.ByDay {
				if day != (Day{Date: civil.MustParse(first).AddDays(i)}) {
					t.Errorf("%s: %+v on day %d", first, day, i+1)
				}
			}
			month.Revenue.ByDay, month.Revenue.PreviousByDay, month.Links, month.Months = nil, nil, nil, nil
			want := Month{Month: first[:7]}
			want.Customers.Renewed, want.Overdue.ByAge = new(int64), month.Overdue.ByAge
			if !reflect.DeepEqual(month, want) {
				t.Errorf("%s: %s, want zeros", first, jsonOf(t, month))
			}
		}
	})
}

func TestMonthIsReadFromAQuery(t *testing.T) {
	for query, want := range map[string]string{"": "", " ": "", "2026-01": "2026-01-01", " 2026-12 ": "2026-12-01", "9999-12": "9999-12-01"} {
		form := housetest.Form("month", query)
		if got := ReadMonth(form); got.String() != want || form.Err() != nil {
			t.Errorf("%q: %v, %v; want %s", query, got, form.Err(), want)
		}
	}
	for _, wrong := range []string{"2026-13", "2026-00", "2026-1", "2026", "01/2026", "2026-01-01", "1899-12", "10000-01", "January", "2026-01-01-01"} {
		query := housetest.Form("month", wrong)
		ReadMonth(query)
		if field, _ := fault.FieldsOf(query.Err()).First(); field != "month" {
			t.Errorf("%q: %v, want it refused", wrong, query.Err())
		}
	}
}

// A due date is over at the end of its day: a customer due on the last of
// January is lost in February; one that expired while no process ran is lost in
// the month in which that happened, not in that in which it was found.
func TestCustomersAreLostInTheMonthInWhichTheyExpire(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newWorld(t, engine)
		for _, dueOn := range []string{"2026-02-15", "2026-02-28", "2026-03-20"} {
			world.Customer(t, "plan_id", "1", "data_de_vencimento", dueOn)
		}
		world.Clock.Advance(65 * 24 * time.Hour) // to April
		_, err := world.Customers.Expire(t.Context(), world.Actor)
		housetest.Must(t, err)
		for month, want := range map[string]Worth{"2026-02-01": {Customers: 1, Amount: 35_10}, "2026-03-01": {Customers: 2, Amount: 70_20}, "2026-04-01": {}} {
			if got := world.month(t, month).Recurring.Lost; got != want {
				t.Errorf("lost in %s: %+v, want %+v", month, got, want)
			}
		}
	})
}
