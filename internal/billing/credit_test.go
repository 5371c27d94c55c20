package billing

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"carteira/internal/platform/money"
	"carteira/internal/platform/sqldb"
)

func (w *world) credit(t *testing.T, customerID int64) money.Cents {
	t.Helper()
	record, err := w.customers.Find(t.Context(), w.actor, customerID)
	must(t, err)
	return record.Credit
}

func (w *world) wantCredit(t *testing.T, customerID int64, want money.Cents) {
	t.Helper()
	if got := w.credit(t, customerID); got != want {
		t.Errorf("the credit is %s, want %s", got, want)
	}
}

// review is money that waits for a decision.
func (w *world) review(t *testing.T, invoice Invoice, amount money.Cents) int64 {
	t.Helper()
	var id int64
	must(t, w.db.Write(t.Context(), func(tx *sqldb.Tx) (err error) {
		id, err = w.KeepTx(t.Context(), w.actor.In(tx), Payment{
			Provider: "woovi", PaymentID: "twice", Via: "woovi", InvoiceID: invoice.ID, CustomerID: invoice.Customer.ID,
			Amount: amount, Currency: Real, PaidAt: tx.Now().Add(-time.Hour),
		}, time.Time{})
		return err
	}))
	return id
}

func (w *world) keepCredit(t *testing.T, paymentID int64) error {
	t.Helper()
	return w.db.Write(t.Context(), func(tx *sqldb.Tx) error { return w.KeepCreditTx(t.Context(), w.actor.In(tx), paymentID) })
}

func TestMoneyThatCameTwicePaysTheNextInvoices(t *testing.T) {
	ledger(t, func(t *testing.T, world *world) {
		record := world.customer(t, 1, "2026-01-31")
		invoice := world.only(t, record.ID)
		world.set(t, invoice.ID, Paid)
		kept := world.review(t, invoice, 5000)
		if n, cents := world.day(t, "2026-01-31"); n != 1 || cents != 3500 {
			t.Errorf("the day has %d, %d before the decision", n, cents)
		}
		must(t, world.keepCredit(t, kept))
		wantField(t, world.keepCredit(t, kept), "payment")
		world.wantCredit(t, record.ID, 5000)
		if n, cents := world.day(t, "2026-01-31"); n != 2 || cents != 8500 {
			t.Errorf("the day has %d, %d: the money came then", n, cents)
		}
		world.clock.Advance(27 * 24 * time.Hour) // 27 February: that of the 28th is issued, and paid
		world.dayWork(t)
		list, err := ofCustomer(t.Context(), world.db, world.actor.Company.ID, record.ID)
		must(t, err)
		if len(list) != 2 || list[0].Status != Paid || list[0].PaidVia != Credit || world.dueOn(t, record.ID) != "2026-03-31" {
			t.Errorf("%d invoices, the newest %+v", len(list), list[0])
		}
		world.wantCredit(t, record.ID, 1500)
		if n, cents := world.day(t, "2026-02-27"); n != 0 || cents != 0 {
			t.Errorf("the day received %d, %d: no money came", n, cents)
		}
		world.clock.Advance(30 * 24 * time.Hour) // the rest pays a part of March's
		world.dayWork(t)
		list, err = ofCustomer(t.Context(), world.db, world.actor.Company.ID, record.ID)
		must(t, err)
		world.wantMoney(t, list[0].ID, Open, 1500, 0)
		world.wantCredit(t, record.ID, 0)
		_, err = world.UseCredit(t.Context(), world.actor, list[0].ID)
		wantField(t, err, "credit")
		payments, err := world.CreditOf(t.Context(), world.actor, record.ID)
		must(t, err)
		if len(payments) != 3 || payments[2].ID != kept {
			t.Errorf("the credit has %+v", payments)
		}
		came, total, err := world.Payments(t.Context(), world.actor, PaymentFilter{}, firstPage)
		must(t, err)
		if len(came) != 2 || total != 2 {
			t.Errorf("%d payments came, counted %d", len(came), total)
		}
		spent, total, err := world.Payments(t.Context(), world.actor, PaymentFilter{Via: Credit}, firstPage)
		must(t, err)
		if len(spent) != 2 || total != 2 {
			t.Errorf("credit paid %d times, counted %d", len(spent), total)
		}
	})
}

func TestWhatCreditPaidIsUndoneAndTheCreditIsThereAgain(t *testing.T) {
	ledger(t, func(t *testing.T, world *world) {
		record := world.customer(t, 1, "2026-01-31")
		invoice := world.only(t, record.ID)
		world.set(t, invoice.ID, Paid)
		again, err := world.ReceiveAgain(t.Context(), world.actor, invoice.ID, ReadAgain(values("amount", "35.00", "paid_via", "pix")))
		must(t, err)
		extra, err := world.CreateExtra(t.Context(), world.actor, record.ID, ReadExtra(values("amount", "20.00")))
		must(t, err)
		_, err = world.ReceiveAgain(t.Context(), world.actor, extra.ID, ReadAgain(values("amount", "35.00")))
		wantField(t, err, "status")
		out, err := world.UseCredit(t.Context(), world.actor, extra.ID)
		must(t, err)
		world.wantMoney(t, extra.ID, Paid, 2000, 0)
		world.wantCredit(t, record.ID, 1500)
		_, err = world.RefundPayment(t.Context(), world.actor, out.PaymentID, ReadRefund(values()))
		wantField(t, err, "payment")
		_, err = world.RefundPayment(t.Context(), world.actor, again.ID, ReadRefund(values()))
		wantField(t, err, "amount") // 20.00 of it paid the extra one
		_, err = world.UndoPayment(t.Context(), world.actor, again.ID)
		wantField(t, err, "amount")
		_, err = world.UndoPayment(t.Context(), world.actor, out.PaymentID)
		must(t, err)
		world.wantMoney(t, extra.ID, Open, 0, 0)
		world.wantCredit(t, record.ID, 3500)
		_, err = world.RefundPayment(t.Context(), world.actor, again.ID, ReadRefund(values("amount", "5.00")))
		must(t, err)
		world.wantCredit(t, record.ID, 3000)
		if _, err = world.UndoPayment(t.Context(), world.actor, again.ID); !strings.Contains(fmt.Sprint(err), "was given back") {
			t.Errorf("undone after a part of it went back: %v", err)
		}
		world.refund(t, Refund{PaymentID: again.ID, RefundID: "all"}) // as a gateway reports it
		world.wantCredit(t, record.ID, 0)
		if n, cents := world.day(t, "2026-01-31"); n != 2 || cents != 3500 {
			t.Errorf("the day has %d, %d", n, cents)
		}
	})
}

func TestMoneyOnACancelledInvoiceIsCredit(t *testing.T) {
	ledger(t, func(t *testing.T, world *world) {
		record := world.customer(t, 1, "2026-01-31")
		invoice := world.only(t, record.ID)
		world.set(t, invoice.ID, Paid, "amount", "20.00", "difference", "partial")
		_, err := world.SetStatus(t.Context(), world.actor, invoice.ID, ReadStatusChange(values("status", "Cancelado")))
		wantField(t, err, "money")
		world.set(t, invoice.ID, Cancelled, "money", "credit")
		world.wantMoney(t, invoice.ID, Cancelled, 0, 0)
		world.wantCredit(t, record.ID, 2000)
		world.set(t, invoice.ID, Open)
		_, err = world.UseCredit(t.Context(), world.actor, invoice.ID)
		must(t, err)
		world.wantMoney(t, invoice.ID, Open, 2000, 0)
		world.set(t, invoice.ID, Cancelled, "money", "refund") // what credit paid is credit again
		world.wantCredit(t, record.ID, 2000)
		payments, err := world.CreditOf(t.Context(), world.actor, record.ID)
		must(t, err)
		_, err = world.UndoPayment(t.Context(), world.actor, payments[0].ID) // the 20.00 never came
		must(t, err)
		world.wantCredit(t, record.ID, 0)
		if n, cents := world.day(t, "2026-01-31"); n != 0 || cents != 0 {
			t.Errorf("the day has %d, %d", n, cents)
		}
	})
}
