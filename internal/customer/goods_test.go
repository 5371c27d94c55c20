package customer

import (
	"errors"
	"fmt"
	"testing"

	"carteira/internal/catalog"
	"carteira/internal/platform/input"
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
				alone, err := world.Find(t.Context(), world.actor, listed.ID)
				must(t, err)
				alone.expiry, alone.recurring, alone.listed = expiry{}, recurring{}, true // lists do not read the books
				if listed != alone {
					t.Errorf("listed %+v, read %+v", listed, alone)
				}
			}
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
