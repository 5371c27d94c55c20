package customer

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"carteira/internal/account"
	"carteira/internal/event"
	"carteira/internal/platform/sqldb"
	"carteira/test/kit/sqldbtest"
)

// Killed mutants: expiry recorded for the date before and the date after;
// recorded again when a date comes back; a renewal into the past recorded as a
// new expiry.
func TestADateThatLeavesAndComesBackIsRecordedOnce(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newWorld(t, engine)
		id := world.create(t, `{"name":"Ana","data_de_vencimento":"2026-01-10"}`).ID
		for _, dueOn := range []string{"2026-01-10", "2026-01-05", "2026-01-10", "2027-01-01", "2026-01-10", "2026-01-05", "2026-01-10"} {
			world.update(t, id, fmt.Sprintf(`{"data_de_vencimento":%q}`, dueOn))
			world.expire(t, world.actor)
		}
		if got, want := world.expired(t), []string{"2026-01-10"}; !slices.Equal(got, want) {
			t.Errorf("recorded for %v, want %v", got, want)
		}
	})
}

func TestWhoPaysSixOverdueMonthsOneByOneExpiresOnce(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newWorld(t, engine)
		world.offers(t, world.actor, "1month")
		id := world.create(t, `{"name":"Ana","plan_id":1,"data_de_vencimento":"2025-08-20"}`).ID
		world.expire(t, world.actor)
		for range 6 {
			world.renew(t, id)
			world.expire(t, world.actor)
		}
		if got, want := world.expired(t), []string{"2025-08-20"}; !slices.Equal(got, want) {
			t.Errorf("recorded for %v, want %v", got, want)
		}
		world.clock.Advance(30 * 24 * time.Hour) // the seventh month passes
		world.expire(t, world.actor)
		if got, want := world.expired(t), []string{"2025-08-20", "2026-02-20"}; !slices.Equal(got, want) {
			t.Errorf("recorded for %v, want %v", got, want)
		}
	})
}

// The due date passed, no run has seen it yet, and the renewal leads to another
// past date: the passing is recorded by the renewal, before it.
func TestPassingThatNoRunHasSeenIsRecordedBeforeTheRenewal(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newWorld(t, engine)
		world.offers(t, world.actor, "1month")
		id := world.create(t, `{"name":"Ana","plan_id":1,"data_de_vencimento":"2025-08-20"}`).ID
		world.renew(t, id)
		world.expire(t, world.actor)
		names, err := sqldb.Values[string](t.Context(), world.db, `SELECT name FROM events WHERE company_id = ? ORDER BY id`, world.actor.Company.ID)
		must(t, err)
		want := []string{string(event.CustomerCreated), string(event.CustomerExpired), string(event.CustomerRenewed)}
		if !slices.Equal(names, want) {
			t.Errorf("recorded %v, want %v", names, want)
		}
		if got, want := world.expired(t), []string{"2025-08-20"}; !slices.Equal(got, want) {
			t.Errorf("recorded for %v, want %v", got, want)
		}
	})
}

func TestZoneThatMovesWestAndBackRecordsNothingAgain(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newWorld(t, engine)
		id := world.create(t, `{"name":"Ana","data_de_vencimento":"2026-01-31"}`).ID
		world.clock.Set(time.Date(2026, 2, 1, 3, 30, 0, 0, time.UTC)) // half past midnight in São Paulo
		for _, zone := range []string{"America/Sao_Paulo", "America/Rio_Branco", "America/Sao_Paulo"} {
			actor := world.actor
			var err error
			actor.Company, err = world.accounts.SetCompany(t.Context(), actor, account.ReadCompanyDraft(values("timezone", zone)))
			must(t, err)
			_, err = world.Update(t.Context(), actor, id, ReadChanges(values("name", "Ana of "+zone)))
			must(t, err)
			world.expire(t, actor)
		}
		if got, want := world.expired(t), []string{"2026-01-31"}; !slices.Equal(got, want) {
			t.Errorf("recorded for %v, want %v", got, want)
		}
	})
}

// An import without events records nothing for those who are past their date,
// not even when the date leaves and comes back.
func TestImportedExpiryIsNotRecordedLater(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newWorld(t, engine)
		world.create(t, `{"name":"Bia"}`)
		must(t, world.db.Write(t.Context(), func(tx *sqldb.Tx) error {
			customer, _, err := Draft{}.Customer(tx.Now(), world.actor, catalogOf(t.Context(), tx, world.actor))
			customer.Name, customer.DueOn, customer.OwnDay = "Ana", day("2026-01-10"), 10
			if err != nil {
				return err
			}
			return InsertMany(t.Context(), world.actor.In(tx), []Customer{customer}, true)
		}))
		for _, dueOn := range []string{"2026-01-10", "2027-01-01", "2026-01-10"} {
			world.update(t, 2, fmt.Sprintf(`{"data_de_vencimento":%q}`, dueOn))
			world.expire(t, world.actor)
		}
		if got := world.expired(t); len(got) != 0 {
			t.Errorf("recorded for %v, want nothing", got)
		}
	})
}
