package billing

import (
	"testing"

	"carteira/internal/event"
	"carteira/internal/platform/sqldb"
)

func (w *world) edit(t *testing.T, id int64, pairs ...string) Invoice {
	t.Helper()
	i, err := w.Edit(t.Context(), w.actor, id, ReadEdit(values(pairs...)))
	must(t, err)
	return i
}

// Killed mutant: an edited invoice follows its customer.
func TestEditedInvoiceFollowsNobodyAndRenewsTheDateItWasIssuedFor(t *testing.T) {
	ledger(t, func(t *testing.T, w *world) {
		c := w.customer(t, 1, "2026-02-10")
		i := w.only(t, c.ID)
		known := len(w.bodies(t))
		if got := w.edit(t, i.ID, "description", "Fibra"); got.Edited || got.Description != "Fibra" {
			t.Errorf("described: %+v", got)
		}
		w.update(t, c.ID, "price", "36.00")
		w.wantInvoice(t, i.ID, Open, 3600, "2026-02-10") // a description is no edit
		got := w.edit(t, i.ID, "total_amount", "30.00", "due_date", "2026-02-05", "discount", "1.50")
		if !got.Edited || got.OwnDiscount != (OwnDiscount{150, true}) {
			t.Errorf("edited: %+v", got)
		}
		w.update(t, c.ID, "price", "40.00")
		w.wantInvoice(t, i.ID, Open, 3000, "2026-02-05")
		w.wantEvents(t, known, event.CustomerUpdated, event.CustomerUpdated)
		w.wantNothingToIssue(t) // the due date has its invoice, whatever day that is to be paid on
		if got := w.edit(t, i.ID, "discount", ""); got.OwnDiscount.Given {
			t.Errorf("the company's discount does not come back: %+v", got)
		}
		w.set(t, i.ID, Paid)
		if due := w.dueOn(t, c.ID); due != "2026-03-10" {
			t.Errorf("renewed until %s", due)
		}
	})
}

func TestEditIsRefusedWhereItCannotBe(t *testing.T) {
	ledger(t, func(t *testing.T, w *world) {
		i := w.only(t, w.customer(t, 1, "2026-02-10").ID)
		w.set(t, i.ID, Paid, "amount", "20.00", "difference", "partial")
		for field, pairs := range map[string][]string{
			"total_amount": {"total_amount", "20.00"},
			"discount":     {"discount", "35.00"},
			"due_date":     {"due_date", ""},
			"amount":       {"amount", "0.00"},
		} {
			_, err := w.Edit(t.Context(), w.actor, i.ID, ReadEdit(values(pairs...)))
			wantField(t, err, field)
		}
		before := w.snapshot(t)
		w.edit(t, i.ID, "total_amount", "35.00", "due_date", "2026-02-10", "description", "Plano 1month", "discount", "0.00", "status", "Pago")
		w.wantSnapshot(t, before) // as it was read
		w.set(t, i.ID, Paid)
		_, err := w.Edit(t.Context(), w.actor, i.ID, ReadEdit(values("description", "x")))
		wantField(t, err, "status")
	})
}

func TestDueDateIsIssuedAgainWhenItsInvoiceRenewedNothing(t *testing.T) {
	ledger(t, func(t *testing.T, w *world) {
		for _, old := range []Status{Cancelled, Paid} {
			c := w.customer(t, 1, "2026-02-03")
			first := w.only(t, c.ID)
			_, err := w.Create(t.Context(), w.actor, c.ID, ReadExtra(values("renews", "true")))
			wantField(t, err, "due") // its invoice is open
			w.set(t, first.ID, old, "renew", "false")
			w.update(t, c.ID, "price", "29.90")
			_, err = w.Create(t.Context(), w.actor, c.ID, ReadExtra(values("renews", "true", "due", "2026-02-04")))
			wantField(t, err, "due")
			known := len(w.bodies(t))
			again, err := w.Create(t.Context(), w.actor, c.ID, ReadExtra(values("renews", "true")))
			must(t, err)
			w.wantEvents(t, known, event.InvoiceCreated)
			w.wantInvoice(t, again.ID, Open, 2990, "2026-02-03")
			if got := w.find(t, first.ID); !got.Superseded || got.Status != old {
				t.Errorf("the old one is %s, superseded %t", got.Status, got.Superseded)
			}
			_, err = w.SetStatus(t.Context(), w.actor, first.ID, ReadStatusChange(values("status", "Em aberto")))
			wantField(t, err, "status")
			w.wantNothingToIssue(t)
			if old == Paid {
				w.refund(t, Refund{PaymentID: w.paymentOf(t, first.ID), RefundID: "r"})
				w.wantInvoice(t, first.ID, Cancelled, 3500, "2026-02-03") // the new one claims the money
			}
			w.set(t, again.ID, Paid)
			if due := w.dueOn(t, c.ID); due != "2026-03-03" {
				t.Errorf("renewed until %s", due)
			}
			w.update(t, c.ID, "data_de_vencimento", "2026-02-03") // its invoice renewed
			_, err = w.Create(t.Context(), w.actor, c.ID, ReadExtra(values("renews", "true")))
			wantField(t, err, "due")
		}
	})
}

func TestDueDateIsNotIssuedAgainForNothing(t *testing.T) {
	ledger(t, func(t *testing.T, w *world) {
		planless, dateless, free := w.customer(t, 0, "2026-02-03"), w.customer(t, 0, ""), w.customer(t, 1, "2026-02-03")
		w.set(t, w.only(t, free.ID).ID, Cancelled)
		w.update(t, free.ID, "price", "0.00")
		for id, field := range map[int64]string{planless.ID: "renews", dateless.ID: "renews", free.ID: "amount"} {
			_, err := w.Create(t.Context(), w.actor, id, ReadExtra(values("renews", "true")))
			wantField(t, err, field)
		}
		chosen, err := w.Create(t.Context(), w.actor, free.ID, ReadExtra(values("renews", "true", "amount", "5.00", "description", "Acordo")))
		if err != nil || chosen.Amount != 500 || !chosen.Edited || chosen.Description != "Acordo" {
			t.Errorf("got %+v, %v", chosen, err)
		}
		w.update(t, free.ID, "cancelled", "true")
		_, err = w.Create(t.Context(), w.actor, free.ID, ReadExtra(values("renews", "true")))
		wantField(t, err, "customer_id")
		ahead := w.customer(t, 0, "2026-09-09") // far beyond the lead
		w.update(t, ahead.ID, "plan_id", "1")
		_, err = w.Create(t.Context(), w.actor, ahead.ID, ReadExtra(values("renews", "true")))
		must(t, err)
		if left, err := sqldb.Value[int64](t.Context(), w.db, `SELECT count(*) FROM invoice_schedule`); err != nil || left != 0 {
			t.Errorf("%d on the schedule, %v", left, err)
		}
		w.wantDue(t, ahead.ID, "2026-09-09")
	})
}
