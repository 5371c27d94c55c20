package catalog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"carteira/internal/account"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/money"
	"carteira/internal/platform/sqldb"
	"carteira/test/kit/housetest"
	"carteira/test/kit/sqldbtest"
)

// newRoom is a catalog in a company that a person acts for.
func newRoom(t *testing.T, db *sqldb.DB) (*Service, account.Actor) {
	t.Helper()
	company, _, err := account.New(db, account.Config{}).CreateCompany(t.Context(), account.ReadNewCompany(housetest.Form("name", "Rede Clara", "email", "a@example.com")))
	housetest.Must(t, err)
	return New(db), account.Operator(company)
}

func fullPlan() Plan {
	return Plan{
		ID: 7, Name: "Mensal", Value: 3500, Period: civil.Period{Unit: civil.Month, Count: 1}, Product: Ref{1, "Fibra"},
		Active: true, CreatedAt: housetest.Morning,
	}
}

func fullProduct() Product {
	return Product{ID: 7, Name: "Fibra", Description: "300 Mbit/s", Active: true, CreatedAt: housetest.Morning}
}

// settled are the fields that no request sets, each with a reason.
var settled = map[string]string{
	"ID":        "the database gives it",
	"CreatedAt": "the instant of the creation",
}

func TestEveryFieldIsAuditedAndComparedWhenItChanges(t *testing.T) {
	const complaint = "is missing in the table of its record, so its change is neither written nor audited"
	housetest.EachField(t, fullPlan(), settled, func(plan Plan) bool { return seen(PlanFields, plan) }, complaint)
	housetest.EachField(t, fullProduct(), settled, func(product Product) bool { return seen(ProductFields, product) }, complaint)
}

func seen[T, D any](fields account.Table[T, D], record T) bool {
	var none T
	return fields.Differ(&none, &record) && fmt.Sprint(fields.Audit(&none)) != fmt.Sprint(fields.Audit(&record))
}

func TestEveryFieldOfADraftIsSet(t *testing.T) {
	housetest.EveryDraftFieldSets(t, PlanFields, PlanDraft{
		Name: input.Some("Mensal"), Value: input.Some(money.Cents(3500)), Period: input.Some(civil.Period{Unit: civil.Month, Count: 1}),
		ProductID: input.Some[int64](1), Active: input.Some(true),
	})
	housetest.EveryDraftFieldSets(t, ProductFields, ProductDraft{
		Name: input.Some("Fibra"), Description: input.Some("300 Mbit/s"), Active: input.Some(true),
	})
}

func TestEveryFieldIsStored(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		db := sqldbtest.New(t, engine, sqldbtest.WithClock(sqldbtest.NewClock(housetest.Morning)))
		service, actor := newRoom(t, db)
		product := productChange{action: ActionCreated, after: fullProduct()}
		plan := PlanChange{Action: ActionCreated, After: fullPlan()}
		housetest.Must(t, db.Write(t.Context(), func(tx *sqldb.Tx) error {
			return errors.Join(service.applyProduct(t.Context(), actor.In(tx), &product), service.applyPlan(t.Context(), actor.In(tx), &plan))
		}))
		wantStored(t, service, actor, product.after, plan.After)

		product = productChange{ActionUpdated, product.after, Product{ID: product.after.ID, Name: "Rádio", CreatedAt: housetest.Morning}}
		plan = PlanChange{ActionUpdated, plan.After, Plan{
			ID: plan.After.ID, Name: "Anual", Value: 1, Period: civil.Period{Unit: civil.Year, Count: 2}, CreatedAt: housetest.Morning,
		}}
		housetest.Must(t, db.Write(t.Context(), func(tx *sqldb.Tx) error {
			return errors.Join(service.applyProduct(t.Context(), actor.In(tx), &product), service.applyPlan(t.Context(), actor.In(tx), &plan))
		}))
		wantStored(t, service, actor, product.after, plan.After)
	})
}

func wantStored(t *testing.T, service *Service, actor account.Actor, product Product, plan Plan) {
	t.Helper()
	gotProduct, err := service.Product(t.Context(), actor, product.ID)
	if gotProduct.CreatedAt = gotProduct.CreatedAt.UTC(); err != nil || gotProduct != product {
		t.Errorf("wrote %+v, read %+v, %v", product, gotProduct, err)
	}
	gotPlan, err := service.Plan(t.Context(), actor, plan.ID)
	if gotPlan.CreatedAt = gotPlan.CreatedAt.UTC(); err != nil || gotPlan != plan {
		t.Errorf("wrote %+v, read %+v, %v", plan, gotPlan, err)
	}
}

// A change has one audit line and one call of the watchers, with the values of
// before and after; a form that changes nothing has neither.
func TestChangesOfPlansAreAuditedAndWatched(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		service, actor := newRoom(t, db)
		var watched []string
		service.WatchPlans(func(_ context.Context, _ *sqldb.Tx, changed PlanChanges) error {
			for _, change := range changed.List {
				watched = append(watched, fmt.Sprintf("%s %d: %s → %s", change.Action, change.After.ID, change.Before.Value, change.After.Value))
			}
			return nil
		})
		plan, err := service.CreatePlan(t.Context(), actor, PlanDraft{
			Name: input.Some("Mensal"), Value: input.Some(fullPlan().Value), Period: input.Some(fullPlan().Period),
		})
		housetest.Must(t, err)
		for _, draft := range []PlanDraft{{}, {Value: input.Some(plan.Value)}, {Value: input.Some(plan.Value + 100)}} {
			_, err = service.UpdatePlan(t.Context(), actor, plan.ID, draft)
			housetest.Must(t, err)
		}
		if want := []string{"created 1: 0.00 → 35.00", "updated 1: 35.00 → 36.00"}; !slices.Equal(watched, want) {
			t.Errorf("watched %q, want %q", watched, want)
		}
		wantAudit(t, db, actor, "plan", "plan.updated [{value 35.00 36.00}]",
			"plan.created [{active  true} {name  Mensal} {period  1month} {value  35.00}]")
	})
}

func TestChangesOfProductsAreAudited(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		service, actor := newRoom(t, db)
		product, err := service.CreateProduct(t.Context(), actor, ProductDraft{Name: input.Some("Fibra")})
		housetest.Must(t, err)
		for _, draft := range []ProductDraft{{}, {Description: input.Some("300 Mbit/s")}, {Active: input.Some(true)}} {
			_, err = service.UpdateProduct(t.Context(), actor, product.ID, draft)
			housetest.Must(t, err)
		}
		wantAudit(t, db, actor, "product", "product.updated [{description  300 Mbit/s}]", "product.created [{active  true} {name  Fibra}]")
	})
}

// wantAudit compares the audit log of a kind of record, newest first.
func wantAudit(t *testing.T, db *sqldb.DB, actor account.Actor, record string, want ...string) {
	t.Helper()
	lines, _, err := account.New(db, account.Config{}).Audit(t.Context(), actor, account.AuditFilter{Record: record}, input.Page{Number: 1, Size: 50})
	housetest.Must(t, err)
	got := make([]string, len(lines))
	for n, line := range lines {
		got[n] = fmt.Sprint(line.Action, " ", line.Changes)
	}
	if !slices.Equal(got, want) {
		t.Errorf("the audit log has %q, want %q", got, want)
	}
}

func TestDraftOfAGoCallerNeedsANameAndAPeriod(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		service, actor := newRoom(t, db)
		_, err := service.CreatePlan(t.Context(), actor, PlanDraft{ProductID: input.Some[int64](9)})
		wantRefused(t, err, "name", "period", "product_id")
		_, err = service.CreateProduct(t.Context(), actor, ProductDraft{})
		wantRefused(t, err, "name")
	})
}

func wantRefused(t *testing.T, err error, want ...string) {
	t.Helper()
	var got []string
	for field := range fault.FieldsOf(err).All() {
		got = append(got, field)
	}
	if !slices.Equal(got, want) {
		t.Errorf("refused %v (%v), want %v", got, err, want)
	}
}
