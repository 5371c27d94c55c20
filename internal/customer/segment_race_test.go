package customer

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"carteira/internal/platform/id"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/sqldb/sqldbtest"
	"carteira/internal/tally"
)

// A transaction that began to write before a segment was marked knows nothing of
// it, and may commit a customer of it at any time: the sealing waits.
func TestSegmentWaitsForWhoBeganBeforeIt(t *testing.T) {
	library := newSegmentRace(t)
	end := library.inTheMiddle(t, func(ctx context.Context, tx *sqldb.Tx) error {
		_, err := insertMany(ctx, tx, library.actor.Company.ID, []Customer{{UUID: id.NewUUID(), Name: "zq late"}})
		return err
	})
	library.populate(t, library.actor, []Customer{{Name: "after him"}})
	for range 3 {
		must(t, library.SealSegments(t.Context()))
	}
	if sealed := library.sealed(t); sealed != 0 {
		t.Errorf("%d segments are sealed", sealed)
	}
	end()
	library.sealAll(t)
	if library.sealed(t) == 0 {
		t.Error("nothing is sealed")
	}
	library.wantFound(t, rand.New(rand.NewPCG(51, 52)), library.actor, 20)
	library.wantHits(t, "zq", 1)
}

// One that begins after that records its change, which is found whether it
// commits before the sealing or after.
func TestSegmentKeepsChangesThatCommitAfterItsSealing(t *testing.T) {
	library := newSegmentRace(t)
	library.steps(t, 2) // marked, and its horizon is set
	end := library.inTheMiddle(t, func(ctx context.Context, tx *sqldb.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE customers SET search = 'zq changed' WHERE company_id = ? AND id = 5`, library.actor.Company.ID)
		if err == nil {
			_, err = tx.Exec(ctx, `DELETE FROM customers WHERE company_id = ? AND id = 6`, library.actor.Company.ID)
		}
		return err
	})
	for library.sealed(t) == 0 { // it waits for transactions of other tests at most
		library.steps(t, 1)
	}
	library.wantHits(t, "zq", 0)
	end()
	library.wantHits(t, "zq", 1)
	library.wantHits(t, "st", smallSearch+200-2)
	library.sealAll(t)
	library.wantHits(t, "zq", 1)
	library.wantHits(t, "st", smallSearch+200-2)
}

// newSegmentRace is a company that is large enough for segments, on PostgreSQL:
// SQLite has one writer.
func newSegmentRace(t *testing.T) library {
	t.Helper()
	library := library{world: newWorld(t, sqldb.Postgres)}
	if sqldbtest.Raced {
		t.Skip("one goroutine, and many rows")
	}
	library.sealer = sealer{size: 600, changes: 2, block: 2, row: 200}
	list := make([]Customer, smallSearch+200)
	for i := range list {
		list[i].Name = fmt.Sprintf("start %04d", i)
	}
	library.populate(t, library.actor, list)
	return library
}

// inTheMiddle runs a transaction up to its commit, for which end is called.
func (l library) inTheMiddle(t *testing.T, do func(context.Context, *sqldb.Tx) error) (end func()) {
	t.Helper()
	begun, commit, over := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		over <- l.db.Write(context.WithoutCancel(t.Context()), func(tx *sqldb.Tx) error {
			err := do(t.Context(), tx)
			close(begun)
			<-commit
			return err
		})
	}()
	<-begun
	return func() {
		close(commit)
		must(t, <-over)
	}
}

// steps does single steps of the sealing.
func (l library) steps(t *testing.T, count int) {
	t.Helper()
	for range count {
		must(t, l.db.Write(t.Context(), func(tx *sqldb.Tx) error {
			_, err := l.sealer.step(t.Context(), tx, l.actor.Company.ID)
			return err
		}))
	}
}

func (l library) wantHits(t *testing.T, search string, want int64) {
	t.Helper()
	_, total, err := l.List(t.Context(), l.actor, Filter{Search: search}, firstPage)
	if err != nil || total != want {
		t.Errorf("%q finds %d, %v; want %d", search, total, err, want)
	}
}

// A segment that is sealed anew is moved to its block again, over what the block had of
// it: at every step of the way a search finds what there is.
func TestSegmentIsSearchedWhileItIsMovedToItsBlockAgain(t *testing.T) {
	library := library{world: newWorld(t, sqldb.SQLite)}
	library.offers(t, library.actor, "1month", "1week", "1year")
	today := library.actor.Today(noon)
	library.populate(t, library.actor, crowd(rand.New(rand.NewPCG(103, 104)), 2400, 0, today))
	library.sealer = sealer{size: 300, changes: 300, block: 4, row: 200}
	library.sealAll(t)
	company, steps := library.actor.Company.ID, 0
	library.wantMerged(t)
	for _, id := range []int64{10, 310, 20, 2000} { // the second and third while the one before is on its way
		library.update(t, id, `{"name":"zq mariana"}`)
		write(t, library.db, func(ctx context.Context, tx *sqldb.Tx) error { return sealAround(ctx, tx, company, id) })
		all, left := library.model(t, library.actor), true
		for step := 0; left && (id == 20 || id == 2000 || step < 12); step++ {
			for _, term := range []string{"zq", "zq mari", "ana", "mariana", "alvaro", "551198", "98765"} {
				library.counts, library.spreads = tally.Cache[int64]{}, tally.Cache[spread]{}
				want := int64(len(all.match(Filter{Search: term}, today)))
				if got, err := library.Count(t.Context(), library.actor, Filter{Search: term}); err != nil || got != want {
					t.Fatalf("after %d steps %d have %q, want %d: %v", step, got, term, want, err)
				}
			}
			write(t, library.db, func(ctx context.Context, tx *sqldb.Tx) error {
				block, err := blockAround(ctx, tx, company, id)
				if err == nil {
					left, err = library.sealer.moveKeys(ctx, tx, company, block, 30)
				}
				steps++
				return err
			})
		}
	}
	if steps < 20 {
		t.Errorf("%d steps are too few for what this test is about", steps)
	}
	own, err := sqldb.Value[int64](t.Context(), library.db, `SELECT count(*) FROM search_grams WHERE company_id = ? AND last_id > 0`, company)
	if err != nil || own != 0 {
		t.Errorf("%d rows are in no block, %v", own, err)
	}
}

func write(t *testing.T, db *sqldb.DB, do func(ctx context.Context, tx *sqldb.Tx) error) {
	t.Helper()
	must(t, db.Write(t.Context(), func(tx *sqldb.Tx) error { return do(t.Context(), tx) }))
}
