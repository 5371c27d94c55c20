package customer

import (
	"errors"
	"fmt"
	"testing"

	"carteira/internal/catalog"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/money"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/sqldb/sqldbtest"
)

// A company may have more plans and products than are read with a page.
func TestAListShowsEachCustomerAsItIsReadAlone(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newWorld(t, engine)
		world.create(t, `{"name":"Sem plano"}`)
		for n := range mostGoods + 5 {
			product, err := world.catalog.CreateProduct(t.Context(), world.actor,
				catalog.ReadNewProduct(values("name", fmt.Sprint("Produto ", n))))
			must(t, err)
			plan, err := world.catalog.CreatePlan(t.Context(), world.actor, catalog.ReadNewPlan(values(
				"name", fmt.Sprint("Plano ", n), "value", fmt.Sprintf("%d.00", 10+n), "period", "2week")))
			must(t, err)
			world.create(t, fmt.Sprintf(`{"name":"Ana %d","plan_id":%d,"product_id":%d}`, n, plan.ID, product.ID))
		}
		for _, page := range []input.Page{{Number: 1, Size: 50}, {Number: 2, Size: 50}, {Number: 1, Size: 100}} {
			list, total, err := world.List(t.Context(), world.actor, Filter{}, page)
			must(t, err)
			if want := int64(mostGoods + 6); total != want || len(list) == 0 {
				t.Fatalf("%d of %d, want %d", len(list), total, want)
			}
			for _, listed := range list {
				alone, err := byID(t.Context(), world.db, world.actor.Company.ID, listed.ID)
				must(t, err)
				for range 2 { // and once more, with the goods that are remembered
					ctx, end := world.db.Snapshot(t.Context())
					found, err := world.Find(ctx, world.actor, listed.ID)
					end()
					if err != nil || found != alone {
						t.Errorf("found %+v, %v, read %+v", found, err, alone)
					}
				}
				alone.expiry, alone.recurring, alone.listed = expiry{}, recurring{}, true // lists do not read the books
				if listed != alone {
					t.Errorf("listed %+v, read %+v", listed, alone)
				}
			}
		}
	})
}

// What is remembered of goods ends with every change of them, also of another process.
func TestACustomerIsFoundWithItsGoodsAsTheyAreNow(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		url := sqldbtest.URL(t, engine)
		world := openWorld(t, url)
		world.offers(t, world.actor, "1month", "2week")
		ana := world.create(t, `{"name":"Ana","plan_id":1,"product_id":1}`).ID
		elsewhere := catalog.New(sqldbtest.Open(t, url, sqldbtest.WithClock(world.clock)))
		wantFound := func(plan string, cents money.Cents, product string) {
			t.Helper()
			for range 3 {
				ctx, end := world.db.Snapshot(t.Context())
				found, err := world.Find(ctx, world.actor, ana)
				end()
				if err != nil || found.Plan.Name != plan || found.Plan.Value != cents || found.Product.Name != product {
					t.Errorf("found %+v, %+v, %v", found.Plan, found.Product, err)
				}
			}
		}
		wantFound("Plano 1month", 35_00, "Internet 300")
		_, err := elsewhere.UpdatePlan(t.Context(), world.actor, 1, catalog.ReadPlanChanges(values("name", "Fibra", "value", "40.00")))
		must(t, err)
		wantFound("Fibra", 40_00, "Internet 300")
		_, err = elsewhere.UpdateProduct(t.Context(), world.actor, 1, catalog.ReadProductChanges(values("name", "Internet 600")))
		must(t, err)
		wantFound("Fibra", 40_00, "Internet 600")
		world.update(t, ana, `{"plan_id":2,"product_id":null}`)
		wantFound("Plano 2week", 35_00, "")
		must(t, world.Delete(t.Context(), world.actor, ana))
		ctx, end := world.db.Snapshot(t.Context())
		defer end()
		if _, err := world.Find(ctx, world.actor, ana); fault.KindOf(err) != fault.KindNotFound {
			t.Errorf("found after its deletion: %v", err)
		}
	})
}

func TestARecordOfAListIsRefusedAsAChange(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newWorld(t, engine)
		world.create(t, `{"name":"Ana"}`)
		list, _, err := world.List(t.Context(), world.actor, Filter{}, firstPage)
		must(t, err)
		for _, action := range []Action{ActionUpdated, ActionRenewed, ActionExpired, ActionDeleted, ActionAutopay} {
			err := world.db.Write(t.Context(), func(tx *sqldb.Tx) error {
				return world.apply(t.Context(), tx, world.actor, &Change{Action: action, Before: list[0], After: list[0]})
			})
			if !errors.Is(err, errListed) {
				t.Errorf("%s: %v", action, err)
			}
		}
	})
}

// Goods that are deleted after a page was read, and before its goods are, are nobody's.
func TestAListShowsNoGoodsThatAreDeletedMeanwhile(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newWorld(t, engine)
		list := []Customer{{Plan: Plan{ID: 1 << 40}, Product: Product{ID: 1 << 40}}}
		must(t, goodsBeside(world.actor.Company.ID).Complete(t.Context(), world.db, list))
		if list[0] != (Customer{}) {
			t.Errorf("%+v", list[0])
		}
	})
}
