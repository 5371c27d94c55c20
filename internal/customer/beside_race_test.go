package customer

import (
	"fmt"
	"testing"

	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/sqldb/sqldbtest"
	"carteira/internal/tally"
)

// What others change while a search beside filters is read neither stays in a total
// nor makes a filter look as if it left everybody.
func TestSearchBesideFiltersWhileOthersWrite(t *testing.T) {
	if sqldbtest.Raced {
		t.Skip("many rows")
	}
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newBesideWorld(t, engine)
		t.Run("a total is not kept from before a change", world.totalOfBefore)
		t.Run("both sides are counted at one moment", world.sidesAtOnce)
		t.Run("segments that are gone leave the search to the index", world.withoutSegments)
	})
}

func (l library) totalOfBefore(t *testing.T) {
	today := l.actor.Today(noon)
	for i, read := range []func(*beside) (bool, error){
		func(b *beside) (bool, error) { return b.intersect(t.Context()) },
		func(b *beside) (bool, error) { return b.read(t.Context()) },
	} {
		filter := Filter{Search: "ana", Status: Active}
		b, err := l.beside(t.Context(), l.listing(l.actor, filter))
		must(t, err)
		ok, err := read(b)
		if must(t, err); !ok {
			t.Fatal("too little is sealed")
		}
		l.update(t, l.model(t, l.actor).match(filter, today)[3].ID, fmt.Sprintf(`{"name":"Rui %d"}`, i))
		_, err = l.countBeside(t.Context(), b)
		must(t, err)
		count, err := l.Count(t.Context(), l.actor, filter)
		must(t, err)
		if want := len(l.model(t, l.actor).match(filter, today)); count != int64(want) {
			t.Errorf("%d customers after a change, want %d", count, want)
		}
	}
}

func (l library) sidesAtOnce(t *testing.T) {
	listing := l.listing(l.actor, Filter{Search: "ana", PlanID: 1})
	b, err := l.beside(t.Context(), listing)
	must(t, err)
	others := b.company - b.left
	done, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		for {
			select {
			case <-done:
				ended <- nil
				return
			default:
			}
			made, err := l.Create(t.Context(), l.actor, ReadNew(form(t, `{"name":"Ana Breve","plan_id":1}`)))
			if err == nil {
				err = l.Delete(t.Context(), l.actor, made.ID)
			}
			if err != nil {
				ended <- err
				return
			}
		}
	}()
	for range 1000 {
		b, err := l.beside(t.Context(), listing)
		must(t, err)
		if got := b.company - b.left; got != others {
			t.Errorf("%d customers have another plan, want %d", got, others)
			break
		}
	}
	close(done)
	must(t, <-ended)
	must(t, tally.Compact(t.Context(), l.db))
}

func (l library) withoutSegments(t *testing.T) {
	listing := l.listing(l.actor, Filter{Search: "ana"})
	company, err := counter.Total(t.Context(), l.db, l.actor.Company.ID)
	must(t, err)
	ids, ok, err := l.idsOf(t.Context(), listing, company)
	if must(t, err); !ok || len(ids) <= mostKept {
		t.Fatalf("%d customers are too few for what this test is about", len(ids))
	}
	l.exec(t, `UPDATE search_segments SET sealed = ? WHERE company_id = ?`, false, l.actor.Company.ID)
	if _, ok, err := l.idsOf(t.Context(), listing, company); ok || err != nil {
		t.Errorf("found %v without segments: %v", ok, err)
	}
}
