package billing

import (
	"testing"

	"carteira/internal/account"
	"carteira/internal/event"
)

func TestRenewalByHandKeepsPaysOrCancelsTheInvoice(t *testing.T) {
	ledger(t, func(t *testing.T, w *world) {
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
			owner := w.customer(t, 1, "2026-01-31")
			i := w.only(t, owner.ID)
			w.actor.Company.Settings.RenewInvoice = c.company
			known := len(w.bodies(t))
			r, err := w.Renew(t.Context(), w.actor, owner.ID, ReadRenewal(values("invoice", string(c.asked))))
			must(t, err)
			if r.DueOn != day("2026-02-28") || r.Previous != day("2026-01-31") || w.dueOn(t, owner.ID) != "2026-02-28" {
				t.Errorf("%s, %s: from %s to %s", c.company, c.asked, r.Previous, r.DueOn)
			}
			w.wantInvoice(t, i.ID, c.status, 3500, "2026-01-31")
			w.wantEvents(t, known, c.events...)
			if c.status == Paid { // the renewal is the payment
				if out := w.set(t, i.ID, Open); !out.MovedBack || w.dueOn(t, owner.ID) != "2026-01-31" {
					t.Errorf("undone: due on %s", w.dueOn(t, owner.ID))
				}
			}
		}
	})
}

func TestRenewalBySeveralPeriodsIsAllOrNothing(t *testing.T) {
	ledger(t, func(t *testing.T, w *world) {
		c, old := w.customer(t, 1, "2026-01-31"), w.customer(t, 1, "9999-10-31")
		r, err := w.Renew(t.Context(), w.actor, c.ID, ReadRenewal(values("periods", "3", "invoice", "paid")))
		if err != nil || r.DueOn != day("2026-04-30") || r.Previous != day("2026-01-31") || r.OwnDay != 31 {
			t.Errorf("renewed %s to %s, %v", r.Previous, r.DueOn, err)
		}
		w.wantMoney(t, w.only(t, c.ID).ID, Paid, 3500, 0)
		before := w.snapshot(t)
		_, err = w.Renew(t.Context(), w.actor, old.ID, ReadRenewal(values("periods", "3", "invoice", "paid")))
		wantField(t, err, "data_de_vencimento")
		_, err = w.Renew(t.Context(), w.actor, old.ID, ReadRenewal(values("invoice", "burnt")))
		wantField(t, err, "invoice")
		w.wantSnapshot(t, before)
	})
}
