package payment

import (
	"errors"
	"sync"
	"testing"
	"time"

	"carteira/internal/billing"
	"carteira/internal/platform/input"
)

func TestPaymentIsFoundWithoutACallback(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		i := w.invoice(t)
		p := w.charged(t, i.ID)
		w.work(t)
		if w.bank.called("look") != 0 {
			t.Error("asked before there can be news")
		}
		w.bank.pay(t, p.PixCode, 3500)
		w.later(t, 34*time.Second)
		w.wantPaid(t, i)
		w.wantStates(t, i.ID, "paid")
		w.wantReviews(t)
	})
}

// The schedule of the looks: soon at first, then hourly to the end, then more and
// more seldom for a month.
func TestPollingBacksOff(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		i := w.invoice(t)
		w.charged(t, i.ID)
		looks := func(until time.Duration) int {
			for w.clock.Now().Before(noon.Add(until)) {
				w.later(t, 15*time.Second)
			}
			return w.bank.called("look")
		}
		if n := looks(10 * time.Minute); n < 4 || n > 5 {
			t.Errorf("%d looks in ten minutes", n)
		}
		for w.clock.Now().Before(noon.Add(24 * time.Hour)) {
			w.later(t, 5*time.Minute)
		}
		if n := w.bank.called("look"); n < 22 || n > 30 {
			t.Errorf("%d looks in a day", n)
		}
		w.later(t, time.Minute)
		w.wantStates(t, i.ID, "expired")
		if w.bank.payableNow() != 0 {
			t.Error("it does not expire by itself, and was not cancelled")
		}
		before := w.bank.called("look")
		for range 31 * 4 {
			w.later(t, 6*time.Hour)
		}
		if n := w.bank.called("look") - before; n < 6 || n > 7 { // those of the first hour may be one
			t.Errorf("%d looks after its end, want seven", n)
		}
		if n := w.count(t, `SELECT COUNT(*) FROM charges WHERE next_check_at IS NOT NULL`); n != 0 {
			t.Error("it is never left alone")
		}
	})
}

func TestWhatDoesNotFitIsKeptForAPerson(t *testing.T) {
	cases := map[string]struct {
		pay    func(t *testing.T, w *world, i billing.Invoice, code string)
		reason Reason
		paid   bool // the invoice is, in the end
	}{
		"too little": {func(t *testing.T, w *world, _ billing.Invoice, code string) { w.bank.pay(t, code, 3499) }, ReasonWrongAmount, false},
		"too much":   {func(t *testing.T, w *world, _ billing.Invoice, code string) { w.bank.pay(t, code, 3501) }, ReasonWrongAmount, false},
		"not reais": {func(t *testing.T, w *world, _ billing.Invoice, code string) {
			w.bank.pay(t, code, 3500)
			w.bank.change(func(c *held) { c.payments[0].Currency = "USD" })
		}, ReasonWrongCurrency, false},
		"of something else": {func(t *testing.T, w *world, _ billing.Invoice, code string) {
			w.bank.pay(t, code, 3500)
			w.bank.change(func(c *held) { c.lie = "somebody-elses" })
		}, ReasonWrongReference, false},
		"given back": {func(t *testing.T, w *world, _ billing.Invoice, code string) {
			w.bank.pay(t, code, 3500)
			w.bank.change(func(c *held) { c.payments[0].Refunded = 3500 })
		}, ReasonRefunded, false},
		"twice": {func(t *testing.T, w *world, _ billing.Invoice, code string) {
			w.bank.pay(t, code, 3500)
			w.bank.pay(t, code, 3500)
		}, ReasonDouble, true},
		"the invoice was changed": {func(t *testing.T, w *world, i billing.Invoice, code string) {
			w.bank.pay(t, code, 3500)
			w.exec(t, `UPDATE invoices SET amount_cents = 4000 WHERE id = ?`, i.ID)
		}, ReasonWrongAmount, false},
		"late": {func(t *testing.T, w *world, _ billing.Invoice, code string) {
			w.clock.Advance(25 * time.Hour)
			w.bank.pay(t, code, 3500)
		}, ReasonLate, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, w *world) {
				i := w.invoice(t)
				p := w.charged(t, i.ID)
				c.pay(t, w, i, p.PixCode)
				for range 3 { // however often it is looked at
					w.later(t, 25*time.Hour)
				}
				list := w.wantReviews(t, c.reason)
				if len(list) == 1 && (list[0].Payment.CustomerName != "Ana Lima" || list[0].Payment.InvoiceID != i.ID || list[0].Payment.Amount == 0) {
					t.Errorf("kept %+v", list[0])
				}
				if c.paid {
					w.wantPaid(t, i)
				} else {
					w.wantOpen(t, i)
				}
			})
		})
	}
}

func TestSecondPaymentThatComesLaterIsSeenToo(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		i := w.invoice(t)
		p := w.charged(t, i.ID)
		w.bank.pay(t, p.PixCode, 3500)
		w.later(t, time.Minute)
		w.wantPaid(t, i)
		w.bank.pay(t, p.PixCode, 3500)
		w.later(t, 11*time.Minute)
		w.wantReviews(t, ReasonDouble)
		w.bank.change(func(c *held) { c.payments[0].Refunded = 3500 })
		w.later(t, 24*time.Hour)
		w.wantReviews(t, ReasonDouble)
		w.wantOpen(t, i)
	})
}

func TestPaymentOnTimeThatIsSeenLatePays(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		i := w.invoice(t)
		p := w.charged(t, i.ID)
		at := w.clock.Now().Add(23 * time.Hour)
		w.clock.Advance(30 * time.Hour) // nobody was there to look
		w.bank.payAt(t, p.PixCode, 3500, at)
		w.work(t)
		w.wantPaid(t, i)
		w.wantReviews(t)
	})
}

func TestPaymentOfWhatIsNoLongerOwedIsKept(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		i, j, k := w.invoice(t), w.invoice(t), w.invoice(t)
		var codes []string
		for _, i := range []billing.Invoice{i, j, k} {
			codes = append(codes, w.charged(t, i.ID).PixCode)
		}
		// Each is paid at the moment in which it is closed: the cancellation comes too late.
		for n, code := range codes {
			w.bank.pay(t, code, 3500)
			switch n {
			case 0:
				_, err := w.invoices.SetStatus(t.Context(), w.actor, i.ID, billing.ReadStatusChange(values("status", "Cancelado")))
				must(t, err)
			case 1:
				_, err := w.invoices.SetStatus(t.Context(), w.actor, j.ID, billing.ReadStatusChange(values("status", "Pago")))
				must(t, err)
			case 2:
				must(t, w.customers.Delete(t.Context(), w.actor, k.Customer.ID))
			}
			w.work(t)
		}
		list := w.wantReviews(t, ReasonCancelledInvoice, ReasonDouble, ReasonDeletedInvoice)
		if last := list[2].Payment; last.CustomerName != "Ana Lima" || last.InvoiceID != k.ID || last.Amount != 3500 {
			t.Errorf("of the deleted one, %+v is kept", last)
		}
		for _, id := range []int64{i.ID, j.ID, k.ID} {
			w.wantStates(t, id, "paid")
		}
		if n := w.count(t, `SELECT COUNT(*) FROM payments WHERE charge_id IS NOT NULL AND status = 'applied'`); n != 0 {
			t.Errorf("%d applied", n)
		}
	})
}

func TestPersonDecides(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		i, j := w.invoice(t), w.invoice(t)
		for _, i := range []billing.Invoice{i, j} {
			w.bank.pay(t, w.charged(t, i.ID).PixCode, 3400)
		}
		w.later(t, time.Hour)
		list := w.wantReviews(t, ReasonWrongAmount, ReasonWrongAmount)
		if list[0].Payment.InvoiceID != i.ID {
			list[0], list[1] = list[1], list[0]
		}
		resolve := func(id int64, resolution string, more ...string) error {
			_, err := w.Decide(t.Context(), w.actor, ReadDecision(values(append(more, "resolution", resolution, "note", "combinado")...), id))
			return err
		}
		wantField(t, resolve(list[0].ID, "forgotten"), "resolution")
		wantField(t, resolve(list[0].ID, "applied"), "difference") // 34.00 came, 35.00 are to pay
		must(t, resolve(list[0].ID, "applied", "difference", "discount"))
		w.wantPaid(t, i)
		wantField(t, resolve(list[0].ID, "dismissed"), "resolution")
		_, err := w.invoices.SetStatus(t.Context(), w.actor, j.ID, billing.ReadStatusChange(values("status", "Cancelado")))
		must(t, err)
		wantField(t, resolve(list[1].ID, "applied"), "resolution")
		_, err = w.Decide(t.Context(), w.newCompany(t), ReadDecision(values("resolution", "dismissed"), list[1].ID))
		wantKind(t, err, "not_found")
		must(t, resolve(list[1].ID, "dismissed"))
		open, total, err := w.Reviews(t.Context(), w.actor, ReviewFilter{Open: true}, input.Page{Number: 1, Size: 10})
		if err != nil || total != 0 || len(open) != 0 {
			t.Errorf("%v is open, %v", open, err)
		}
		all := w.wantReviews(t, ReasonWrongAmount, ReasonWrongAmount)
		if all[0].ResolvedBy != "command line" || all[0].Note != "combinado" || all[0].ResolvedAt.IsZero() {
			t.Errorf("kept %+v", all[0])
		}
	})
}

func TestManyWhoSettleAtOncePayOnce(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		i := w.invoice(t)
		p := w.charged(t, i.ID)
		w.bank.pay(t, p.PixCode, 3500)
		c := w.only(t, i.ID)
		u, err := w.setupByID(t.Context(), c.companyID, c.gatewayID)
		must(t, err)
		processes := []*world{w, w.process(t), w.process(t)}
		errs := make([]error, 30)
		var all sync.WaitGroup
		for n := range errs {
			all.Go(func() { errs[n] = processes[n%3].fetch(t.Context(), check{u, c}) })
		}
		all.Wait()
		must(t, errors.Join(errs...))
		w.wantPaid(t, i)
		w.wantReviews(t)
	})
}

// only is the one charge of an invoice.
func (w *world) only(t *testing.T, invoiceID int64) charge {
	t.Helper()
	list, err := unsettled(t.Context(), w.db, w.actor.Company.ID, invoiceID)
	must(t, err)
	if len(list) != 1 {
		t.Fatalf("%d charges, want one", len(list))
	}
	return list[0]
}

func TestPaymentAndClosingAtOnce(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		other := w.process(t)
		for range 10 {
			i := w.invoice(t)
			p := w.charged(t, i.ID)
			w.bank.pay(t, p.PixCode, 3500)
			w.clock.Advance(time.Minute)
			var all sync.WaitGroup
			all.Go(func() { w.work(t) })
			all.Go(func() {
				_, _ = other.invoices.SetStatus(t.Context(), w.actor, i.ID, billing.ReadStatusChange(values("status", "Cancelado")))
			})
			all.Wait()
			w.later(t, time.Minute)
			applied := w.count(t, `SELECT COUNT(*) FROM payments WHERE invoice_id = ? AND status = 'applied'`, i.ID)
			reviewed := w.count(t, `SELECT COUNT(*) FROM payment_reviews r JOIN payments p ON p.id = r.payment_id WHERE p.invoice_id = ?`, i.ID)
			if status := w.find(t, i.ID).Status; (status == billing.Paid) != (applied == 1) || applied+reviewed != 1 {
				t.Errorf("%s, %d applied, %d reviewed", status, applied, reviewed)
			}
			w.wantStates(t, i.ID, "paid")
		}
	})
}

func TestPersonConfirmsWhatNoGatewayWatches(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.gateway(t, "provider", "hand", "secret", "x")
		i, j := w.invoice(t), w.invoice(t)
		confirm := func(id int64, pairs ...string) error {
			_, err := w.ConfirmByHand(t.Context(), w.actor, ReadConfirmation(values(pairs...), id))
			return err
		}
		wantField(t, confirm(i.ID, "amount", "35.00"), "invoice") // there is no code yet
		w.charged(t, i.ID)
		w.later(t, 23*time.Hour)
		if w.bank.called("look") != 0 {
			t.Error("asked after what nobody can tell")
		}
		wantField(t, confirm(i.ID), "amount")
		wantField(t, confirm(i.ID, "amount", "34.99"), "difference")
		must(t, confirm(i.ID, "amount", "10.00", "difference", "partial"))
		must(t, confirm(i.ID, "amount", "5.00", "difference", "partial"))
		if got := w.find(t, i.ID); got.Status != billing.Open || got.Received != 1500 {
			t.Errorf("in parts the invoice is %s with %s", got.Status, got.Received)
		}
		must(t, confirm(i.ID, "amount", "20.00", "payment_id", "E123"))
		if got := w.find(t, i.ID); got.Status != billing.Paid || got.PaidVia != "hand" {
			t.Errorf("the invoice is %s via %s", got.Status, got.PaidVia)
		}
		wantField(t, confirm(i.ID, "amount", "35.00"), "invoice")
		w.charged(t, j.ID)
		wantField(t, confirm(j.ID, "amount", "35.00", "payment_id", "E123"), "payment_id")
		w.later(t, 25*time.Hour)
		w.wantStates(t, j.ID, "expired")
		must(t, confirm(j.ID, "amount", "35.00")) // the code could be paid all the same
		list, err := w.Payments(t.Context(), w.actor, i.ID)
		if err != nil || len(list) != 3 || list[0].ConfirmedBy != "command line" || !list[0].Applied() {
			t.Errorf("kept %+v, %v", list, err)
		}
		if w.bank.called("look")+w.bank.called("cancel") != 0 {
			t.Error("a gateway was asked that there is not")
		}
	})
}
