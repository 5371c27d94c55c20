package app

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"carteira/internal/billing"
	"carteira/internal/customer"
	"carteira/internal/event"
	"carteira/internal/platform/sqldb"
	"carteira/internal/webhook"
	"carteira/test/kit/housetest"
	"carteira/test/kit/sqldbtest"
	"carteira/test/kit/worldtest"
)

// calendar is a program with only the parts that the calendar moves.
type calendar struct {
	*worldtest.World
	app *App
}

func newCalendar(t *testing.T, engine sqldb.Engine, at time.Time) calendar {
	t.Helper()
	world := worldtest.Open(t, engine)
	world.Clock.Set(at)
	return calendar{world, &App{
		DB: world.DB, Accounts: world.Accounts, Catalog: world.Catalog, Customers: world.Customers,
		Billing:  billing.New(world.DB, world.Events, world.Customers),
		Webhooks: webhook.New(world.DB, world.Events, nil, nil, nil, webhook.Options{}),
	}}
}

// company makes a company with a customer who is due on a day and has no
// invoice yet.
func (c calendar) company(t *testing.T, timezone, dueOn string) {
	t.Helper()
	world := c.For(c.Company(t, "timezone", timezone))
	plan := world.Plan(t, "1month", "35.00")
	made := world.Customer(t, "data_de_vencimento", dueOn)
	_, err := world.Customers.Update(t.Context(), world.Actor, made.ID, customer.ReadChanges(housetest.Form("plan_id", fmt.Sprint(plan.ID))))
	housetest.Must(t, err)
}

// done lists what the calendar has brought about, by company.
func (c calendar) done(t *testing.T) string {
	t.Helper()
	list, err := sqldb.All(t.Context(), c.DB, func(row sqldb.Row) (string, error) {
		var company int64
		var name string
		err := row.Scan(&company, &name)
		return fmt.Sprintf("%s of %d", name, company), err
	}, `SELECT company_id, name FROM events WHERE name IN ('customer.expired', 'invoice.created') ORDER BY company_id, id`)
	housetest.Must(t, err)
	return strings.Join(list, ", ")
}

func TestDayWorkGoesByTheDayOfEachCompany(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		calendar := newCalendar(t, engine, time.Date(2026, 1, 20, 12, 0, 0, 0, time.UTC))
		for _, zone := range []string{"America/Sao_Paulo", "Pacific/Auckland", "America/Rio_Branco"} {
			calendar.company(t, zone, "2026-01-31")
		}
		for _, step := range []struct {
			at   time.Time
			want string
		}{
			{time.Date(2026, 1, 25, 10, 59, 59, 0, time.UTC), ""},
			{time.Date(2026, 1, 25, 11, 0, 0, 0, time.UTC), "invoice.created of 2"},
			{time.Date(2026, 1, 26, 3, 0, 0, 0, time.UTC), "invoice.created of 1, invoice.created of 2"},
			{time.Date(2026, 1, 26, 5, 0, 0, 0, time.UTC), "invoice.created of 1, invoice.created of 2, invoice.created of 3"},
			{time.Date(2026, 1, 31, 11, 0, 0, 0, time.UTC), "invoice.created of 1, invoice.created of 2, customer.expired of 2, invoice.created of 3"},
			{time.Date(2026, 2, 1, 3, 0, 0, 0, time.UTC), "invoice.created of 1, customer.expired of 1, invoice.created of 2, customer.expired of 2, invoice.created of 3"},
		} {
			calendar.Clock.Set(step.at)
			for range 2 {
				housetest.Must(t, calendar.app.DayWork(t.Context()))
			}
			if got := calendar.done(t); got != step.want {
				t.Errorf("%v: %q, want %q", step.at, got, step.want)
			}
		}
	})
}

var errUnlucky = errors.New("this company cannot")

// A failure in one company delays no other company, nor the rest of its own
// work.
func TestCompanyThatFailsKeepsNobodyWaiting(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		calendar := newCalendar(t, engine, time.Date(2026, 2, 1, 12, 0, 0, 0, time.UTC))
		for _, zone := range []string{"America/Sao_Paulo", "UTC"} {
			calendar.company(t, zone, "2026-01-31")
		}
		broken := true
		calendar.Events.Watch(func(_ context.Context, _ *sqldb.Tx, recorded event.Event) error {
			if broken && recorded.CompanyID == 1 && recorded.Name == event.CustomerExpired {
				return errUnlucky
			}
			return nil
		})
		err := calendar.app.DayWork(t.Context())
		if !errors.Is(err, errUnlucky) || !strings.Contains(err.Error(), "expire customers of company 1: customer 1:") {
			t.Errorf("got %v, want to be told which company and customer", err)
		}
		if got, want := calendar.done(t), "invoice.created of 1, customer.expired of 2, invoice.created of 2"; got != want {
			t.Errorf("%q, want %q", got, want)
		}
		broken = false
		housetest.Must(t, calendar.app.DayWork(t.Context()))
		if got, want := calendar.done(t), "invoice.created of 1, customer.expired of 1, customer.expired of 2, invoice.created of 2"; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	})
}
