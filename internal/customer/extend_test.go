package customer

import (
	"errors"
	"testing"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/sqldb"
	"carteira/internal/tally"
	"carteira/test/kit/sqldbtest"
)

func (w *world) extend(t *testing.T, actor account.Actor, id int64, extension Extension) (renewal Renewal, err error) {
	t.Helper()
	err = w.db.Write(t.Context(), func(tx *sqldb.Tx) (err error) {
		before, err := LockTx(t.Context(), actor.In(tx), id)
		if err != nil {
			return err
		}
		if renewal, err = PrepareExtension(actor, before, extension); err != nil {
			return err
		}
		return w.ApplyRenewalTx(t.Context(), actor.In(tx), &renewal)
	})
	return renewal, err
}

// renewedIn is how many customers count as renewed in a month.
func (w *world) renewedIn(t *testing.T, month string) int64 {
	t.Helper()
	n, _, err := tally.Renewals.Sum(t.Context(), w.db, w.actor.Company.ID, tally.Filter{Days: []tally.Days{tally.On(month)}})
	must(t, err)
	return n
}

var monthly = civil.Period{Unit: civil.Month, Count: 1}

// Killed mutants: the own day taken from the day of the payment although the
// company counts from the due date; today in place of the day of the payment.
func TestExtensionCountsFromTheDayOfThePayment(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newWorld(t, engine)
		world.clock.Set(time.Date(2026, 2, 1, 12, 0, 0, 0, time.UTC)) // found a day after it was paid
		for _, c := range []struct {
			due, on string
			from    account.RenewFrom
			want    string
			ownDay  int
		}{
			{"2026-01-31", "2026-01-31", account.FromToday, "2026-02-28", 31},   // paid on time: keeps its day
			{"2026-01-30", "2026-01-31", account.FromToday, "2026-02-28", 31},   // a day late
			{"2026-01-10", "2026-01-20", account.FromToday, "2026-02-20", 20},   // ten days late
			{"2026-01-10", "2026-01-20", account.FromDueDate, "2026-02-10", 10}, // the due date counts
			{"", "2026-01-20", account.FromDueDate, "2026-02-20", 20},           // no date: the payment's
		} {
			actor := world.actor
			actor.Company.Settings.RenewFrom = c.from
			id := world.create(t, `{"name":"Ana"}`).ID
			world.update(t, id, `{"data_de_vencimento":"`+c.due+`"}`)
			var on civil.Date
			if c.on != "" {
				on = day(c.on)
			}
			renewal, err := world.extend(t, actor, id, Extension{Period: monthly, On: on})
			if err != nil || renewal.DueOn.String() != c.want || renewal.OwnDay != c.ownDay || renewal.Previous.String() != c.due {
				t.Errorf("%+v: from %v to %v, own day %d, %v", c, renewal.Previous, renewal.DueOn, renewal.OwnDay, err)
			}
		}
		if january, february := world.renewedIn(t, "2026-01"), world.renewedIn(t, "2026-02"); january != 5 || february != 0 {
			t.Errorf("%d renewed in January, %d in February; want 5 and 0", january, february)
		}
	})
}

func TestExtensionPastTheCalendarWritesNothingAndCanBeToldApart(t *testing.T) {
	world := newWorld(t, sqldb.SQLite)
	id := world.create(t, `{"name":"Ana","data_de_vencimento":"9999-12-31"}`).ID
	_, err := world.extend(t, world.actor, id, Extension{Period: monthly, On: day("2026-01-31")})
	if !errors.Is(err, civil.ErrOverflow) || fault.KindOf(err) != fault.KindInvalid || fault.FieldsOf(err).Get("data_de_vencimento") == nil {
		t.Errorf("got %v, want an overflow that names data_de_vencimento", err)
	}
	if found, err := world.Find(t.Context(), world.actor, id); err != nil || found.DueOn.String() != "9999-12-31" || world.renewedIn(t, "2026-01") != 0 {
		t.Errorf("found %v, %v", found.DueOn, err)
	}
}

// A customer counts once in each month, in whatever order renewals come.
func TestRenewalCountsACustomerOnceAMonth(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newWorld(t, engine)
		world.offers(t, world.actor, "1month")
		id := world.create(t, `{"name":"Ana","plan_id":1,"data_de_vencimento":"2026-03-10"}`).ID
		world.clock.Set(time.Date(2026, 2, 1, 4, 0, 0, 0, time.UTC))
		for _, zone := range []string{"America/Sao_Paulo", "America/Rio_Branco", "America/Sao_Paulo", "America/Rio_Branco"} {
			actor := world.actor
			var err error
			actor.Company, err = world.accounts.SetCompany(t.Context(), actor, account.ReadCompanyDraft(values("timezone", zone)))
			must(t, err)
			_, err = world.Renew(t.Context(), actor, id)
			must(t, err)
		}
		if january, february := world.renewedIn(t, "2026-01"), world.renewedIn(t, "2026-02"); january != 1 || february != 1 {
			t.Errorf("%d renewed in January, %d in February; want 1 and 1", january, february)
		}
	})
}

func TestRenewalTakenBackCountsNoMoreWhenItWasTheOnlyOne(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newWorld(t, engine)
		id := world.create(t, `{"name":"Ana","data_de_vencimento":"2026-03-31"}`).ID
		on := day("2026-01-20")
		for range 2 {
			_, err := world.extend(t, world.actor, id, Extension{Period: monthly, On: on})
			must(t, err)
		}
		for i, want := range []struct {
			due string
			n   int64
		}{{"2026-04-30", 1}, {"2026-03-31", 0}, {"2026-03-31", 0}} {
			must(t, world.db.Write(t.Context(), func(tx *sqldb.Tx) error {
				_, err := world.ReverseRenewalTx(t.Context(), world.actor.In(tx), id, Reversal{DueOn: day(want.due), OwnDay: 31, On: on})
				return err
			}))
			found, err := world.Find(t.Context(), world.actor, id)
			if err != nil || found.DueOn.String() != want.due || found.OwnDay != 31 || world.renewedIn(t, "2026-01") != want.n {
				t.Errorf("step %d: due on %v, %d renewed, %v", i+1, found.DueOn, world.renewedIn(t, "2026-01"), err)
			}
		}
	})
}

// A company that moves to another zone does not move the day on which its
// customers came.
func TestDayOfCreationStaysWhenTheZoneChanges(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newWorld(t, engine)
		world.clock.Set(time.Date(2026, 2, 1, 1, 30, 0, 0, time.UTC)) // 31 January, 22:30 in São Paulo
		id := world.create(t, `{"name":"Ana"}`).ID
		_, err := world.accounts.SetCompany(t.Context(), world.actor, account.ReadCompanyDraft(values("timezone", "Asia/Tokyo")))
		must(t, err)
		customer, err := world.Find(t.Context(), world.actor, id)
		must(t, err)
		if got := civil.Timestamp(customer.CreatedAt, customer.CreatedZone()); customer.CreatedOn().String() != "2026-01-31" || got != "2026-01-31T22:30:00-03:00" {
			t.Errorf("created on %v at %s", customer.CreatedOn(), got)
		}
	})
}
