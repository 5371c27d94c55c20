package catalog_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"carteira/internal/account"
	"carteira/internal/catalog"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/test/kit/housetest"
	"carteira/test/kit/sqldbtest"
)

var noon = housetest.Morning

// form takes names and values in turn.
func form(pairs ...string) *input.Form {
	values := map[string]string{}
	for pair := range slices.Chunk(pairs, 2) {
		values[pair[0]] = pair[1]
	}
	return input.FromStrings(values)
}

func newCompany(t *testing.T, db *sqldb.DB, email string) account.Actor {
	t.Helper()
	company, _, err := account.New(db, account.Config{}).CreateCompany(t.Context(), account.ReadNewCompany(form("name", "Rede Clara", "email", email)))
	if err != nil {
		t.Fatal(err)
	}
	return account.System(company, "test")
}

func newPlan(t *testing.T, service *catalog.Service, actor account.Actor, name string, more ...string) catalog.Plan {
	t.Helper()
	plan, err := service.CreatePlan(t.Context(), actor, catalog.ReadNewPlan(form(append([]string{"name", name, "value", "35.00", "period", "1month"}, more...)...)))
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

func newProduct(t *testing.T, service *catalog.Service, actor account.Actor, name string) catalog.Product {
	t.Helper()
	product, err := service.CreateProduct(t.Context(), actor, catalog.ReadNewProduct(form("name", name)))
	if err != nil {
		t.Fatal(err)
	}
	return product
}

func wantFields(t *testing.T, err error, want ...string) {
	t.Helper()
	got := slices.Sorted(maps.Keys(maps.Collect(fault.FieldsOf(err).All())))
	if slices.Sort(want); !slices.Equal(got, want) {
		t.Errorf("refused %v (%v), want %v", got, err, want)
	}
}

func wantNotFound(t *testing.T, err error) {
	t.Helper()
	if fault.KindOf(err) != fault.KindNotFound {
		t.Errorf("got %v, want not found", err)
	}
}

func TestPlanKeepsWhatItWasGiven(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		clock := sqldbtest.NewClock(noon)
		db := sqldbtest.New(t, engine, sqldbtest.WithClock(clock))
		service, actor := catalog.New(db), newCompany(t, db, "a@example.com")
		product := newProduct(t, service, actor, "Internet 300")
		want := newPlan(t, service, actor, "Trimestral", "value", "99.90", "period", "3 meses", "product_id", fmt.Sprint(product.ID))
		if want.Name != "Trimestral" || want.Value != 9990 || want.Period != (civil.Period{Unit: civil.Month, Count: 3}) ||
			want.Product != (catalog.Ref{ID: product.ID, Name: "Internet 300"}) || !want.Active || !want.CreatedAt.Equal(noon) {
			t.Errorf("plan %+v", want)
		}
		wantPlan(t, service, actor, want)

		clock.Advance(time.Hour)
		for _, step := range []struct {
			form   *input.Form
			change func(*catalog.Plan)
		}{
			{form(), func(*catalog.Plan) {}},
			{form("name", "Novo", "active", "false"), func(plan *catalog.Plan) { plan.Name, plan.Active = "Novo", false }},
			{form("value", "0"), func(plan *catalog.Plan) { plan.Value = 0 }},
			{form("period", "2weeks"), func(plan *catalog.Plan) { plan.Period = civil.Period{Unit: civil.Week, Count: 2} }},
			{form("product_id", ""), func(plan *catalog.Plan) { plan.Product = catalog.Ref{} }},
		} {
			step.change(&want)
			if _, err := service.UpdatePlan(t.Context(), actor, want.ID, catalog.ReadPlanChanges(step.form)); err != nil {
				t.Fatal(err)
			}
			wantPlan(t, service, actor, want)
		}
	})
}

func wantPlan(t *testing.T, service *catalog.Service, actor account.Actor, want catalog.Plan) {
	t.Helper()
	got, err := service.Plan(t.Context(), actor, want.ID)
	if got.CreatedAt = got.CreatedAt.UTC(); err != nil || got != want {
		t.Errorf("plan %+v, %v\nwant %+v", got, err, want)
	}
}

func TestProductKeepsWhatItWasGiven(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		db := sqldbtest.New(t, engine, sqldbtest.WithClock(sqldbtest.NewClock(noon)))
		service, actor := catalog.New(db), newCompany(t, db, "a@example.com")
		made, err := service.CreateProduct(t.Context(), actor, catalog.ReadNewProduct(form("name", "Fibra", "description", "300 Mbit/s\nsem fidelidade")))
		want := catalog.Product{ID: made.ID, Name: "Fibra", Description: "300 Mbit/s\nsem fidelidade", Active: true, CreatedAt: noon}
		if err != nil || made != want {
			t.Errorf("product %+v, %v", made, err)
		}
		if _, err := service.UpdateProduct(t.Context(), actor, made.ID, catalog.ReadProductChanges(form("description", "", "active", "0"))); err != nil {
			t.Fatal(err)
		}
		want.Description, want.Active = "", false
		got, err := service.Product(t.Context(), actor, made.ID)
		if got.CreatedAt = got.CreatedAt.UTC(); err != nil || got != want {
			t.Errorf("product %+v, %v\nwant %+v", got, err, want)
		}
	})
}

func TestPlansAndProductsRefuseEveryWrongFieldAtOnce(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		service, actor := catalog.New(db), newCompany(t, db, "a@example.com")
		_, err := service.CreatePlan(t.Context(), actor, catalog.ReadNewPlan(form())) // a period is a month by default
		wantFields(t, err, "name", "value")
		_, err = service.CreatePlan(t.Context(), actor, catalog.ReadNewPlan(form("name", "A", "value", "1.234", "period", "1fortnight", "product_id", "x")))
		wantFields(t, err, "value", "period", "product_id")
		plan := newPlan(t, service, actor, "Mensal")
		_, err = service.UpdatePlan(t.Context(), actor, plan.ID, catalog.ReadPlanChanges(form("name", "", "value", "", "period", "")))
		wantFields(t, err, "name", "value", "period")
		_, err = service.CreateProduct(t.Context(), actor, catalog.ReadNewProduct(form("description", "x")))
		wantFields(t, err, "name")
		wantPlan(t, service, actor, utc(plan))
	})
}

func utc(plan catalog.Plan) catalog.Plan {
	plan.CreatedAt = plan.CreatedAt.UTC()
	return plan
}

func TestAnotherCompanysCatalogIsOutOfReach(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		service := catalog.New(db)
		actor, other := newCompany(t, db, "a@example.com"), newCompany(t, db, "b@example.com")
		product, plan := newProduct(t, service, actor, "Fibra"), newPlan(t, service, actor, "Mensal")
		foreign := newProduct(t, service, other, "Fibra")

		_, err := service.CreatePlan(t.Context(), actor, catalog.ReadNewPlan(form("name", "A", "value", "1", "period", "1day", "product_id", fmt.Sprint(foreign.ID))))
		wantFields(t, err, "product_id")
		_, err = service.UpdatePlan(t.Context(), actor, plan.ID, catalog.ReadPlanChanges(form("product_id", fmt.Sprint(foreign.ID))))
		wantFields(t, err, "product_id")
		_, err = service.Plan(t.Context(), other, plan.ID)
		wantNotFound(t, err)
		_, err = service.UpdatePlan(t.Context(), other, plan.ID, catalog.ReadPlanChanges(form("name", "B")))
		wantNotFound(t, err)
		_, err = service.Product(t.Context(), other, product.ID)
		wantNotFound(t, err)
		_, err = service.UpdateProduct(t.Context(), other, product.ID, catalog.ReadProductChanges(form("name", "B")))
		wantNotFound(t, err)
		wantPlan(t, service, actor, utc(plan))
	})
}

func TestListsArePagedAndFiltered(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		service, actor := catalog.New(db), newCompany(t, db, "a@example.com")
		foreign := newCompany(t, db, "b@example.com")
		for i, name := range []string{"Básico 100%", "Família", "FAMILIA 10_0", "Solo"} {
			plan, product := newPlan(t, service, actor, name), newProduct(t, service, actor, name)
			newPlan(t, service, foreign, name)
			newProduct(t, service, foreign, name)
			if i == 1 {
				deactivate(t, service, actor, plan.ID, product.ID)
			}
		}
		for _, c := range []struct {
			query map[string][]string
			want  []string
			total int64
		}{
			{nil, []string{"Solo", "FAMILIA 10_0", "Família", "Básico 100%"}, 4},
			{map[string][]string{"per_page": {"3"}}, []string{"Solo", "FAMILIA 10_0", "Família"}, 4},
			{map[string][]string{"per_page": {"3"}, "page": {"2"}}, []string{"Básico 100%"}, 4},
			{map[string][]string{"per_page": {"3"}, "page": {"3"}}, nil, 4},
			{map[string][]string{"search": {"famÍlia"}}, []string{"FAMILIA 10_0", "Família"}, 2},
			{map[string][]string{"search": {"100%"}}, []string{"Básico 100%"}, 1},
			{map[string][]string{"search": {"0_0"}}, []string{"FAMILIA 10_0"}, 1},
			{map[string][]string{"search": {"!"}}, nil, 0},
			{map[string][]string{"active": {"true"}}, []string{"Solo", "FAMILIA 10_0", "Básico 100%"}, 3},
			{map[string][]string{"active": {"0"}}, []string{"Família"}, 1},
			{map[string][]string{"active": {""}}, []string{"Solo", "FAMILIA 10_0", "Família", "Básico 100%"}, 4},
			{map[string][]string{"active": {"1"}, "search": {"familia"}}, []string{"FAMILIA 10_0"}, 1},
		} {
			query := input.FromQuery(c.query)
			page, filter := query.Page(), catalog.ReadFilter(query)
			if err := query.Err(); err != nil {
				t.Fatal(err)
			}
			plans, total, err := service.Plans(t.Context(), actor, filter, page)
			wantNames(t, c.query, plans, func(plan catalog.Plan) string { return plan.Name }, total, err, c.want, c.total)
			products, total, err := service.Products(t.Context(), actor, filter, page)
			wantNames(t, c.query, products, func(product catalog.Product) string { return product.Name }, total, err, c.want, c.total)
		}
	})
}

func TestUnknownFilterValueIsRefused(t *testing.T) {
	query := input.FromQuery(map[string][]string{"active": {"perhaps"}, "search": {"a\nb"}, "colour": {"red"}})
	catalog.ReadFilter(query)
	wantFields(t, query.Err(), "active", "search")
}

func deactivate(t *testing.T, service *catalog.Service, actor account.Actor, planID, productID int64) {
	t.Helper()
	if _, err := service.UpdatePlan(t.Context(), actor, planID, catalog.ReadPlanChanges(form("active", "false"))); err != nil {
		t.Fatal(err)
	}
	if _, err := service.UpdateProduct(t.Context(), actor, productID, catalog.ReadProductChanges(form("active", "false"))); err != nil {
		t.Fatal(err)
	}
}

func wantNames[T any](t *testing.T, query any, list []T, name func(T) string, total int64, err error, want []string, wantTotal int64) {
	t.Helper()
	var got []string
	for _, record := range list {
		got = append(got, name(record))
	}
	if err != nil || !slices.Equal(got, want) || total != wantTotal {
		t.Errorf("%v: %q of %d, %v; want %q of %d", query, got, total, err, want, wantTotal)
	}
}

func TestParallelChangesOfOnePlanKeepEachOther(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		service, actor := catalog.New(db), newCompany(t, db, "a@example.com")
		plan, product := newPlan(t, service, actor, "Mensal"), newProduct(t, service, actor, "Fibra")
		var wg sync.WaitGroup
		for _, change := range [][]string{
			{"name", "Novo"}, {"value", "50"}, {"period", "1year"}, {"active", "false"}, {"product_id", fmt.Sprint(product.ID)},
		} {
			wg.Go(func() {
				if _, err := service.UpdatePlan(t.Context(), actor, plan.ID, catalog.ReadPlanChanges(form(change...))); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		wantPlan(t, service, actor, catalog.Plan{
			ID: plan.ID, Name: "Novo", Value: 5000, Period: civil.Period{Unit: civil.Year, Count: 1},
			Product: catalog.Ref{ID: product.ID, Name: "Fibra"}, CreatedAt: plan.CreatedAt.UTC(),
		})
	})
}

// A transaction is run again when another was in the way, after its first run
// has come to its end.
func TestCreationThatIsRunAgainMakesOneRecord(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		service, actor := catalog.New(db), newCompany(t, db, "a@example.com")
		plan, err := service.CreatePlan(t.Context(), busyOnce(actor), catalog.ReadNewPlan(form("name", "Mensal", "value", "35", "period", "1month")))
		if err != nil {
			t.Fatal(err)
		}
		product, err := service.CreateProduct(t.Context(), busyOnce(actor), catalog.ReadNewProduct(form("name", "Fibra")))
		if err != nil {
			t.Fatal(err)
		}
		plans, total, err := service.Plans(t.Context(), actor, catalog.Filter{}, input.Page{Number: 1, Size: 50})
		if err != nil || total != 1 || plans[0].ID != plan.ID {
			t.Errorf("plans %v, %v; want one", plans, err)
		}
		products, total, err := service.Products(t.Context(), actor, catalog.Filter{}, input.Page{Number: 1, Size: 50})
		if err != nil || total != 1 || products[0].ID != product.ID {
			t.Errorf("products %v, %v; want one", products, err)
		}
	})
}

// busyOnce makes the first transaction of the actor fail as another one in the way would.
func busyOnce(actor account.Actor) account.Actor {
	runs := 0
	return actor.With(func(context.Context, *sqldb.Tx, int64) error {
		if runs++; runs == 1 {
			return sqldb.ErrBusy
		}
		return nil
	})
}
