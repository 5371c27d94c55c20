// Package worldtest is the company that most tests begin with: a database of
// either engine with a clock that can be set, the rooms that every other room
// uses (account, catalog, customer) and the use cases of a set-up in one line
// each. It owns no test. Packages that it imports cannot use it in tests of
// their own package.
package worldtest

import (
	"fmt"
	"iter"
	"strings"
	"testing"

	"carteira/internal/account"
	"carteira/internal/catalog"
	"carteira/internal/customer"
	"carteira/internal/customer/intake"
	"carteira/internal/customer/sheet"
	"carteira/internal/event"
	"carteira/internal/platform/sqldb"
	"carteira/test/kit/housetest"
	"carteira/test/kit/sqldbtest"
)

// World is a company, the program acting for it, and the rooms below all others
// in one process.
type World struct {
	URL       string
	DB        *sqldb.DB
	Clock     *sqldbtest.Clock
	Events    *event.Log
	Accounts  *account.Service
	Catalog   *catalog.Service
	Customers *customer.Service
	Intake    *intake.Service
	Actor     account.Actor
}

// New is a world with a fresh database on the housetest.Morning. The company's
// fields are Rede Clara's but for those that are given, as names and values.
func New(tb testing.TB, engine sqldb.Engine, company ...string) *World {
	tb.Helper()
	world := Open(tb, engine)
	world.Actor = world.Company(tb, company...)
	return world
}

// Open is a world without a company.
func Open(tb testing.TB, engine sqldb.Engine) *World {
	tb.Helper()
	return open(tb, sqldbtest.URL(tb, engine), sqldbtest.NewClock(housetest.Morning))
}

func open(tb testing.TB, url string, clock *sqldbtest.Clock) *World {
	tb.Helper()
	db := sqldbtest.Open(tb, url, sqldbtest.WithClock(clock))
	events := &event.Log{}
	customers := customer.New(db, events)
	return &World{
		URL: url, DB: db, Clock: clock, Events: events,
		Accounts: account.New(db, account.Config{}), Catalog: catalog.New(db), Customers: customers,
		Intake: intake.New(db, customers),
	}
}

// Process is one more process on the same database, with pools of its own, and
// for the same company.
func (w *World) Process(tb testing.TB) *World {
	tb.Helper()
	other := open(tb, w.URL, w.Clock)
	other.Actor = w.Actor
	return other
}

// For is the same world for another company.
func (w *World) For(actor account.Actor) *World {
	other := *w
	other.Actor = actor
	return &other
}

// Company makes one more company, with the given fields.
func (w *World) Company(tb testing.TB, fields ...string) account.Actor {
	tb.Helper()
	all, err := w.Accounts.Companies(tb.Context())
	housetest.Must(tb, err)
	fields = append([]string{"name", "Rede Clara", "email", fmt.Sprintf("c%d@example.com", len(all))}, fields...)
	made, _, err := w.Accounts.CreateCompany(tb.Context(), account.ReadNewCompany(housetest.Form(fields...)))
	housetest.Must(tb, err)
	return account.System(made, "test")
}

// Plan makes a plan that costs value for each period, such as 1month.
func (w *World) Plan(tb testing.TB, period, value string, fields ...string) catalog.Plan {
	tb.Helper()
	fields = append([]string{"name", "Plano " + period, "value", value, "period", period}, fields...)
	plan, err := w.Catalog.CreatePlan(tb.Context(), w.Actor, catalog.ReadNewPlan(housetest.Form(fields...)))
	housetest.Must(tb, err)
	return plan
}

// Customer makes a customer, Ana unless the fields say otherwise.
func (w *World) Customer(tb testing.TB, fields ...string) customer.Customer {
	tb.Helper()
	made, err := w.Customers.Create(tb.Context(), w.Actor,
		customer.ReadNew(housetest.Form(append([]string{"name", "Ana Lima"}, fields...)...)))
	housetest.Must(tb, err)
	return made
}

// Import imports a file, and returns when all consequences are drawn. An upload is done
// before that: on SQLite as soon as its customers can be seen.
func (w *World) Import(tb testing.TB, file string) error {
	tb.Helper()
	_, err := w.Intake.Import(tb.Context(), w.Actor, func() iter.Seq2[sheet.Row, error] {
		rows, err := sheet.Open(strings.NewReader(file))
		housetest.Must(tb, err)
		return rows.All()
	}, intake.ImportOptions{})
	return err
}
