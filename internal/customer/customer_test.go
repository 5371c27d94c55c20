package customer

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"carteira/internal/account"
	"carteira/internal/catalog"
	"carteira/internal/event"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/test/kit/housetest"
	"carteira/test/kit/sqldbtest"
)

// From the house's test kit.
var values, must = housetest.Form, housetest.Must

// noon is the morning of 31 January 2026 in São Paulo.
var noon = housetest.Morning

// world is a company with the rooms that its customers need.
type world struct {
	*Service
	db       *sqldb.DB
	clock    *sqldbtest.Clock
	events   *event.Log
	accounts *account.Service
	catalog  *catalog.Service
	actor    account.Actor
}

func newWorld(tb testing.TB, engine sqldb.Engine) *world {
	tb.Helper()
	return openWorld(tb, sqldbtest.URL(tb, engine))
}

func openWorld(tb testing.TB, url string) *world {
	tb.Helper()
	clock := sqldbtest.NewClock(noon)
	db := sqldbtest.Open(tb, url, sqldbtest.WithClock(clock))
	events := &event.Log{}
	w := &world{New(db, events), db, clock, events, account.New(db, account.Config{}), catalog.New(db), account.Actor{}}
	w.actor = w.newCompany(tb)
	return w
}

// newCompany makes one more company.
func (w *world) newCompany(tb testing.TB) account.Actor {
	tb.Helper()
	all, err := w.accounts.Companies(tb.Context())
	must(tb, err)
	company, _, err := w.accounts.CreateCompany(tb.Context(), account.ReadNewCompany(values("name", "Rede Clara", "email", fmt.Sprintf("c%d@example.com", len(all)))))
	must(tb, err)
	return account.System(company, "test")
}

// second is another process on the same database, or as near to it as SQLite
// has it.
func (w *world) second(tb testing.TB, url string) *Service {
	tb.Helper()
	if w.db.Engine() == sqldb.SQLite {
		return New(w.db, w.events)
	}
	return New(sqldbtest.Open(tb, url, sqldbtest.WithClock(w.clock)), w.events)
}

// offers makes a product and plans of it by their periods, numbered as they
// are given from 1.
func (w *world) offers(tb testing.TB, actor account.Actor, periods ...string) {
	tb.Helper()
	product, err := w.catalog.CreateProduct(tb.Context(), actor, catalog.ReadNewProduct(values("name", "Internet 300")))
	must(tb, err)
	for _, period := range periods {
		_, err := w.catalog.CreatePlan(tb.Context(), actor, catalog.ReadNewPlan(values(
			"name", "Plano "+period, "value", "35.00", "period", period, "product_id", fmt.Sprint(product.ID))))
		must(tb, err)
	}
}

func (w *world) create(tb testing.TB, body string) Customer {
	tb.Helper()
	customer, err := w.Create(tb.Context(), w.actor, ReadNew(form(tb, body)))
	must(tb, err)
	return customer
}

func (w *world) update(tb testing.TB, id int64, body string) Customer {
	tb.Helper()
	customer, err := w.Update(tb.Context(), w.actor, id, ReadChanges(form(tb, body)))
	must(tb, err)
	return customer
}

func (w *world) renew(tb testing.TB, id int64) Customer {
	tb.Helper()
	renewal, err := w.Renew(tb.Context(), w.actor, id)
	must(tb, err)
	return renewal.Customer
}

// recorded lists the names of the events in the order of their recording.
func (w *world) recorded(tb testing.TB) []event.Name {
	tb.Helper()
	list, err := sqldb.All(tb.Context(), w.db, func(row sqldb.Row) (name event.Name, err error) {
		err = row.Scan((*string)(&name))
		return name, err
	}, `SELECT name FROM events ORDER BY id`)
	must(tb, err)
	return list
}

func form(tb testing.TB, body string) *input.Form {
	tb.Helper()
	f, err := input.FromJSON([]byte(body))
	must(tb, err)
	return f
}

// values makes a form of names and values in turn.

func wantFields(tb testing.TB, err error, want ...string) {
	tb.Helper()
	got := slices.Sorted(maps.Keys(maps.Collect(fault.FieldsOf(err).All())))
	if want = slices.Sorted(slices.Values(want)); !slices.Equal(got, want) {
		tb.Errorf("refused %v (%v), want %v", got, err, want)
	}
}

func wantNotFound(tb testing.TB, err error) {
	tb.Helper()
	if fault.KindOf(err) != fault.KindNotFound {
		tb.Errorf("got %v, want not found", err)
	}
}

func day(s string) civil.Date { return civil.MustParse(s) }

func TestCreateFillsInWhatIsLeftOut(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newWorld(t, engine)
		world.offers(t, world.actor, "1month", "1week", "3months") // plans 1, 2 and 3, product 1
		_, err := world.catalog.CreateProduct(t.Context(), world.actor, catalog.ReadNewProduct(values("name", "TV")))
		must(t, err)
		monthly := Plan{1, "Plano 1month", 3500}
		internet := Product{1, "Internet 300"}
		for _, c := range []struct {
			body string
			want Customer
		}{
			{`{"name":"Ana"}`, Customer{Name: "Ana"}},
			{`{"name":" Ana ","email":"","usuario":null,"notes":"  ","plan_id":"","data_de_vencimento":""}`, Customer{Name: "Ana"}},
			{`{"name":"Ana","plan_id":1}`, Customer{Name: "Ana", DueOn: day("2026-02-28"), OwnDay: 31, Plan: monthly, Product: internet}},
			{`{"name":"Ana","plan_id":"1","data_de_vencimento":null}`, Customer{Name: "Ana", DueOn: day("2026-02-28"), OwnDay: 31, Plan: monthly, Product: internet}},
			{`{"name":"Ana","plan_id":2}`, Customer{Name: "Ana", DueOn: day("2026-02-07"), OwnDay: 7, Plan: Plan{2, "Plano 1week", 3500}, Product: internet}},
			{`{"name":"Ana","plan_id":1,"data_de_vencimento":"2020-02-29"}`, Customer{Name: "Ana", DueOn: day("2020-02-29"), OwnDay: 29, Plan: monthly, Product: internet}},
			{`{"name":"Ana","plan_id":1,"product_id":2,"due_date":"2026-05-10"}`, Customer{Name: "Ana", DueOn: day("2026-05-10"), OwnDay: 10, Plan: monthly, Product: Product{2, "TV"}}},
			{`{"name":"Ana","product_id":"2"}`, Customer{Name: "Ana", Product: Product{2, "TV"}}},
			{`{"name":"Ana","usuario":"Ana.A","username":"ana.b","data_de_vencimento":"2026-03-01","due_date":"2026-04-01"}`, Customer{Name: "Ana", Usuario: "Ana.A", DueOn: day("2026-03-01"), OwnDay: 1}},
			{`{"name":"Ana","username":77,"notes":"a\nb","external_id":12}`, Customer{Name: "Ana", Usuario: "77", Notes: "a\nb", ExternalID: "12"}},
			{
				`{"name":"Ana","id":9,"uuid":"x","status":"Vencido","plan":{"id":3},"product":null,"invoices":[],"created_at":1,"updated_at":true,"previous_due_date":"x"}`,
				Customer{Name: "Ana"},
			},
		} {
			got := world.create(t, c.body)
			found, err := world.Find(t.Context(), world.actor, got.ID)
			found.CreatedAt, found.UpdatedAt = found.CreatedAt.UTC(), found.UpdatedAt.UTC()
			if err != nil || found != got {
				t.Errorf("%s: found %+v, %v\nmade %+v", c.body, found, err, got)
			}
			c.want.ID, c.want.UUID, c.want.UpdatedAt, c.want.Autopay = got.ID, got.UUID, noon, AutopayNone
			c.want.createdAt(noon, world.actor.Company.Zone)
			c.want.expiry = expiry{}.after(c.want.DueOn, day("2026-01-31"))
			c.want.recurring, c.want.period = got.recurring, got.period // other tests count with them
			if got != c.want {
				t.Errorf("%s: got  %+v\nwant %+v", c.body, got, c.want)
			}
			must(t, world.Delete(t.Context(), world.actor, got.ID))
		}
	})
}

func TestTodayIsTheCompanys(t *testing.T) {
	world := newWorld(t, sqldb.SQLite)
	world.offers(t, world.actor, "1day")
	world.clock.Set(time.Date(2026, 2, 1, 2, 59, 59, 0, time.UTC)) // one second to midnight in São Paulo
	if got := world.create(t, `{"name":"Ana","plan_id":1}`).DueOn; got != day("2026-02-01") {
		t.Errorf("due on %v, want the day after 31 January", got)
	}
	world.clock.Advance(time.Second)
	if got := world.create(t, `{"name":"Ana","plan_id":1}`).DueOn; got != day("2026-02-02") {
		t.Errorf("due on %v, want the day after 1 February", got)
	}
}

func TestWhatsappIsKeptAsDigitsWithCountryCode(t *testing.T) {
	world := newWorld(t, sqldb.SQLite)
	for typed, want := range map[string]string{
		`"(11) 98765-4321"`:     "5511987654321",
		`"11 3333.4444"`:        "551133334444",
		`"+55 (11) 98765-4321"`: "5511987654321",
		`5511987654321`:         "5511987654321",
		`"+1 212 555 1234"`:     "12125551234",
		`"+351/912 345 678"`:    "351912345678",
		`"011 98765-4321"`:      "5511987654321",
		`""`:                    "",
		`null`:                  "",
	} {
		if got := world.create(t, `{"name":"Ana","whatsapp":`+typed+`}`).Whatsapp; got != want {
			t.Errorf("%s became %q, want %q", typed, got, want)
		}
	}
	for _, wrong := range []string{`"123456789"`, `"1234567890123456"`, `"11 98765-4321 (Ana)"`, `"55+11987654321"`, `true`, `[]`} {
		_, err := world.Create(t.Context(), world.actor, ReadNew(form(t, `{"name":"Ana","whatsapp":`+wrong+`}`)))
		wantFields(t, err, "whatsapp")
	}
}

func TestCreateRefusesEveryWrongFieldAtOnce(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newWorld(t, engine)
		world.offers(t, world.actor, "1month")
		other := world.newCompany(t)
		world.offers(t, other, "1month") // plan 2, product 2
		_, err := world.catalog.CreateProduct(t.Context(), world.actor, catalog.ReadNewProduct(values("name", "old")))
		must(t, err)
		_, err = world.catalog.UpdateProduct(t.Context(), world.actor, 3, catalog.ReadProductChanges(values("active", "false")))
		must(t, err)
		_, err = world.catalog.CreatePlan(t.Context(), world.actor, catalog.ReadNewPlan(values("name", "old", "value", "1", "period", "1day")))
		must(t, err)
		_, err = world.catalog.UpdatePlan(t.Context(), world.actor, 3, catalog.ReadPlanChanges(values("active", "false")))
		must(t, err)
		world.create(t, `{"name":"Bia","usuario":"bia","external_id":"7"}`)
		_, err = world.Create(t.Context(), other, ReadNew(form(t, `{"name":"Leo","usuario":"leo","external_id":"8"}`)))
		must(t, err)

		for body, want := range map[string][]string{
			`{}`:            {"name"},
			`{"name":"  "}`: {"name"},
			`{"name":"` + strings.Repeat("ã", 255) + `"}`: nil,
			`{"name":"` + strings.Repeat("ã", 256) + `"}`: {"name"},
			`{"name":"a\nb","email":"ana@","whatsapp":"1","usuario":"a\u0000","data_de_vencimento":"31/12/2026","plan_id":"x","product_id":0,"external_id":[],"notes":{}}`: {
				"name", "email", "whatsapp", "usuario", "data_de_vencimento", "plan_id", "product_id", "external_id", "notes",
			},
			`{"name":"Ana","notes":"` + strings.Repeat("n", 5000) + `"}`:            nil,
			`{"name":"Ana","notes":"` + strings.Repeat("n", 5001) + `"}`:            {"notes"},
			`{"name":"Ana","data_de_vencimento":"2026-02-30"}`:                      {"data_de_vencimento"},
			`{"name":"Ana","due_date":"soon","username":false}`:                     {"due_date", "username"},
			`{"name":"Ana","plan_id":2,"product_id":2}`:                             {"plan_id", "product_id"}, // another company's
			`{"name":"Ana","plan_id":99,"product_id":99}`:                           {"plan_id", "product_id"},
			`{"name":"Ana","plan_id":3,"product_id":3}`:                             {"plan_id", "product_id"}, // no longer sold
			`{"name":"Ana","usuario":"BIA","external_id":"7"}`:                      {"usuario", "external_id"},
			`{"name":"Ana","username":"Bia"}`:                                       {"username"},
			`{"nmae":"Ana"}`:                                                        {"name", "nmae"},
			`{"name":"Ana","plan_id":99,"usuario":"bia","external_id":"7","cor":1}`: {"plan_id", "usuario", "external_id", "cor"},
			`{"name":"","plan_id":99,"usuario":"bia","external_id":"7","cor":1}`:    {"name", "plan_id", "usuario", "external_id", "cor"},
			`{"name":"Ana","usuario":"leo","external_id":"8"}`:                      nil, // another company's
		} {
			_, err := world.Create(t.Context(), world.actor, ReadNew(form(t, body)))
			wantFields(t, err, want...)
			if want == nil {
				must(t, err)
			}
		}
		if got := len(world.recorded(t)); got != 5 {
			t.Errorf("%d events, want one for each of the 5 that were made", got)
		}
	})
}

func TestUnknownFieldIsRefusedWithASuggestion(t *testing.T) {
	world := newWorld(t, sqldb.SQLite)
	_, err := world.Create(t.Context(), world.actor, ReadNew(form(t, `{"name":"Ana","emial":"a@example.com"}`)))
	if got := fault.Public(err); got != "emial: unknown field; did you mean email?" {
		t.Errorf("message %q", got)
	}
}

func TestUpdateChangesOnlyWhatIsGivenAndTellsWhat(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newWorld(t, engine)
		world.offers(t, world.actor, "1month", "1week")
		want := world.create(t, `{"name":"Ana","whatsapp":"5511987654321","email":"ana@example.com","usuario":"ana","plan_id":1,"notes":"n","external_id":"7"}`)
		var told []string
		world.events.Watch(func(_ context.Context, _ *sqldb.Tx, recorded event.Event) error {
			told = recorded.Data.(updatedData).Changed
			return nil
		})
		for _, step := range []struct {
			body    string
			change  func(*Customer)
			changed []string
		}{
			{`{"name":"Ana Lima"}`, func(customer *Customer) { customer.Name = "Ana Lima" }, []string{"name"}},
			{`{"email":null,"notes":""}`, func(customer *Customer) { customer.Email, customer.Notes = "", "" }, []string{"email", "notes"}},
			{`{"username":"ANA"}`, func(customer *Customer) { customer.Usuario = "ANA" }, []string{"usuario"}},
			{`{"plan_id":"2"}`, func(customer *Customer) { customer.Plan = Plan{2, "Plano 1week", 3500} }, []string{"plan_id"}},
			{`{"product_id":null}`, func(customer *Customer) { customer.Product = Product{} }, []string{"product_id"}},
			{`{"due_date":"2026-05-10"}`, func(customer *Customer) { customer.DueOn, customer.OwnDay = day("2026-05-10"), 10 }, []string{"data_de_vencimento"}},
			{`{"data_de_vencimento":null,"plan_id":null}`, func(customer *Customer) {
				customer.DueOn, customer.OwnDay, customer.Plan = civil.Date{}, 0, Plan{}
			}, []string{"data_de_vencimento", "plan_id"}},
			{`{"whatsapp":"(11) 98765-4321"}`, func(*Customer) {}, nil},
			{`{"whatsapp":"21 3333-4444","external_id":8}`, func(customer *Customer) {
				customer.Whatsapp, customer.ExternalID = "552133334444", "8"
			}, []string{"whatsapp", "external_id"}},
			{`{}`, func(*Customer) {}, nil},
			{`{"id":99,"status":"Vencido"}`, func(*Customer) {}, nil},
		} {
			world.clock.Advance(time.Minute)
			step.change(&want)
			if step.changed != nil {
				want.UpdatedAt = world.clock.Now()
			}
			told = nil
			world.update(t, want.ID, step.body)
			got, err := world.Find(t.Context(), world.actor, want.ID)
			got.CreatedAt, got.UpdatedAt = got.CreatedAt.UTC(), got.UpdatedAt.UTC()
			want.expiry = expiry{}.after(want.DueOn, day("2026-01-31"))
			want.recurring, want.period = got.recurring, got.period
			if err != nil || got != want {
				t.Errorf("%s: %v\ngot  %+v\nwant %+v", step.body, err, got, want)
			}
			if !slices.Equal(told, step.changed) {
				t.Errorf("%s: told %v, want %v", step.body, told, step.changed)
			}
		}
		if got := len(world.recorded(t)); got != 9 {
			t.Errorf("%d events, want the creation and 8 changes", got)
		}
	})
}

func TestUpdateRefusesEveryWrongFieldAtOnce(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newWorld(t, engine)
		other := world.newCompany(t)
		world.offers(t, other, "1month")
		world.create(t, `{"name":"Bia","usuario":"bia","external_id":"7"}`)
		before := world.create(t, `{"name":"Ana","usuario":"ana"}`)
		for body, want := range map[string][]string{
			`{"name":null}`: {"name"},
			`{"name":"","email":"x","plan_id":1,"product_id":1,"usuario":"Bia","external_id":"7","cor":"x"}`: {
				"name", "email", "plan_id", "product_id", "usuario", "external_id", "cor",
			},
		} {
			_, err := world.Update(t.Context(), world.actor, before.ID, ReadChanges(form(t, body)))
			wantFields(t, err, want...)
		}
		_, err := world.Update(t.Context(), other, before.ID, ReadChanges(form(t, `{"name":"Eva"}`)))
		wantNotFound(t, err)
		_, err = world.Update(t.Context(), world.actor, 99, ReadChanges(form(t, `{"nmae":"Eva"}`)))
		wantNotFound(t, err)
		got, err := world.Find(t.Context(), world.actor, before.ID)
		got.CreatedAt, got.UpdatedAt = got.CreatedAt.UTC(), got.UpdatedAt.UTC()
		if err != nil || got != before {
			t.Errorf("after refusals %+v, %v; want %+v", got, err, before)
		}
	})
}

func TestInactivePlanStaysWithWhoHasIt(t *testing.T) {
	world := newWorld(t, sqldb.SQLite)
	world.offers(t, world.actor, "1month")
	customer := world.create(t, `{"name":"Ana","plan_id":1}`)
	_, err := world.catalog.UpdatePlan(t.Context(), world.actor, 1, catalog.ReadPlanChanges(values("active", "false")))
	must(t, err)
	world.update(t, customer.ID, `{"name":"Ana Lima","plan_id":1}`)
	if got := world.renew(t, customer.ID).DueOn; got != day("2026-03-31") {
		t.Errorf("renewed until %v", got)
	}
}

func TestDeletedCustomerIsGone(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newWorld(t, engine)
		other := world.newCompany(t)
		customer := world.create(t, `{"name":"Ana","usuario":"ana"}`)
		wantNotFound(t, world.Delete(t.Context(), other, customer.ID))
		must(t, world.Delete(t.Context(), world.actor, customer.ID))
		wantNotFound(t, world.Delete(t.Context(), world.actor, customer.ID))
		_, err := world.Find(t.Context(), world.actor, customer.ID)
		wantNotFound(t, err)
		_, err = world.Renew(t.Context(), world.actor, customer.ID)
		wantNotFound(t, err)
		if again := world.create(t, `{"name":"Ana","usuario":"ana"}`); again.ID <= customer.ID {
			t.Errorf("id %d after %d was deleted", again.ID, customer.ID)
		}
		want := []event.Name{event.CustomerCreated, event.CustomerDeleted, event.CustomerCreated}
		if got := world.recorded(t); !slices.Equal(got, want) {
			t.Errorf("events %v, want %v", got, want)
		}
	})
}

func TestStatusFollowsFromTheDueDate(t *testing.T) {
	for due, want := range map[civil.Date]Status{
		{}: Active, day("2026-02-01"): Active, day("2026-01-31"): DueToday, day("2026-01-30"): Expired, day("1999-01-01"): Expired,
	} {
		if got := (Customer{DueOn: due}).Status(day("2026-01-31")); got != want {
			t.Errorf("due on %v: %s, want %s", due, got, want)
		}
	}
}
