package customer

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"carteira/internal/account"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/sqldb"
	"carteira/internal/tally"
	"carteira/test/kit/sqldbtest"
)

// Whatever several people do at once, on two processes and while counts are
// being folded: every count is what counting the rows gives.
func TestCountsAreExactWhateverHappens(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world, both := newRace(t, engine)
		world.offers(t, world.actor, "1month", "1week", "1year")
		other := world.newCompany(t)
		world.offers(t, other, "1month", "1week", "1year")
		companies := []account.Actor{world.actor, other}
		for round := range 3 {
			var wg sync.WaitGroup
			for worker := range uint64(4) {
				wg.Go(func() {
					random := rand.New(rand.NewPCG(uint64(round), worker))
					for range 25 {
						disturb(t, random, both[random.IntN(2)], companies)
					}
				})
			}
			done := make(chan struct{})
			go func() { wg.Wait(); close(done) }()
			world.wantTotalAlwaysTrue(t, done)
			for _, service := range both {
				for i, company := range companies {
					world.wantCounts(t, service, company, int64(3*i), int64(i))
				}
			}
		}
		must(t, tally.Compact(t.Context(), world.db))
		for i, company := range companies {
			world.wantCounts(t, both[1], company, int64(3*i), int64(i))
		}
		if left, err := sqldb.Value[int64](t.Context(), world.db, `SELECT count(*) FROM tally_deltas`); err != nil || left != 0 {
			t.Errorf("%d deltas are left after the last fold, %v", left, err)
		}
	})
}

// disturb does something at random.
func disturb(t *testing.T, random *rand.Rand, service *Service, companies []account.Actor) {
	t.Helper()
	company := random.IntN(2)
	actor, ctx := companies[company], t.Context()
	id := 1 + random.Int64N(120) // perhaps unused, perhaps the other company's
	body := fmt.Sprintf(`{"name":"Ana %d","plan_id":%d,"product_id":%s,"data_de_vencimento":"2026-%02d-%02d"}`, random.IntN(20),
		3*company+1+random.IntN(3), []string{`""`, fmt.Sprint(company + 1)}[random.IntN(2)], 1+random.IntN(2), 1+random.IntN(28))
	var err error
	switch what := random.IntN(20); {
	case what < 8:
		_, err = service.Create(ctx, actor, ReadNew(form(t, body)))
	case what < 12:
		_, err = service.Update(ctx, actor, id, ReadChanges(form(t, body)))
	case what < 13:
		_, err = service.Update(ctx, actor, id, ReadChanges(form(t, `{"plan_id":null,"data_de_vencimento":null}`)))
	case what < 15:
		_, err = service.Renew(ctx, actor, id)
	case what < 17:
		err = service.Delete(ctx, actor, id)
	case what < 18:
		err = tally.Compact(ctx, service.db)
	default: // fills the cache of counts
		_, _, err = service.List(ctx, actor, Filter{Search: "ana"}, firstPage)
	}
	if kind := fault.KindOf(err); err != nil && kind != fault.KindNotFound && kind != fault.KindInvalid {
		t.Error(err)
	}
}

// wantTotalAlwaysTrue looks again and again until done, each time at all of it
// in one statement.
func (w *world) wantTotalAlwaysTrue(t *testing.T, done <-chan struct{}) {
	t.Helper()
	for over := false; !over; {
		select {
		case <-done:
			over = true
		default:
		}
		off, err := sqldb.Value[int64](context.WithoutCancel(t.Context()), w.db, `
			SELECT COALESCE((SELECT n FROM tally_totals WHERE company_id = 1 AND book = 'customers'), 0)
				+ COALESCE((SELECT CAST(SUM(n) AS BIGINT) FROM tally_deltas WHERE company_id = 1 AND book = 'customers'), 0)
				- (SELECT count(*) FROM customers WHERE company_id = 1)`)
		if err != nil || off != 0 {
			t.Errorf("the total is off by %d, %v", off, err)
		}
	}
}

// wantCounts compares every count of a company with its rows. Its plans follow
// on plansBefore, its product on productsBefore.
func (w *world) wantCounts(t *testing.T, service *Service, actor account.Actor, plansBefore, productsBefore int64) {
	t.Helper()
	model, today := w.model(t, actor), actor.Today(noon)
	if len(model) < 10 {
		t.Fatalf("%d customers prove little", len(model))
	}
	for _, filter := range []Filter{
		{},
		{Status: Active},
		{Status: DueToday},
		{Status: Expired},
		{PlanID: plansBefore + 1},
		{PlanID: plansBefore + 2, Status: Active},
		{ProductID: productsBefore + 1},
		{DueFrom: today.AddDays(-10), DueTo: today.AddDays(10)},
		{DueFrom: today, ProductID: productsBefore + 1},
		{DueTo: today},
		{Search: "ana"},
		{Search: "ana 1", Status: Expired},
	} {
		_, total, err := service.List(t.Context(), actor, filter, firstPage)
		if want := int64(len(model.match(filter, today))); err != nil || total != want {
			t.Errorf("%+v: %d, %v; want %d", filter, total, err, want)
		}
	}
	plans, products := []int64{plansBefore + 1, plansBefore + 2, plansBefore + 3, 99}, []int64{productsBefore + 1}
	byPlan, err := service.CountByPlan(t.Context(), actor, plans)
	must(t, err)
	for _, id := range plans {
		if got, want := byPlan[id].N, int64(len(model.match(Filter{PlanID: id}, today))); got != want {
			t.Errorf("plan %d has %d, want %d", id, got, want)
		}
	}
	byProduct, err := service.CountByProduct(t.Context(), actor, products)
	must(t, err)
	for _, id := range products {
		if got, want := byProduct[id].N, int64(len(model.match(Filter{ProductID: id}, today))); got != want {
			t.Errorf("product %d has %d, want %d", id, got, want)
		}
	}
}

// A search is counted once, and again after any change.
func TestSearchIsCountedAnewAfterEveryChange(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world, both := newRace(t, engine)
		world.offers(t, world.actor, "1month")
		want := func(n int64) {
			t.Helper()
			for range 2 {
				for _, service := range both {
					if _, got, err := service.List(t.Context(), world.actor, Filter{Search: "ana"}, firstPage); err != nil || got != n {
						t.Errorf("%d found, %v; want %d", got, err, n)
					}
				}
			}
		}
		want(0)
		id := world.create(t, `{"name":"Ana"}`).ID
		want(1)
		world.create(t, `{"name":"Mariana"}`)
		want(2)
		must(t, tally.Compact(t.Context(), world.db))
		want(2)
		world.update(t, id, `{"name":"Bia"}`) // moves no customer from one count to another
		want(1)
		world.update(t, id, `{"usuario":"ana"}`)
		want(2)
		must(t, tally.Compact(t.Context(), world.db))
		must(t, world.Delete(t.Context(), world.actor, id))
		want(1)
	})
}
