package customer

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"carteira/internal/event"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/test/kit/sqldbtest"
)

var firstPage = input.Page{Number: 1, Size: 200}

// atOnce calls f n times in parallel, in turn on two processes.
func atOnce(t *testing.T, n int, services []*Service, fn func(service *Service, i int) error) (failed []error) {
	t.Helper()
	errs := make([]error, n)
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			<-start
			errs[i] = fn(services[i%len(services)], i)
		})
	}
	close(start)
	wg.Wait()
	return slices.DeleteFunc(errs, func(err error) bool { return err == nil })
}

func newRace(t *testing.T, engine sqldb.Engine) (*world, []*Service) {
	t.Helper()
	url := sqldbtest.URL(t, engine)
	world := openWorld(t, url)
	return world, []*Service{world.Service, world.second(t, url)}
}

func TestParallelRenewalsAreAPeriodEach(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world, both := newRace(t, engine)
		world.offers(t, world.actor, "1month")
		id := world.create(t, `{"name":"Ana","plan_id":1,"data_de_vencimento":"2026-01-31"}`).ID
		var mu sync.Mutex
		var dates []string
		for _, err := range atOnce(t, 20, both, func(service *Service, _ int) error {
			renewal, err := service.Renew(t.Context(), world.actor, id)
			mu.Lock()
			defer mu.Unlock()
			dates = append(dates, renewal.Previous.String()+" to "+renewal.DueOn.String())
			return err
		}) {
			t.Error(err)
		}
		slices.Sort(dates)
		if dates = slices.Compact(dates); len(dates) != 20 || dates[0] != "2026-01-31 to 2026-02-28" || dates[19] != "2027-08-31 to 2027-09-30" {
			t.Errorf("renewals %q", dates)
		}
		renewed := slices.DeleteFunc(world.recorded(t), func(name event.Name) bool { return name != event.CustomerRenewed })
		if len(renewed) != 20 {
			t.Errorf("%d events, want 20", len(renewed))
		}
	})
}

func TestParallelCreationsOfOneLoginLeaveOne(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world, both := newRace(t, engine)
		lost := atOnce(t, 20, both, func(service *Service, i int) error {
			login := []string{"ana", "Ana", "ANA"}[i%3]
			_, err := service.Create(t.Context(), world.actor, ReadNew(form(t, fmt.Sprintf(`{"name":"Ana %d","usuario":%q}`, i, login))))
			return err
		})
		wantOneWinner(t, world, lost, 19, "usuario")
	})
}

func TestParallelCreationsOfOneKeyLeaveOne(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world, both := newRace(t, engine)
		lost := atOnce(t, 20, both, func(service *Service, i int) error {
			_, err := service.Create(t.Context(), world.actor, ReadNew(form(t, fmt.Sprintf(`{"name":"Ana","usuario":"ana%d","external_id":"7"}`, i))))
			return err
		})
		wantOneWinner(t, world, lost, 19, "external_id")
	})
}

// wantOneWinner wants one customer, and an error for every loser that names the
// field.
func wantOneWinner(t *testing.T, world *world, lost []error, losers int, field string) {
	t.Helper()
	if len(lost) != losers {
		t.Errorf("%d lost, want %d", len(lost), losers)
	}
	for _, err := range lost {
		wantFields(t, err, field)
	}
	list, total, err := world.List(t.Context(), world.actor, Filter{}, firstPage)
	if err != nil || total != 1 || len(list) != 1 {
		t.Errorf("%d customers of %d, %v; want one", len(list), total, err)
	}
	if got := len(world.recorded(t)); got != 1 {
		t.Errorf("%d events, want one", got)
	}
}

func TestParallelUpdatesToOneLoginLeaveOne(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world, both := newRace(t, engine)
		const n = 12
		for i := range n {
			world.create(t, fmt.Sprintf(`{"name":"Ana","usuario":"ana%d"}`, i))
		}
		lost := atOnce(t, n, both, func(service *Service, i int) error {
			_, err := service.Update(t.Context(), world.actor, int64(i+1), ReadChanges(form(t, `{"usuario":"Ana","external_id":"7"}`)))
			return err
		})
		if len(lost) != n-1 {
			t.Errorf("%d of %d lost", len(lost), n)
		}
		for _, err := range lost {
			wantFields(t, err, "usuario", "external_id")
		}
		if _, total, err := world.List(t.Context(), world.actor, Filter{ExternalID: "7"}, firstPage); err != nil || total != 1 {
			t.Errorf("%d have the key, %v; want one", total, err)
		}
		if got := len(world.recorded(t)); got != n+1 {
			t.Errorf("%d events, want the creations and one change", got)
		}
	})
}

func TestParallelUpdatesOfOneCustomerKeepEachOther(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world, both := newRace(t, engine)
		id := world.create(t, `{"name":"Ana"}`).ID
		changes := []string{`{"name":"Bia"}`, `{"email":"b@example.com"}`, `{"usuario":"bia"}`, `{"notes":"n"}`, `{"external_id":"7"}`}
		for _, err := range atOnce(t, len(changes), both, func(service *Service, i int) error {
			_, err := service.Update(t.Context(), world.actor, id, ReadChanges(form(t, changes[i])))
			return err
		}) {
			t.Error(err)
		}
		got, err := world.Find(t.Context(), world.actor, id)
		if err != nil || got.Name != "Bia" || got.Email != "b@example.com" || got.Usuario != "bia" || got.Notes != "n" || got.ExternalID != "7" {
			t.Errorf("customer %+v, %v", got, err)
		}
	})
}

func TestParallelDeletionsTellOfOne(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world, both := newRace(t, engine)
		id := world.create(t, `{"name":"Ana"}`).ID
		lost := atOnce(t, 10, both, func(service *Service, _ int) error { return service.Delete(t.Context(), world.actor, id) })
		for _, err := range lost {
			wantNotFound(t, err)
		}
		if got := world.recorded(t); len(lost) != 9 || len(got) != 2 {
			t.Errorf("%d lost and events %v; want 9, a creation and a deletion", len(lost), got)
		}
		if _, total, err := world.List(t.Context(), world.actor, Filter{}, firstPage); err != nil || total != 0 {
			t.Errorf("%d customers, %v; want none", total, err)
		}
	})
}
