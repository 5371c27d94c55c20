package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/catalog"
	"carteira/internal/customer"
	"carteira/internal/event"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/sqldb/sqldbtest"
	"carteira/internal/webhook"
)

// calendar is a program of which only what the calendar moves is built.
func calendar(t *testing.T, engine sqldb.Engine, clock *sqldbtest.Clock) (*App, *event.Log) {
	t.Helper()
	db := sqldbtest.New(t, engine, sqldbtest.WithClock(clock))
	events := &event.Log{}
	customers := customer.New(db, events)
	return &App{
		DB: db, Accounts: account.New(db, account.Config{}), Catalog: catalog.New(db), Customers: customers,
		Billing:  billing.New(db, events, customers),
		Webhooks: webhook.New(db, events, nil, nil, nil, webhook.Options{}),
	}, events
}

// company makes a company with a customer who is due on a day and has no
// invoice yet.
func (a *App) company(t *testing.T, timezone, dueOn string) {
	t.Helper()
	ctx := t.Context()
	c, _, err := a.Accounts.CreateCompany(ctx, account.ReadNewCompany(form("name", timezone, "email", timezone+"@example.com", "timezone", timezone)))
	must(t, err)
	actor := account.System(c, "test")
	plan, err := a.Catalog.CreatePlan(ctx, actor, form("name", "Mensal", "value", "35.00", "period", "1month"))
	must(t, err)
	made, err := a.Customers.Create(ctx, actor, customer.ReadNew(form("name", "Ana", "data_de_vencimento", dueOn)))
	must(t, err)
	_, err = a.Customers.Update(ctx, actor, made.ID, customer.ReadChanges(form("plan_id", fmt.Sprint(plan.ID))))
	must(t, err)
}

func form(pairs ...string) *input.Form {
	m := map[string]string{}
	for pair := range slices.Chunk(pairs, 2) {
		m[pair[0]] = pair[1]
	}
	return input.FromStrings(m)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// done lists what the calendar has brought about, by company.
func (a *App) done(t *testing.T) string {
	t.Helper()
	list, err := sqldb.All(t.Context(), a.DB, func(r sqldb.Row) (string, error) {
		var company int64
		var name string
		err := r.Scan(&company, &name)
		return fmt.Sprintf("%s of %d", name, company), err
	}, `SELECT company_id, name FROM events WHERE name IN ('customer.expired', 'invoice.created') ORDER BY company_id, id`)
	must(t, err)
	return strings.Join(list, ", ")
}

func TestDayWorkGoesByTheDayOfEachCompany(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		clock := sqldbtest.NewClock(time.Date(2026, 1, 20, 12, 0, 0, 0, time.UTC))
		a, _ := calendar(t, engine, clock)
		for _, zone := range []string{"America/Sao_Paulo", "Pacific/Auckland", "America/Rio_Branco"} {
			a.company(t, zone, "2026-01-31")
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
			clock.Set(step.at)
			for range 2 {
				must(t, a.DayWork(t.Context()))
			}
			if got := a.done(t); got != step.want {
				t.Errorf("%v: %q, want %q", step.at, got, step.want)
			}
		}
	})
}

var errUnlucky = errors.New("this company cannot")

// What one company cannot do keeps nobody waiting, not even its own other work.
func TestCompanyThatFailsKeepsNobodyWaiting(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		clock := sqldbtest.NewClock(time.Date(2026, 2, 1, 12, 0, 0, 0, time.UTC))
		a, events := calendar(t, engine, clock)
		for _, zone := range []string{"America/Sao_Paulo", "UTC"} {
			a.company(t, zone, "2026-01-31")
		}
		broken := true
		events.Watch(func(_ context.Context, _ *sqldb.Tx, e event.Event) error {
			if broken && e.CompanyID == 1 && e.Name == event.CustomerExpired {
				return errUnlucky
			}
			return nil
		})
		err := a.DayWork(t.Context())
		if !errors.Is(err, errUnlucky) || !strings.Contains(err.Error(), "expire customers of company 1: customer 1:") {
			t.Errorf("got %v, want to be told which company and customer", err)
		}
		if got, want := a.done(t), "invoice.created of 1, customer.expired of 2, invoice.created of 2"; got != want {
			t.Errorf("%q, want %q", got, want)
		}
		broken = false
		must(t, a.DayWork(t.Context()))
		if got, want := a.done(t), "invoice.created of 1, customer.expired of 1, customer.expired of 2, invoice.created of 2"; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	})
}
