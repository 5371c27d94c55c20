package billing

import (
	"testing"
	"time"

	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/sqldb/sqldbtest"
)

// Killed mutant: a cancelled customer is billed.
func TestCancellingACustomerCancelsItsOpenInvoicesUnlessTheyAreKept(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		w := newWorld(t, engine)
		w.plan(t, "1month", "35.00")
		for _, c := range []struct {
			form []string
			want Status
		}{
			{[]string{"cancelled", "true", "cancel_reason", "moved away"}, Cancelled},
			{[]string{"cancelled", "true", "keep_invoices", "true"}, Open},
			{[]string{"name", "Ana Lima"}, Open},
		} {
			i := w.invoiceThatIs(t, Open.String())
			w.update(t, i.Customer.ID, c.form...)
			if got := w.find(t, i.ID).Status; got != c.want {
				t.Errorf("%v: the invoice is %s, want %s", c.form, got, c.want)
			}
		}
		w.wantTrueBooks(t)
	})
}

func TestCancelledCustomerIsBilledAgainWhenItIsTakenBack(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		w := newWorld(t, engine)
		w.plan(t, "1month", "35.00")
		i := w.invoiceThatIs(t, Open.String())
		w.update(t, i.Customer.ID, "cancelled", "true")
		w.update(t, i.Customer.ID, "data_de_vencimento", "2026-03-10")
		w.clock.Advance(400 * 24 * time.Hour)
		w.dayWork(t)
		w.wantDue(t, i.Customer.ID, "2026-03-10") // it goes with the date, and is not owed
		if got := w.find(t, i.ID).Status; got != Cancelled {
			t.Errorf("the invoice of a cancelled customer is %s", got)
		}
		w.update(t, i.Customer.ID, "cancelled", "false")
		w.dayWork(t)
		w.wantDue(t, i.Customer.ID, "2026-03-10")
		if got := w.find(t, i.ID).Status; got != Open {
			t.Errorf("the invoice of one who was taken back is %s", got)
		}
	})
}

func TestOwnPriceIsBilledInPlaceOfThePlans(t *testing.T) {
	w := newWorld(t, sqldb.SQLite)
	w.plan(t, "1month", "35.00")
	i := w.invoiceThatIs(t, Open.String())
	w.redate(t, i.Customer.ID, "2026-02-20")
	w.update(t, i.Customer.ID, "price", "29.90")
	w.clock.Advance(30 * 24 * time.Hour)
	w.dayWork(t)
	if list := w.invoices(t, i.Customer.ID); len(list) != 2 || list[1].Amount != 2990 {
		t.Errorf("got %+v, want the newest at 29.90", list)
	}
}
