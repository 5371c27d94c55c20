package app

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/catalog"
	"carteira/internal/customer"
	"carteira/internal/customer/intake"
	"carteira/internal/customer/sheet"
	"carteira/internal/event"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/sqldb"
	"carteira/internal/webhook"
	"carteira/test/kit/housetest"
	"carteira/test/kit/sqldbtest"
)

// second is another process on the same database, with the same clock.
func (c calendar) second(t *testing.T) calendar {
	t.Helper()
	world := c.Process(t)
	return calendar{world, &App{
		DB: world.DB, Accounts: world.Accounts, Catalog: world.Catalog, Customers: world.Customers,
		Billing:  billing.New(world.DB, world.Events, world.Customers),
		Webhooks: webhook.New(world.DB, world.Events, nil, nil, nil, webhook.Options{}),
	}}
}

// undone asks every company, as no look does, whether it has work.
func (c calendar) undone(t *testing.T) string {
	t.Helper()
	companies, err := c.Accounts.Companies(t.Context())
	housetest.Must(t, err)
	var list []string
	for _, company := range companies {
		today := civil.Of(c.DB.Now().In(company.Zone))
		lapsed, err := c.app.Customers.WithLapsed(t.Context(), []int64{company.ID}, today)
		housetest.Must(t, err)
		scheduled, err := c.app.Billing.WithScheduled(t.Context(), []int64{company.ID}, today.AddDays(company.Settings.LeadDays))
		housetest.Must(t, err)
		if len(lapsed)+len(scheduled) > 0 {
			list = append(list, fmt.Sprintf("company %d on %s: %d to expire, %d to bill", company.ID, today, len(lapsed), len(scheduled)))
		}
	}
	return strings.Join(list, "; ")
}

// wanderer changes things at random.
type wanderer struct {
	calendar
	random *rand.Rand
	actors []account.Actor
	plans  []catalog.Plan // of each company
	free   []catalog.Plan
	made   []made
}

type made struct {
	company int
	id      int64
}

var wanderZones = []string{
	"America/Sao_Paulo", "America/Rio_Branco", "Pacific/Auckland", "Pacific/Kiritimati", "Pacific/Pago_Pago", "Europe/Lisbon",
}

func (w *wanderer) settle(t *testing.T) {
	t.Helper()
	for _, zone := range wanderZones[:4] {
		world := w.For(w.Company(t, "timezone", zone))
		w.actors = append(w.actors, world.Actor)
		w.plans = append(w.plans, world.Plan(t, "1month", "35.00"))
		w.free = append(w.free, world.Plan(t, "1week", "0.00"))
	}
}

// near is a day around a company's own.
func (w *wanderer) near(company int) string {
	return w.actors[company].Today(w.DB.Now()).AddDays(w.random.IntN(90) - 20).String()
}

// step makes one change, and says which.
func (w *wanderer) step(t *testing.T) string {
	t.Helper()
	company := w.random.IntN(len(w.actors))
	world := w.For(w.actors[company])
	switch what := w.random.IntN(10); {
	case what == 0:
		return w.setCompany(t, company, "timezone", wanderZones[w.random.IntN(len(wanderZones))])
	case what == 1:
		return w.setCompany(t, company, "lead_days", fmt.Sprint(w.random.IntN(61)))
	case what == 2:
		return w.reprice(t, company)
	case what == 3:
		return w.importSome(t, company)
	case what < 6 || len(w.made) == 0:
		plan := []catalog.Plan{w.plans[company], w.free[company]}[w.random.IntN(2)]
		one := world.Customer(t, "data_de_vencimento", w.near(company), "plan_id", fmt.Sprint(plan.ID))
		w.made = append(w.made, made{company, one.ID})
		return fmt.Sprintf("create %d", one.ID)
	case what < 8:
		return w.change(t, "data_de_vencimento")
	case what == 8:
		return w.change(t, "cancelled")
	default:
		one := w.made[w.random.IntN(len(w.made))]
		_, err := w.Customers.Renew(t.Context(), w.actors[one.company], one.id)
		if err != nil && fault.KindOf(err) != fault.KindInvalid && fault.KindOf(err) != fault.KindConflict {
			t.Fatal(err)
		}
		return fmt.Sprintf("renew %d", one.id)
	}
}

func (w *wanderer) setCompany(t *testing.T, company int, name, value string) string {
	t.Helper()
	var err error
	w.actors[company].Company, err = w.Accounts.SetCompany(t.Context(), w.actors[company], account.ReadCompanyDraft(housetest.Form(name, value)))
	housetest.Must(t, err)
	return fmt.Sprintf("company %d %s %s", company+1, name, value)
}

// reprice gives a free plan a price, or takes it away.
func (w *wanderer) reprice(t *testing.T, company int) string {
	t.Helper()
	value := []string{"0.00", "12.00"}[w.random.IntN(2)]
	_, err := w.Catalog.UpdatePlan(t.Context(), w.actors[company], w.free[company].ID, catalog.ReadPlanChanges(housetest.Form("value", value)))
	housetest.Must(t, err)
	housetest.Must(t, w.Customers.ContinueRepricing(t.Context()))
	return "plan of company " + fmt.Sprint(company+1) + " costs " + value
}

func (w *wanderer) importSome(t *testing.T, company int) string {
	t.Helper()
	lines := make([]sheet.Row, 3)
	for i := range lines {
		lines[i] = sheet.Row{Line: i + 2, Values: map[string]string{
			"name": "Bia", "data_de_vencimento": w.near(company), "plan_id": fmt.Sprint(w.plans[company].ID),
		}}
	}
	rows := func() iter.Seq2[sheet.Row, error] {
		return func(yield func(sheet.Row, error) bool) {
			for _, line := range lines {
				if !yield(line, nil) {
					return
				}
			}
		}
	}
	_, err := w.Intake.Import(t.Context(), w.actors[company], rows, intake.ImportOptions{Events: w.random.IntN(2) == 0, KeepGoing: true})
	housetest.Must(t, err)
	return "import"
}

func (w *wanderer) change(t *testing.T, name string) string {
	t.Helper()
	one := w.made[w.random.IntN(len(w.made))]
	value := w.near(one.company)
	if name == "cancelled" {
		value = []string{"true", "false"}[w.random.IntN(2)]
	}
	_, err := w.Customers.Update(t.Context(), w.actors[one.company], one.id, customer.ReadChanges(housetest.Form(name, value)))
	housetest.Must(t, err)
	return fmt.Sprintf("customer %d %s %s", one.id, name, value)
}

// pass lets time pass: seconds, hours, days or weeks, and now and then the clock
// is set back.
func (w *wanderer) pass() string {
	spans := []time.Duration{30 * time.Second, time.Hour, 7 * time.Hour, 24 * time.Hour, 8 * 24 * time.Hour, -2 * time.Hour}
	span := spans[w.random.IntN(len(spans))]
	w.Clock.Advance(span)
	return span.String()
}

// Nothing is left undone that asking every company would find: through changes of
// customers, plans, zones and lead days, and a clock that jumps either way.
func TestDayWorkLeavesNothingThatAskingEveryCompanyWouldFind(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		first := newCalendar(t, engine, time.Date(2026, 1, 20, 12, 0, 0, 0, time.UTC))
		wander := &wanderer{calendar: first, random: rand.New(rand.NewPCG(1, uint64(len(engine))))}
		wander.Catalog.WatchPlans(wander.Customers.PlansChanged)
		wander.settle(t)
		processes := []calendar{first, first.second(t)}
		var steps []string
		for range 300 {
			steps = append(steps, wander.step(t), wander.pass())
			housetest.Must(t, processes[wander.random.IntN(2)].app.DayWork(t.Context()))
			if left := wander.undone(t); left != "" {
				t.Fatalf("left undone: %s\nafter %s", left, strings.Join(steps[max(0, len(steps)-12):], ", "))
			}
		}
		if done := strings.Count(wander.done(t), "customer.expired"); done < 20 {
			t.Errorf("only %d have expired", done)
		}
	})
}

// A change that commits after the look marked the day as done, and was not
// visible to the look, is still found.
func TestChangeThatALookHasNotSeenIsFoundByTheNext(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		if engine == sqldb.SQLite {
			t.Skip("while a transaction writes, nothing else does")
		}
		midnight := time.Date(2026, 2, 1, 3, 0, 0, 0, time.UTC)
		for name, at := range map[string]time.Time{"by day": midnight.Add(12 * time.Hour), "at midnight": midnight.Add(-time.Second)} {
			calendar := newCalendar(t, engine, at)
			actor := calendar.Company(t)
			housetest.Must(t, calendar.app.DayWork(t.Context()))
			looked := false
			calendar.Events.Watch(func(_ context.Context, _ *sqldb.Tx, recorded event.Event) error {
				if recorded.Name == event.CustomerCreated && !looked {
					looked = true
					calendar.Clock.Advance(2 * time.Second)
					return calendar.app.DayWork(t.Context())
				}
				return nil
			})
			calendar.For(actor).Customer(t, "data_de_vencimento", "2026-01-31")
			housetest.Must(t, calendar.app.DayWork(t.Context()))
			if got := calendar.done(t); got != "customer.expired of 1" {
				t.Errorf("%s: %q", name, got)
			}
		}
	})
}

// A customer that another transaction has locked is passed over, and keeps the
// day of its company from being done.
func TestDayIsNotDoneWhileACustomerIsLocked(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		if engine == sqldb.SQLite {
			t.Skip("there are no locks of rows")
		}
		calendar := newCalendar(t, engine, time.Date(2026, 2, 1, 12, 0, 0, 0, time.UTC))
		calendar.company(t, "UTC", "2026-01-31")
		housetest.Must(t, calendar.DB.Write(t.Context(), func(tx *sqldb.Tx) error {
			if _, err := sqldb.Value[int64](t.Context(), tx, `SELECT id FROM customers WHERE id = 1 {for update}`); err != nil {
				return err
			}
			return calendar.app.DayWork(t.Context())
		}))
		if got := calendar.done(t); got != "" {
			t.Errorf("%q while the customer was locked", got)
		}
		housetest.Must(t, calendar.app.DayWork(t.Context()))
		if got, want := calendar.done(t), "customer.expired of 1, invoice.created of 1"; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	})
}
