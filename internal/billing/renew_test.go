package billing

import (
	"strings"
	"testing"

	"carteira/internal/account"
	"carteira/internal/event"
	"carteira/internal/platform/fault"
)

func TestRenewalByHandKeepsPaysOrCancelsTheInvoice(t *testing.T) {
	ledger(t, func(t *testing.T, world *world) {
		for _, c := range []struct {
			company, asked account.RenewInvoice
			status         Status
			events         []event.Name
		}{
			{account.KeepInvoice, "", Open, []event.Name{event.CustomerRenewed}},
			{account.PayInvoice, "", Paid, []event.Name{event.InvoicePaid, event.CustomerRenewed}},
			{account.PayInvoice, account.CancelInvoice, Cancelled, []event.Name{event.CustomerRenewed}},
			{account.CancelInvoice, account.KeepInvoice, Open, []event.Name{event.CustomerRenewed}},
		} {
			owner := world.customer(t, 1, "2026-01-31")
			invoice := world.only(t, owner.ID)
			world.actor.Company.Settings.RenewInvoice = c.company
			known := len(world.bodies(t))
			renewal, err := world.Renew(t.Context(), world.actor, owner.ID, ReadRenewal(values("invoice", string(c.asked))))
			must(t, err)
			if renewal.DueOn != day("2026-02-28") || renewal.Previous != day("2026-01-31") || world.dueOn(t, owner.ID) != "2026-02-28" {
				t.Errorf("%s, %s: from %s to %s", c.company, c.asked, renewal.Previous, renewal.DueOn)
			}
			world.wantInvoice(t, invoice.ID, c.status, 3500, "2026-01-31")
			world.wantEvents(t, known, c.events...)
			if c.status == Paid { // the renewal is the payment
				if out := world.set(t, invoice.ID, Open); !out.MovedBack || world.dueOn(t, owner.ID) != "2026-01-31" {
					t.Errorf("undone: due on %s", world.dueOn(t, owner.ID))
				}
			}
		}
	})
}

func TestRenewalBySeveralPeriodsIsAllOrNothing(t *testing.T) {
	ledger(t, func(t *testing.T, world *world) {
		customer, old := world.customer(t, 1, "2026-01-31"), world.customer(t, 1, "9999-10-31")
		renewal, err := world.Renew(t.Context(), world.actor, customer.ID, ReadRenewal(values("periods", "3", "invoice", "paid")))
		if err != nil || renewal.DueOn != day("2026-04-30") || renewal.Previous != day("2026-01-31") || renewal.OwnDay != 31 {
			t.Errorf("renewed %s to %s, %v", renewal.Previous, renewal.DueOn, err)
		}
		for _, invoice := range world.invoices(t, customer.ID) { // one for each period
			world.wantMoney(t, invoice.ID, Paid, 3500, 0)
		}
		if n, cents := world.day(t, "2026-01-31"); n != 3 || cents != 3*3500 {
			t.Errorf("the day has %d payments, %d", n, cents)
		}
		before := world.snapshot(t)
		_, err = world.Renew(t.Context(), world.actor, old.ID, ReadRenewal(values("periods", "3", "invoice", "paid")))
		wantField(t, err, "data_de_vencimento")
		if strings.Count(err.Error(), "data_de_vencimento") != 1 {
			t.Errorf("the field is named more than once: %v", err)
		}
		_, err = world.Renew(t.Context(), world.actor, old.ID, ReadRenewal(values("invoice", "burnt")))
		wantField(t, err, "invoice")
		world.wantSnapshot(t, before)
	})
}

func TestRenewalByHandIsUndoneWhileNothingReliesOnIt(t *testing.T) {
	ledger(t, func(t *testing.T, world *world) {
		owner := world.customer(t, 1, "2026-01-31")
		_, err := world.Renew(t.Context(), world.actor, owner.ID, ReadRenewal(values("invoice", "keep")))
		must(t, err)
		undo := RenewalToUndo{CustomerID: owner.ID, From: day("2026-01-31"), To: day("2026-02-28"), On: world.actor.Today(world.db.Now())}
		back, err := world.UndoRenewal(t.Context(), world.actor, undo)
		must(t, err)
		if back.DueOn != day("2026-01-31") || back.OwnDay != 31 {
			t.Errorf("due on %s, own day %d", back.DueOn, back.OwnDay)
		}
		world.wantInvoice(t, world.only(t, owner.ID).ID, Open, 3500, "2026-01-31")
		if _, err = world.UndoRenewal(t.Context(), world.actor, undo); fault.KindOf(err) != fault.KindConflict {
			t.Errorf("undone twice: %v", err)
		}
	})
}

func TestCustomerWithoutPlanOrCancelledIsNotRenewed(t *testing.T) {
	ledger(t, func(t *testing.T, world *world) {
		owner := world.customer(t, 1, "2026-01-31")
		world.update(t, owner.ID, "plan_id", "")
		for _, field := range []string{"plan_id", "cancelled"} {
			for _, invoice := range account.RenewInvoices {
				_, err := world.Renew(t.Context(), world.actor, owner.ID, ReadRenewal(values("invoice", string(invoice))))
				wantField(t, err, field)
			}
			world.update(t, owner.ID, "cancelled", "true")
		}
	})
}
