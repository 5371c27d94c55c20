package customer

import (
	"fmt"
	"slices"
	"testing"

	"carteira/internal/account"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/sqldb/sqldbtest"
)

// On 31 January 2026.
func TestRenewalMovesTheDueDateByThePlansPeriod(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		w := newWorld(t, engine)
		periods := []string{"1month", "3months", "1year", "1week", "30days"}
		w.offers(t, w.actor, periods...)
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
			a := w.actor
			a.Company.Settings.RenewFrom = c.from
			id := w.create(t, fmt.Sprintf(`{"name":"Ana","plan_id":%d}`, slices.Index(periods, c.period)+1)).ID
			w.update(t, id, fmt.Sprintf(`{"data_de_vencimento":%q}`, c.due))
			previous := c.due
			for i, want := range c.want {
				r, err := w.Renew(t.Context(), a, id)
				if err != nil || r.DueOn.String() != want || r.Previous.String() != previous {
					t.Errorf("%+v, renewal %d: from %v to %v, %v", c, i+1, r.Previous, r.DueOn, err)
				}
				previous = want
			}
			if found, err := w.Find(t.Context(), a, id); err != nil || found.DueOn.String() != previous {
				t.Errorf("%+v: found %v, %v", c, found.DueOn, err)
			}
		}
	})
}

func TestDateThatIsSentBackKeepsTheOwnDay(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		w := newWorld(t, engine)
		w.offers(t, w.actor, "1month")
		id := w.create(t, `{"name":"Ana","plan_id":1,"data_de_vencimento":"2026-01-31"}`).ID
		w.renew(t, id)
		w.update(t, id, `{"name":"Ana Lima","data_de_vencimento":"2026-02-28"}`)
		if got := w.renew(t, id).DueOn; got != day("2026-03-31") {
			t.Errorf("renewed until %v after a read-back", got)
		}
		w.update(t, id, `{"data_de_vencimento":"2026-04-28"}`) // a day of its own
		if got := w.renew(t, id).DueOn; got != day("2026-05-28") {
			t.Errorf("renewed until %v after another date was set", got)
		}
	})
}

// Weeks make a new day of the month, to which a later plan of months keeps.
func TestOwnDayFollowsRenewalsByDaysAndWeeks(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		w := newWorld(t, engine)
		w.offers(t, w.actor, "1month", "1week")
		renewed := w.create(t, `{"name":"Ana","plan_id":2,"data_de_vencimento":"2026-01-31"}`).ID
		w.renew(t, renewed)
		fresh := w.create(t, `{"name":"Bia","plan_id":2}`).ID
		for _, id := range []int64{renewed, fresh} { // both due on 7 February
			w.update(t, id, `{"plan_id":1}`)
			if got := w.renew(t, id).DueOn; got != day("2026-03-07") {
				t.Errorf("renewed until %v, want a month after 7 February", got)
			}
		}
	})
}

func TestRenewalIsRefusedWithoutAPlanAndPastTheCalendar(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		w := newWorld(t, engine)
		other := w.newCompany(t)
		w.offers(t, w.actor, "1month")
		planless := w.create(t, `{"name":"Ana","data_de_vencimento":"2026-02-10"}`)
		_, err := w.Renew(t.Context(), w.actor, planless.ID)
		wantFields(t, err, "plan_id")
		last := w.create(t, `{"name":"Ana","plan_id":1,"data_de_vencimento":"9999-12-31"}`)
		_, err = w.Renew(t.Context(), w.actor, last.ID)
		wantFields(t, err, "data_de_vencimento")
		_, err = w.Renew(t.Context(), other, last.ID)
		wantNotFound(t, err)
		for _, c := range []Customer{planless, last} {
			if found, err := w.Find(t.Context(), w.actor, c.ID); err != nil || found.DueOn != c.DueOn {
				t.Errorf("due on %v, %v; want %v", found.DueOn, err, c.DueOn)
			}
		}
		if got := len(w.recorded(t)); got != 2 {
			t.Errorf("%d events, want the 2 creations", got)
		}
	})
}

func TestRenewalWithoutADateHasNoPreviousOne(t *testing.T) {
	w := newWorld(t, sqldb.SQLite)
	w.offers(t, w.actor, "1month")
	id := w.create(t, `{"name":"Ana","plan_id":1}`).ID
	w.update(t, id, `{"data_de_vencimento":null}`)
	r, err := w.Renew(t.Context(), w.actor, id)
	if err != nil || r.Previous != (civil.Date{}) || r.DueOn != day("2026-02-28") {
		t.Errorf("from %v to %v, %v", r.Previous, r.DueOn, err)
	}
}
