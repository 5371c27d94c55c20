package customer

import (
	"fmt"
	"slices"
	"testing"

	"carteira/internal/account"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/sqldb"
	"carteira/test/kit/sqldbtest"
)

// On 31 January 2026.
func TestRenewalMovesTheDueDateByThePlansPeriod(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newWorld(t, engine)
		periods := []string{"1month", "3months", "1year", "1week", "30days"}
		world.offers(t, world.actor, periods...)
		for _, c := range []struct {
			period, due string
			from        account.RenewFrom
			want        []string
		}{
			{"1month", "2026-02-10", account.FromDueDate, []string{"2026-03-10", "2026-04-10"}},
			{"1month", "2026-01-31", account.FromDueDate, []string{"2026-02-28", "2026-03-31", "2026-04-30", "2026-05-31"}},
			{"1month", "2025-03-30", account.FromDueDate, []string{"2025-04-30", "2025-05-30"}}, // expired, and still is
			{"3months", "2025-11-30", account.FromDueDate, []string{"2026-02-28", "2026-05-30"}},
			{"1year", "2024-02-29", account.FromDueDate, []string{"2025-02-28", "2026-02-28", "2027-02-28", "2028-02-29"}},
			{"1week", "2026-01-31", account.FromDueDate, []string{"2026-02-07", "2026-02-14"}},
			{"30days", "2026-01-31", account.FromDueDate, []string{"2026-03-02", "2026-04-01"}},

			{"1month", "2025-03-10", account.FromToday, []string{"2026-02-28", "2026-03-31"}}, // expired: today has the 31st
			{"1month", "2026-01-30", account.FromToday, []string{"2026-02-28", "2026-03-31"}},
			{"1month", "2026-01-31", account.FromToday, []string{"2026-02-28", "2026-03-31"}},
			{"1month", "2026-02-10", account.FromToday, []string{"2026-03-10"}}, // not expired
			{"1week", "2025-12-01", account.FromToday, []string{"2026-02-07", "2026-02-14"}},

			{"1month", "", account.FromDueDate, []string{"2026-02-28", "2026-03-31"}}, // counted from today
			{"1week", "", account.FromToday, []string{"2026-02-07"}},
		} {
			actor := world.actor
			actor.Company.Settings.RenewFrom = c.from
			id := world.create(t, fmt.Sprintf(`{"name":"Ana","plan_id":%d}`, slices.Index(periods, c.period)+1)).ID
			world.update(t, id, fmt.Sprintf(`{"data_de_vencimento":%q}`, c.due))
			previous := c.due
			for i, want := range c.want {
				renewal, err := world.Renew(t.Context(), actor, id)
				if err != nil || renewal.DueOn.String() != want || renewal.Previous.String() != previous {
					t.Errorf("%+v, renewal %d: from %v to %v, %v", c, i+1, renewal.Previous, renewal.DueOn, err)
				}
				previous = want
			}
			if found, err := world.Find(t.Context(), actor, id); err != nil || found.DueOn.String() != previous {
				t.Errorf("%+v: found %v, %v", c, found.DueOn, err)
			}
		}
	})
}

func TestDateThatIsSentBackKeepsTheOwnDay(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newWorld(t, engine)
		world.offers(t, world.actor, "1month")
		id := world.create(t, `{"name":"Ana","plan_id":1,"data_de_vencimento":"2026-01-31"}`).ID
		world.renew(t, id)
		world.update(t, id, `{"name":"Ana Lima","data_de_vencimento":"2026-02-28"}`)
		if got := world.renew(t, id).DueOn; got != day("2026-03-31") {
			t.Errorf("renewed until %v after a read-back", got)
		}
		world.update(t, id, `{"data_de_vencimento":"2026-04-28"}`) // a day of its own
		if got := world.renew(t, id).DueOn; got != day("2026-05-28") {
			t.Errorf("renewed until %v after another date was set", got)
		}
	})
}

// Weeks make a new day of the month, to which a later plan of months keeps.
func TestOwnDayFollowsRenewalsByDaysAndWeeks(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newWorld(t, engine)
		world.offers(t, world.actor, "1month", "1week")
		renewed := world.create(t, `{"name":"Ana","plan_id":2,"data_de_vencimento":"2026-01-31"}`).ID
		world.renew(t, renewed)
		fresh := world.create(t, `{"name":"Bia","plan_id":2}`).ID
		for _, id := range []int64{renewed, fresh} { // both due on 7 February
			world.update(t, id, `{"plan_id":1}`)
			if got := world.renew(t, id).DueOn; got != day("2026-03-07") {
				t.Errorf("renewed until %v, want a month after 7 February", got)
			}
		}
	})
}

func TestRenewalIsRefusedWithoutAPlanAndPastTheCalendar(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newWorld(t, engine)
		other := world.newCompany(t)
		world.offers(t, world.actor, "1month")
		planless := world.create(t, `{"name":"Ana","data_de_vencimento":"2026-02-10"}`)
		_, err := world.Renew(t.Context(), world.actor, planless.ID)
		wantFields(t, err, "plan_id")
		last := world.create(t, `{"name":"Ana","plan_id":1,"data_de_vencimento":"9999-12-31"}`)
		_, err = world.Renew(t.Context(), world.actor, last.ID)
		wantFields(t, err, "data_de_vencimento")
		_, err = world.Renew(t.Context(), other, last.ID)
		wantNotFound(t, err)
		for _, customer := range []Customer{planless, last} {
			if found, err := world.Find(t.Context(), world.actor, customer.ID); err != nil || found.DueOn != customer.DueOn {
				t.Errorf("due on %v, %v; want %v", found.DueOn, err, customer.DueOn)
			}
		}
		if got := len(world.recorded(t)); got != 2 {
			t.Errorf("%d events, want the 2 creations", got)
		}
	})
}

func TestRenewalWithoutADateHasNoPreviousOne(t *testing.T) {
	world := newWorld(t, sqldb.SQLite)
	world.offers(t, world.actor, "1month")
	id := world.create(t, `{"name":"Ana","plan_id":1}`).ID
	world.update(t, id, `{"data_de_vencimento":null}`)
	renewal, err := world.Renew(t.Context(), world.actor, id)
	if err != nil || renewal.Previous != (civil.Date{}) || renewal.DueOn != day("2026-02-28") {
		t.Errorf("from %v to %v, %v", renewal.Previous, renewal.DueOn, err)
	}
}
