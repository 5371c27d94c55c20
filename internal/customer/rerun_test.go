package customer

import (
	"errors"
	"sync"
	"testing"
	"testing/synctest"

	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
)

var errGivenUp = errors.New("given up")

// A group commit that is taken back runs everybody again. T1 inserts joao and
// gives up when it runs again; T2 creates joao and is refused in the first run;
// T3 fails after it has written, so that the group is taken back. T2 must find
// the login free in its second run.
func TestRefusalOfARunThatWasTakenBackIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		world := newWorld(t, sqldb.SQLite)
		var waiting sync.WaitGroup
		var refused, failed error
		runs := 0
		first := world.db.Write(t.Context(), func(tx *sqldb.Tx) error {
			if runs++; runs > 1 {
				return errGivenUp
			}
			waiting.Go(func() {
				_, refused = world.Create(t.Context(), world.actor, ReadNew(form(t, `{"name":"João","usuario":"joao"}`)))
			})
			synctest.Wait()
			waiting.Go(func() {
				failed = world.db.Write(t.Context(), func(tx *sqldb.Tx) error {
					return errors.Join(world.add(t, tx, "x"), errGivenUp)
				})
			})
			synctest.Wait()
			return world.add(t, tx, "joao")
		})
		waiting.Wait()
		if !errors.Is(first, errGivenUp) || !errors.Is(failed, errGivenUp) || runs != 2 {
			t.Fatalf("the group was not taken back: %v, %v, %d runs", first, failed, runs)
		}
		if refused != nil {
			t.Errorf("nobody has the login, but: %v", refused)
		}
	})
}

func (w *world) add(t *testing.T, tx *sqldb.Tx, usuario string) error {
	t.Helper()
	draft := Draft{Name: input.Some("Joana"), Usuario: input.Some(usuario)}
	made, _, err := draft.Customer(tx.Now(), w.actor, catalogOf(t.Context(), tx, w.actor))
	return errors.Join(err, w.apply(t.Context(), w.actor.In(tx), &Change{Action: ActionCreated, After: made}))
}
