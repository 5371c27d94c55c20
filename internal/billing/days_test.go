package billing

import (
	"testing"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/test/kit/sqldbtest"
)

// A company moves by twelve hours and more, there and back: the record, its
// filters and the counters name one day.
func TestDaysOfTheBooksStayWhenTheCompanyMoves(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newWorld(t, engine)
		world.clock.Set(time.Date(2026, 1, 31, 23, 30, 0, 0, world.actor.Company.Zone))
		plan := world.plan(t, "1month", "35.00")
		customer := world.customer(t, plan, "2026-02-03")
		invoice := world.only(t, customer.ID)
		out := world.set(t, invoice.ID, Paid)
		day := func(from, to string) Filter {
			return Filter{PaidFrom: civil.MustParse(from), PaidTo: civil.MustParse(to), CreatedFrom: civil.MustParse(from), CreatedTo: civil.MustParse(to)}
		}
		for _, zone := range []string{"Pacific/Auckland", "Pacific/Honolulu", account.DefaultTimezone} {
			var err error
			world.actor.Company, err = world.accounts.SetCompany(t.Context(), world.actor, account.ReadCompanyDraft(values("timezone", zone)))
			must(t, err)
			got, err := world.Find(t.Context(), world.actor, out.ID)
			must(t, err)
			for name, at := range map[string]time.Time{"paid": got.PaidAt, "created": got.CreatedAt} {
				if text := civil.Timestamp(at, at.Location()); text != "2026-01-31T23:30:00-03:00" {
					t.Errorf("%s: %s at %s", zone, name, text)
				}
			}
			if _, n, err := world.List(t.Context(), world.actor, day("2026-01-31", "2026-01-31"), input.Page{Number: 1, Size: 10}); err != nil || n != 1 {
				t.Errorf("%s: the filters find %d on the day, %v", zone, n, err)
			}
			payments, err := world.payments(t, invoice.ID)
			if err != nil || len(payments) != 1 || civil.Of(payments[0].PaidAt) != payments[0].PaidOn {
				t.Errorf("%s: the ledger has %+v, %v", zone, payments, err)
			}
		}
	})
}

func (w *world) payments(t *testing.T, invoiceID int64) (list []Payment, err error) {
	t.Helper()
	err = w.db.Write(t.Context(), func(tx *sqldb.Tx) (err error) {
		list, err = lockPaymentsOf(t.Context(), w.actor.In(tx), invoiceID)
		return err
	})
	return list, err
}
