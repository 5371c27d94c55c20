package billing

import (
	"fmt"
	"testing"
	"time"

	"carteira/internal/platform/sqldb"
	"carteira/internal/tally"
	"carteira/test/kit/sqldbtest"
)

// monthEnds are the last days of the months from January 2027 to January 2029,
// with February of the leap year 2028 among them.
var monthEnds = []string{
	"2027-01-31", "2027-02-28", "2027-03-31", "2027-04-30", "2027-05-31", "2027-06-30",
	"2027-07-31", "2027-08-31", "2027-09-30", "2027-10-31", "2027-11-30", "2027-12-31",
	"2028-01-31", "2028-02-29", "2028-03-31", "2028-04-30", "2028-05-31", "2028-06-30",
	"2028-07-31", "2028-08-31", "2028-09-30", "2028-10-31", "2028-11-30", "2028-12-31",
	"2029-01-31",
}

// A subscription as it is lived: the invoice comes ahead of the due date, is
// paid, the payment renews, and the next one comes in its time.
func TestSubscriptionKeepsItsDayOverTheYears(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		for _, c := range []struct {
			period string
			due    []string
		}{
			{"1month", monthEnds},
			{"1month", []string{"2027-01-30", "2027-02-28", "2027-03-30", "2027-04-30", "2027-05-30"}},
			{"1month", []string{"2027-12-29", "2028-01-29", "2028-02-29", "2028-03-29"}},
			{"3months", []string{"2027-11-30", "2028-02-29", "2028-05-30", "2028-08-30"}},
			{"1year", []string{"2028-02-29", "2029-02-28", "2030-02-28", "2031-02-28", "2032-02-29", "2033-02-28"}},
			{"1week", []string{"2027-12-20", "2027-12-27", "2028-01-03", "2028-01-10"}},
			{"1day", []string{"2028-02-27", "2028-02-28", "2028-02-29", "2028-03-01", "2028-03-02"}},
			{"30days", []string{"2027-01-31", "2027-03-02", "2027-04-01"}},
		} {
			world := newWorld(t, engine)
			world.plan(t, c.period, "35.00")
			world.live(t, c.period, c.due)
		}
	})
}

func (w *world) live(t *testing.T, period string, due []string) {
	t.Helper()
	id := w.customer(t, 1, due[0]).ID
	for n := range due[1:] {
		w.clock.Set(day(due[n]).Start(w.actor.Company.Zone).Add(10 * time.Hour)) // paid on the day
		w.dayWork(t)
		w.wantDue(t, id, due[:n+1]...)
		out := w.set(t, w.invoices(t, id)[n].ID, Paid)
		if got := w.dueOn(t, id); got != due[n+1] || !out.Renewed {
			t.Fatalf("%s, payment %d: due on %s, want %s", period, n+1, got, due[n+1])
		}
		lead := w.actor.Company.Settings.LeadDays
		if day(due[n+1]).Sub(day(due[n])) > lead {
			w.wantNothingToIssue(t)
		}
	}
	w.clock.Set(day(due[len(due)-1]).Start(w.actor.Company.Zone))
	w.dayWork(t)
	w.wantDue(t, id, due...)
	w.wantTrueBooks(t)
	if expired := texts(t, w.db, `SELECT body FROM events WHERE name = 'customer.expired'`); len(expired) > 0 {
		t.Errorf("%s: a customer who pays on the day expired: %v", period, expired)
	}
}

// Amounts of the greatest size are counted to the cent.
func TestGreatAmountsAddUpToTheCent(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newWorld(t, engine)
		world.plan(t, "1month", "99999999.99")
		world.plan(t, "1month", "0.01")
		for range 7 {
			world.set(t, world.only(t, world.customer(t, 1, "2026-02-10").ID).ID, Paid)
		}
		world.set(t, world.only(t, world.customer(t, 2, "2026-02-10").ID).ID, Paid)
		n, cents, err := receipts.Sum(t.Context(), world.db, world.actor.Company.ID, tally.Filter{})
		if err != nil || n != 8 || cents != 7*9_999_999_999+1 {
			t.Errorf("%d paid, %d cents, %v", n, cents, err)
		}
		world.wantTrueBooks(t)
		if got := fmt.Sprint(world.find(t, 1).Amount); got != "99999999.99" {
			t.Errorf("amount %s", got)
		}
	})
}
