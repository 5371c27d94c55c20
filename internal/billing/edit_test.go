package billing

import (
	"strings"
	"testing"
	"time"

	"carteira/internal/event"
	"carteira/internal/platform/sqldb"
)

func (w *world) edit(t *testing.T, id int64, pairs ...string) Invoice {
	t.Helper()
	invoice, err := w.Edit(t.Context(), w.actor, id, ReadEdit(values(pairs...)))
	must(t, err)
	return invoice
}

// Killed mutant: an edited invoice follows its customer.
func TestEditedInvoiceFollowsNobodyAndRenewsTheDateItWasIssuedFor(t *testing.T) {
	ledger(t, func(t *testing.T, world *world) {
		customer := world.customer(t, 1, "2026-02-10")
		invoice := world.only(t, customer.ID)
		known := len(world.bodies(t))
		if got := world.edit(t, invoice.ID, "description", "Fibra"); got.Edited || got.Description != "Fibra" {
			t.Errorf("described: %+v", got)
		}
		world.update(t, customer.ID, "price", "36.00")
		world.wantInvoice(t, invoice.ID, Open, 3600, "2026-02-10") // a description is no edit
		got := world.edit(t, invoice.ID, "total_amount", "30.00", "due_date", "2026-02-05", "discount", "1.50")
		if !got.Edited || got.OwnDiscount != (OwnDiscount{150, true}) {
			t.Errorf("edited: %+v", got)
		}
		world.update(t, customer.ID, "price", "40.00")
		world.wantInvoice(t, invoice.ID, Open, 3000, "2026-02-05")
		world.wantEvents(t, known, event.CustomerUpdated, event.CustomerUpdated)
		world.wantNothingToIssue(t) // the due date has its invoice, whatever day that is to be paid on
		if got := world.edit(t, invoice.ID, "discount", ""); got.OwnDiscount.Given {
			t.Errorf("the company's discount does not come back: %+v", got)
		}
		world.set(t, invoice.ID, Paid)
		if due := world.dueOn(t, customer.ID); due != "2026-03-10" {
			t.Errorf("renewed until %s", due)
		}
	})
}

func TestEditIsRefusedWhereItCannotBe(t *testing.T) {
	ledger(t, func(t *testing.T, world *world) {
		invoice := world.only(t, world.customer(t, 1, "2026-02-10").ID)
		world.set(t, invoice.ID, Paid, "amount", "20.00", "difference", "partial")
		for field, pairs := range map[string][]string{
			"total_amount": {"total_amount", "20.00"},
			"discount":     {"discount", "35.00"},
			"due_date":     {"due_date", ""},
			"amount":       {"amount", "0.00"},
		} {
			_, err := world.Edit(t.Context(), world.actor, invoice.ID, ReadEdit(values(pairs...)))
			wantField(t, err, field)
		}
		before := world.snapshot(t)
		world.edit(t, invoice.ID, "total_amount", "35.00", "due_date", "2026-02-10", "description", "Plano 1month", "discount", "0.00", "status", "Pago")
		world.wantSnapshot(t, before) // as it was read
		world.set(t, invoice.ID, Paid)
		_, err := world.Edit(t.Context(), world.actor, invoice.ID, ReadEdit(values("description", "x")))
		wantField(t, err, "status")
	})
}

func TestDiscountNowLowersAnOverdueInvoiceAndSaysSo(t *testing.T) {
	ledger(t, func(t *testing.T, world *world) {
		invoice := world.only(t, world.customer(t, 1, "2026-02-10").ID)
		world.set(t, invoice.ID, Paid, "amount", "10.00", "difference", "partial")
		world.clock.Set(noon.AddDate(0, 0, 35))
		world.dayWork(t)
		off := func(pairs ...string) (Invoice, error) {
			return world.Edit(t.Context(), world.actor, invoice.ID, ReadEditOff(values(pairs...)))
		}
		before := world.snapshot(t)
		for field, pairs := range map[string][]string{
			"off":         {"off", "25.00", "off_reason", "acordo"}, // 10.00 came
			"off_reason":  {"off", "5.00", "off_reason", " "},
			"description": {"off", "5.00", "off_reason", "acordo", "description", strings.Repeat("x", maxDescription)},
		} {
			_, err := off(pairs...)
			wantField(t, err, field)
		}
		_, err := off("off", "", "off_reason", "acordo") // no discount
		must(t, err)
		world.wantSnapshot(t, before)
		for range 2 { // the same form sent again takes nothing more
			got, err := off("total_amount", "35.00", "description", "Fibra", "off", "5.00", "off_reason", "acordo")
			must(t, err)
			if got.Amount != 3000 || got.Description != "Fibra (desconto de R$ 5,00)" || got.Note != "Desconto de R$ 5,00: acordo" {
				t.Errorf("%s, %q, %q", got.Amount, got.Description, got.Note)
			}
		}
		got, err := off("off", "19.99", "off_reason", "fim")
		must(t, err)
		if rest := got.PayableOn(world.actor.Company, day("2026-03-07")).Rest; got.Amount != 1001 || rest != 1 ||
			got.Note != "Desconto de R$ 5,00: acordo\nDesconto de R$ 19,99: fim" {
			t.Errorf("%s, %s to pay, %q", got.Amount, rest, got.Note)
		}
	})
}

func TestDueDateIsIssuedAgainWhenItsInvoiceRenewedNothing(t *testing.T) {
	ledger(t, func(t *testing.T, world *world) {
		for _, old := range []Status{Cancelled, Paid} {
			customer := world.customer(t, 1, "2026-02-03")
			first := world.only(t, customer.ID)
			_, err := world.Create(t.Context(), world.actor, customer.ID, ReadExtra(values("renews", "true")))
			wantField(t, err, "due") // its invoice is open
			world.set(t, first.ID, old, "renew", "false")
			world.update(t, customer.ID, "price", "29.90")
			_, err = world.Create(t.Context(), world.actor, customer.ID, ReadExtra(values("renews", "true", "due", "2026-02-04")))
			wantField(t, err, "due")
			known := len(world.bodies(t))
			again, err := world.Create(t.Context(), world.actor, customer.ID, ReadExtra(values("renews", "true")))
			must(t, err)
			world.wantEvents(t, known, event.InvoiceCreated)
			world.wantInvoice(t, again.ID, Open, 2990, "2026-02-03")
			if got := world.find(t, first.ID); !got.Superseded || got.Status != old {
				t.Errorf("the old one is %s, superseded %t", got.Status, got.Superseded)
			}
			_, err = world.SetStatus(t.Context(), world.actor, first.ID, ReadStatusChange(values("status", "Em aberto")))
			wantField(t, err, "status")
			world.wantNothingToIssue(t)
			if old == Paid {
				world.refund(t, Refund{PaymentID: world.paymentOf(t, first.ID), RefundID: "r"})
				world.wantInvoice(t, first.ID, Cancelled, 3500, "2026-02-03") // the new one claims the money
			}
			world.set(t, again.ID, Paid)
			if due := world.dueOn(t, customer.ID); due != "2026-03-03" {
				t.Errorf("renewed until %s", due)
			}
			world.update(t, customer.ID, "data_de_vencimento", "2026-02-03") // its invoice renewed
			_, err = world.Create(t.Context(), world.actor, customer.ID, ReadExtra(values("renews", "true")))
			wantField(t, err, "due")
		}
	})
}

func TestDueDateIsNotIssuedAgainForNothing(t *testing.T) {
	ledger(t, func(t *testing.T, world *world) {
		planless, dateless, free := world.customer(t, 0, "2026-02-03"), world.customer(t, 0, ""), world.customer(t, 1, "2026-02-03")
		world.set(t, world.only(t, free.ID).ID, Cancelled)
		world.update(t, free.ID, "price", "0.00")
		for id, field := range map[int64]string{planless.ID: "renews", dateless.ID: "renews", free.ID: "amount"} {
			_, err := world.Create(t.Context(), world.actor, id, ReadExtra(values("renews", "true")))
			wantField(t, err, field)
		}
		chosen, err := world.Create(t.Context(), world.actor, free.ID, ReadExtra(values("renews", "true", "amount", "5.00", "description", "Acordo")))
		if err != nil || chosen.Amount != 500 || !chosen.Edited || chosen.Description != "Acordo" {
			t.Errorf("got %+v, %v", chosen, err)
		}
		world.update(t, free.ID, "cancelled", "true")
		_, err = world.Create(t.Context(), world.actor, free.ID, ReadExtra(values("renews", "true")))
		wantField(t, err, "customer_id")
		ahead := world.customer(t, 0, "2026-09-09") // far beyond the lead
		world.update(t, ahead.ID, "plan_id", "1")
		_, err = world.Create(t.Context(), world.actor, ahead.ID, ReadExtra(values("renews", "true")))
		must(t, err)
		if left, err := sqldb.Value[int64](t.Context(), world.db, `SELECT count(*) FROM invoice_schedule`); err != nil || left != 0 {
			t.Errorf("%d on the schedule, %v", left, err)
		}
		world.wantDue(t, ahead.ID, "2026-09-09")
	})
}

// A record is read on one day and sent back on that day or a later one: before
// the due date, on it, and when no discount is shown any more.
func TestRecordThatIsSentBackAsItWasReadChangesNothing(t *testing.T) {
	for name, own := range map[string]string{"the company's discount": "", "its own": "1.50", "none of its own": "0.00"} {
		ledger(t, func(t *testing.T, world *world) {
			world.configure(t, "late_fee_percent", "2.00", "late_interest_percent", "1.00", "discount_percent", "5.00")
			invoice := world.only(t, world.customer(t, 1, "2026-02-02").ID)
			if own != "" {
				world.edit(t, invoice.ID, "discount", own)
			}
			before := world.find(t, invoice.ID)
			var read [][]string
			for range 6 { // 31 January to 5 February
				record := world.find(t, invoice.ID)
				due := record.PayableOn(world.actor.Company, world.actor.Today(world.clock.Now()))
				read = append(read, []string{
					"total_amount", record.Amount.String(), "due_date", record.DueOn.String(), "description", record.Description,
					"discount", due.Discount.String(), "late_fee", due.Fee.String(), "late_interest", due.Interest.String(),
					"payable_amount", due.Rest.String(), "status", record.Status.String(),
				})
				for _, fields := range read {
					if got := world.edit(t, invoice.ID, fields...); got != before {
						t.Errorf("%s, on %v %q made it %+v", name, world.actor.Today(world.clock.Now()), fields, got)
					}
				}
				world.clock.Advance(24 * time.Hour)
			}
			// What another amount says is an edit, also when nothing is shown any more.
			if got := world.edit(t, invoice.ID, "discount", "3.00"); !got.Edited || got.OwnDiscount != (OwnDiscount{300, true}) {
				t.Errorf("%s: %+v", name, got)
			}
		})
	}
}
