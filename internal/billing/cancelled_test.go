package billing

import (
	"testing"
	"time"

	"carteira/internal/customer"
	"carteira/internal/platform/sqldb"
	"carteira/test/kit/sqldbtest"
)

// Killed mutant: a cancelled customer is billed.
func TestCancellingACustomerCancelsItsOpenInvoicesUnlessTheyAreKept(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newWorld(t, engine)
		world.plan(t, "1month", "35.00")
		for _, c := range []struct {
			form []string
			want Status
		}{
			{[]string{"cancelled", "true", "cancel_reason", "moved away"}, Cancelled},
			{[]string{"cancelled", "true", "keep_invoices", "true"}, Open},
			{[]string{"name", "Ana Lima"}, Open},
		} {
			invoice := world.invoiceThatIs(t, Open.String())
			world.update(t, invoice.Customer.ID, c.form...)
			if got := world.find(t, invoice.ID).Status; got != c.want {
				t.Errorf("%v: the invoice is %s, want %s", c.form, got, c.want)
			}
		}
		world.wantTrueBooks(t)
	})
}

func TestCancelledCustomerIsBilledAgainWhenItIsTakenBack(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newWorld(t, engine)
		world.plan(t, "1month", "35.00")
		invoice := world.invoiceThatIs(t, Open.String())
		world.update(t, invoice.Customer.ID, "cancelled", "true")
		world.update(t, invoice.Customer.ID, "data_de_vencimento", "2026-03-10")
		world.clock.Advance(400 * 24 * time.Hour)
		world.dayWork(t)
		world.wantDue(t, invoice.Customer.ID, "2026-03-10") // it goes with the date, and is not owed
		if got := world.find(t, invoice.ID).Status; got != Cancelled {
			t.Errorf("the invoice of a cancelled customer is %s", got)
		}
		world.update(t, invoice.Customer.ID, "cancelled", "false")
		world.dayWork(t)
		world.wantDue(t, invoice.Customer.ID, "2026-03-10")
		if got := world.find(t, invoice.ID).Status; got != Open {
			t.Errorf("the invoice of one who was taken back is %s", got)
		}
	})
}

func TestOlderDebtsComeBackWithACustomerWhoIsTakenBack(t *testing.T) {
	ledger(t, func(t *testing.T, world *world) {
		owner := world.customer(t, 1, "2026-01-10")
		old := world.only(t, owner.ID)
		_, err := world.Renew(t.Context(), world.actor, owner.ID, ReadRenewal(values("invoice", "keep")))
		must(t, err)
		world.update(t, owner.ID, "cancelled", "true")
		world.wantInvoice(t, old.ID, Cancelled, 3500, "2026-01-10")
		world.update(t, owner.ID, "cancelled", "false")
		world.wantInvoice(t, old.ID, Open, 3500, "2026-01-10")
		world.wantTrueBooks(t)
	})
}

func TestInvoiceWithMoneyOnItIsNotCancelledOnTheWay(t *testing.T) {
	ledger(t, func(t *testing.T, world *world) {
		owner := world.customer(t, 1, "2026-01-31")
		invoice := world.only(t, owner.ID)
		world.set(t, invoice.ID, Paid, "amount", "20.00", "difference", "partial")
		before := world.snapshot(t)
		_, err := world.Renew(t.Context(), world.actor, owner.ID, ReadRenewal(values("invoice", "cancelled")))
		wantField(t, err, "money")
		_, err = world.customers.Update(t.Context(), world.actor, owner.ID, customer.ReadChanges(values("cancelled", "true")))
		wantField(t, err, "money")
		world.wantSnapshot(t, before)
		world.set(t, invoice.ID, Cancelled, "money", "credit") // said once, both go on
		world.update(t, owner.ID, "cancelled", "true")
		world.update(t, owner.ID, "cancelled", "false")
		world.wantInvoice(t, invoice.ID, Cancelled, 3500, "2026-01-31")
		world.wantTrueBooks(t)
	})
}

func TestOwnPriceIsBilledInPlaceOfThePlans(t *testing.T) {
	world := newWorld(t, sqldb.SQLite)
	world.plan(t, "1month", "35.00")
	invoice := world.invoiceThatIs(t, Open.String())
	world.redate(t, invoice.Customer.ID, "2026-02-20")
	world.update(t, invoice.Customer.ID, "price", "29.90")
	world.clock.Advance(30 * 24 * time.Hour)
	world.dayWork(t)
	if list := world.invoices(t, invoice.Customer.ID); len(list) != 2 || list[1].Amount != 2990 {
		t.Errorf("got %+v, want the newest at 29.90", list)
	}
}
