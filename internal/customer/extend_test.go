package customer

import (
	"errors"
	"testing"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/sqldb/sqldbtest"
	"carteira/internal/tally"
)

func (w *world) extend(t *testing.T, a account.Actor, id int64, e Extension) (r Renewal, err error) {
	t.Helper()
	err = w.db.Write(t.Context(), func(tx *sqldb.Tx) (err error) {
		r, err = w.ExtendTx(t.Context(), tx, a, id, e)
		return err
	})
	return r, err
}

// renewedIn is how many customers count as renewed in a month.
func (w *world) renewedIn(t *testing.T, month string) int64 {
	t.Helper()
	var where sqldb.Where
	where.And("day = ?", month)
	n, _, err := tally.Renewals.Sum(t.Context(), w.db, w.actor.Company.ID, where)
	must(t, err)
	return n
}

var monthly = civil.Period{Unit: civil.Month, Count: 1}

// Killed mutants: the own day taken from the day of the payment although the
// company counts from the due date; today in place of the day of the payment.
func TestExtensionCountsFromTheDayOfThePayment(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		w := newWorld(t, engine)
		w.clock.Set(time.Date(2026, 2, 1, 12, 0, 0, 0, time.UTC)) // found a day after it was paid
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
			a := w.actor
			a.Company.Settings.RenewFrom = c.from
			id := w.create(t, `{"name":"Ana"}`).ID
			w.update(t, id, `{"data_de_vencimento":"`+c.due+`"}`)
			var on civil.Date
			if c.on != "" {
				on = day(c.on)
			}
			r, err := w.extend(t, a, id, Extension{Period: monthly, On: on})
			if err != nil || r.DueOn.String() != c.want || r.OwnDay != c.ownDay || r.Previous.String() != c.due {
				t.Errorf("%+v: from %v to %v, own day %d, %v", c, r.Previous, r.DueOn, r.OwnDay, err)
			}
		}
		if january, february := w.renewedIn(t, "2026-01"), w.renewedIn(t, "2026-02"); january != 5 || february != 0 {
			t.Errorf("%d renewed in January, %d in February; want 5 and 0", january, february)
		}
	})
}

func TestExtensionPastTheCalendarWritesNothingAndCanBeToldApart(t *testing.T) {
	w := newWorld(t, sqldb.SQLite)
	id := w.create(t, `{"name":"Ana","data_de_vencimento":"9999-12-31"}`).ID
	_, err := w.extend(t, w.actor, id, Extension{Period: monthly, On: day("2026-01-31")})
	if !errors.Is(err, civil.ErrOverflow) || fault.KindOf(err) != fault.KindInvalid || fault.FieldsOf(err).Get("data_de_vencimento") == nil {
		t.Errorf("got %v, want an overflow that names data_de_vencimento", err)
	}
	if found, err := w.Find(t.Context(), w.actor, id); err != nil || found.DueOn.String() != "9999-12-31" || w.renewedIn(t, "2026-01") != 0 {
		t.Errorf("found %v, %v", found.DueOn, err)
	}
}

// A customer counts once in each month, in whatever order renewals come.
func TestRenewalCountsACustomerOnceAMonth(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		w := newWorld(t, engine)
		w.offers(t, w.actor, "1month")
		id := w.create(t, `{"name":"Ana","plan_id":1,"data_de_vencimento":"2026-03-10"}`).ID
		w.clock.Set(time.Date(2026, 2, 1, 4, 0, 0, 0, time.UTC))
		for _, zone := range []string{"America/Sao_Paulo", "America/Rio_Branco", "America/Sao_Paulo", "America/Rio_Branco"} {
			a := w.actor
			var err error
			a.Company, err = w.accounts.SetCompany(t.Context(), a, account.ReadCompanyDraft(values("timezone", zone)))
			must(t, err)
			_, err = w.Renew(t.Context(), a, id)
			must(t, err)
		}
		if january, february := w.renewedIn(t, "2026-01"), w.renewedIn(t, "2026-02"); january != 1 || february != 1 {
			t.Errorf("%d renewed in January, %d in February; want 1 and 1", january, february)
		}
	})
}

func TestRenewalTakenBackCountsNoMoreWhenItWasTheOnlyOne(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		w := newWorld(t, engine)
		id := w.create(t, `{"name":"Ana","data_de_vencimento":"2026-03-31"}`).ID
		on := day("2026-01-20")
		for range 2 {
			_, err := w.extend(t, w.actor, id, Extension{Period: monthly, On: on})
			must(t, err)
		}
		for i, want := range []struct {
			due string
			n   int64
		}{{"2026-04-30", 1}, {"2026-03-31", 0}, {"2026-03-31", 0}} {
			must(t, w.db.Write(t.Context(), func(tx *sqldb.Tx) error {
				_, err := w.ReverseRenewalTx(t.Context(), tx, w.actor, id, Reversal{DueOn: day(want.due), OwnDay: 31, On: on})
				return err
			}))
			found, err := w.Find(t.Context(), w.actor, id)
			if err != nil || found.DueOn.String() != want.due || found.OwnDay != 31 || w.renewedIn(t, "2026-01") != want.n {
				t.Errorf("step %d: due on %v, %d renewed, %v", i+1, found.DueOn, w.renewedIn(t, "2026-01"), err)
			}
		}
	})
}

// A company that moves to another zone does not move the day on which its
// customers came.
func TestDayOfCreationStaysWhenTheZoneChanges(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		w := newWorld(t, engine)
		w.clock.Set(time.Date(2026, 2, 1, 1, 30, 0, 0, time.UTC)) // 31 January, 22:30 in São Paulo
		id := w.create(t, `{"name":"Ana"}`).ID
		_, err := w.accounts.SetCompany(t.Context(), w.actor, account.ReadCompanyDraft(values("timezone", "Asia/Tokyo")))
		must(t, err)
		c, err := w.Find(t.Context(), w.actor, id)
		must(t, err)
		if got := civil.Timestamp(c.CreatedAt, c.CreatedZone()); c.CreatedOn.String() != "2026-01-31" || got != "2026-01-31T22:30:00-03:00" {
			t.Errorf("created on %v at %s", c.CreatedOn, got)
		}
	})
}
