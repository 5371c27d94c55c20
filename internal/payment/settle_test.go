package payment

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"carteira/internal/billing"
	"carteira/internal/platform/input"
)

func TestPaymentIsFoundWithoutACallback(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		invoice := world.invoice(t)
		payable := world.charged(t, invoice.ID)
		world.work(t)
		if world.bank.called("look") != 0 {
			t.Error("asked before there can be news")
		}
		world.bank.pay(t, payable.PixCode, 3500)
		world.later(t, 34*time.Second)
		world.wantPaid(t, invoice)
		world.wantStates(t, invoice.ID, "paid")
		world.wantReviews(t)
	})
}

// A process that was killed leaves the claims of its checks behind. The single
// process that follows it looks again at once, but makes no charge anew: the
// request of the dead one may still be on its way to the gateway.
func TestLooksOfADeadProcessAreInherited(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		looked, made := world.invoice(t), world.invoice(t)
		world.bank.pay(t, world.charged(t, looked.ID).PixCode, 3500)
		world.charged(t, made.ID)
		world.exec(t, `UPDATE charges SET state = 'reserved' WHERE company_id = ? AND invoice_id = ?`, world.actor.Company.ID, made.ID)
		world.clock.Advance(time.Minute)
		claimed, err := world.claim(t.Context(), maxInFlight)
		if err != nil || len(claimed) != 2 {
			t.Fatalf("%d claimed, %v", len(claimed), err)
		}
		next := world.process(t)
		if n, err := next.Reconcile(t.Context()); n != 0 || err != nil {
			t.Errorf("%d were checked though they are claimed, %v", n, err)
		}
		world.clock.Advance(callsPerClaim * spacing)
		must(t, next.Inherit(t.Context()))
		if n, err := next.Reconcile(t.Context()); n != 1 || err != nil {
			t.Errorf("%d were checked, %v; want the one that is only looked at", n, err)
		}
		world.wantPaid(t, looked)
		world.wantOpen(t, made)
	})
}

// The callbacks of a gateway that many pay through come faster than the engine may look by itself. Among them, one whose
// look was lost with its process has its turn all the same.
func TestBusyGatewayKeepsNoLostLookWaiting(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		setup, lost, busy := world.setup(t), world.invoice(t), world.invoice(t)
		world.bank.pay(t, world.charged(t, lost.ID).PixCode, 3500)
		world.charged(t, busy.ID)
		must(t, world.callBack(t, setup, tell{"lost", theSecret, world.only(t, lost.ID).ID, ""}))
		claimed, err := world.claim(t.Context(), maxInFlight)
		if err != nil || len(claimed) != 1 {
			t.Fatalf("%d claimed, %v; the process that looks dies now", len(claimed), err)
		}
		ends := world.clock.Now().Add(world.lease())
		for n := 0; world.clock.Now().Before(ends.Add(time.Second)); n++ {
			world.clock.Advance(time.Second)
			must(t, world.callBack(t, setup, tell{fmt.Sprint(n), theSecret, world.only(t, busy.ID).ID, ""}))
			_, err := world.Reconcile(t.Context())
			must(t, err)
		}
		world.wantPaid(t, lost)
	})
}

// The schedule of the looks: soon at first, then hourly to the end, then more and
// more seldom for a month.
func TestPollingBacksOff(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		invoice := world.invoice(t)
		world.charged(t, invoice.ID)
		looks := func(until time.Duration) int {
			for world.clock.Now().Before(noon.Add(until)) {
				world.later(t, 15*time.Second)
			}
			return world.bank.called("look")
		}
		if n := looks(10 * time.Minute); n < 4 || n > 5 {
			t.Errorf("%d looks in ten minutes", n)
		}
		for world.clock.Now().Before(noon.Add(24 * time.Hour)) {
			world.later(t, 5*time.Minute)
		}
		if n := world.bank.called("look"); n < 22 || n > 30 {
			t.Errorf("%d looks in a day", n)
		}
		world.later(t, time.Minute)
		world.wantStates(t, invoice.ID, "expired")
		if world.bank.payableNow() != 0 {
			t.Error("it does not expire by itself, and was not cancelled")
		}
		before := world.bank.called("look")
		for range 31 * 4 {
			world.later(t, 6*time.Hour)
		}
		if n := world.bank.called("look") - before; n < 6 || n > 7 { // those of the first hour may be one
			t.Errorf("%d looks after its end, want seven", n)
		}
		if n := world.count(t, `SELECT COUNT(*) FROM charges WHERE next_check_at IS NOT NULL`); n != 0 {
			t.Error("it is never left alone")
		}
	})
}

func TestWhatDoesNotFitIsKeptForAPerson(t *testing.T) {
	cases := map[string]struct {
		pay    func(t *testing.T, w *world, invoice billing.Invoice, code string)
		reason Reason
		paid   bool // the invoice is, in the end
	}{
		"too little": {func(t *testing.T, world *world, _ billing.Invoice, code string) { world.bank.pay(t, code, 3499) }, ReasonWrongAmount, false},
		"too much":   {func(t *testing.T, world *world, _ billing.Invoice, code string) { world.bank.pay(t, code, 3501) }, ReasonWrongAmount, false},
		"not reais": {func(t *testing.T, world *world, _ billing.Invoice, code string) {
			world.bank.pay(t, code, 3500)
			world.bank.change(func(order *held) { order.payments[0].Currency = "USD" })
		}, ReasonWrongCurrency, false},
		"of something else": {func(t *testing.T, world *world, _ billing.Invoice, code string) {
			world.bank.pay(t, code, 3500)
			world.bank.change(func(order *held) { order.lie = "somebody-elses" })
		}, ReasonWrongReference, false},
		"given back": {func(t *testing.T, world *world, _ billing.Invoice, code string) {
			world.bank.pay(t, code, 3500)
			world.bank.change(func(order *held) { order.payments[0].Refunded = 3500 })
		}, ReasonRefunded, false},
		"twice": {func(t *testing.T, world *world, _ billing.Invoice, code string) {
			world.bank.pay(t, code, 3500)
			world.bank.pay(t, code, 3500)
		}, ReasonDouble, true},
		"the invoice was changed": {func(t *testing.T, world *world, invoice billing.Invoice, code string) {
			world.bank.pay(t, code, 3500)
			world.exec(t, `UPDATE invoices SET amount_cents = 4000 WHERE id = ?`, invoice.ID)
		}, ReasonWrongAmount, false},
		"late": {func(t *testing.T, world *world, _ billing.Invoice, code string) {
			world.clock.Advance(25 * time.Hour)
			world.bank.pay(t, code, 3500)
		}, ReasonLate, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, world *world) {
				invoice := world.invoice(t)
				payable := world.charged(t, invoice.ID)
				c.pay(t, world, invoice, payable.PixCode)
				for range 3 { // however often it is looked at
					world.later(t, 25*time.Hour)
				}
				list := world.wantReviews(t, c.reason)
				if len(list) == 1 && (list[0].Payment.CustomerName != "Ana Lima" || list[0].Payment.InvoiceID != invoice.ID || list[0].Payment.Amount == 0) {
					t.Errorf("kept %+v", list[0])
				}
				if c.paid {
					world.wantPaid(t, invoice)
				} else {
					world.wantOpen(t, invoice)
				}
			})
		})
	}
}

func TestSecondPaymentThatComesLaterIsSeenToo(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		invoice := world.invoice(t)
		payable := world.charged(t, invoice.ID)
		world.bank.pay(t, payable.PixCode, 3500)
		world.later(t, time.Minute)
		world.wantPaid(t, invoice)
		world.bank.pay(t, payable.PixCode, 3500)
		world.later(t, 11*time.Minute)
		world.wantReviews(t, ReasonDouble)
		world.bank.change(func(order *held) { order.payments[0].Refunded = 3500 })
		world.later(t, 24*time.Hour)
		world.wantReviews(t, ReasonDouble)
		world.wantOpen(t, invoice)
	})
}

func TestPaymentOnTimeThatIsSeenLatePays(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		invoice := world.invoice(t)
		payable := world.charged(t, invoice.ID)
		at := world.clock.Now().Add(23 * time.Hour)
		world.clock.Advance(30 * time.Hour) // no process ran
		world.bank.payAt(t, payable.PixCode, 3500, at)
		world.work(t)
		world.wantPaid(t, invoice)
		world.wantReviews(t)
	})
}

func TestPaymentOfWhatIsNoLongerOwedIsKept(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		invoice, other, bill := world.invoice(t), world.invoice(t), world.invoice(t)
		var codes []string
		for _, invoice := range []billing.Invoice{invoice, other, bill} {
			codes = append(codes, world.charged(t, invoice.ID).PixCode)
		}
		// Each is paid at the moment in which it is closed: the cancellation comes too late.
		for n, code := range codes {
			world.bank.pay(t, code, 3500)
			switch n {
			case 0:
				_, err := world.invoices.SetStatus(t.Context(), world.actor, invoice.ID, billing.ReadStatusChange(values("status", "Cancelado")))
				must(t, err)
			case 1:
				_, err := world.invoices.SetStatus(t.Context(), world.actor, other.ID, billing.ReadStatusChange(values("status", "Pago")))
				must(t, err)
			case 2:
				must(t, world.customers.Delete(t.Context(), world.actor, bill.Customer.ID))
			}
			world.work(t)
		}
		list := world.wantReviews(t, ReasonCancelledInvoice, ReasonDouble, ReasonDeletedInvoice)
		if last := list[2].Payment; last.CustomerName != "Ana Lima" || last.InvoiceID != bill.ID || last.Amount != 3500 {
			t.Errorf("of the deleted one, %+v is kept", last)
		}
		for _, id := range []int64{invoice.ID, other.ID, bill.ID} {
			world.wantStates(t, id, "paid")
		}
		if n := world.count(t, `SELECT COUNT(*) FROM payments WHERE charge_id IS NOT NULL AND status = 'applied'`); n != 0 {
			t.Errorf("%d applied", n)
		}
	})
}

func TestPersonDecides(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		invoice, other := world.invoice(t), world.invoice(t)
		for _, invoice := range []billing.Invoice{invoice, other} {
			world.bank.pay(t, world.charged(t, invoice.ID).PixCode, 3400)
		}
		world.later(t, time.Hour)
		list := world.wantReviews(t, ReasonWrongAmount, ReasonWrongAmount)
		if list[0].Payment.InvoiceID != invoice.ID {
			list[0], list[1] = list[1], list[0]
		}
		resolve := func(id int64, resolution string, more ...string) error {
			_, err := world.Decide(t.Context(), world.actor, ReadDecision(values(append(more, "resolution", resolution, "note", "combinado")...), id))
			return err
		}
		wantField(t, resolve(list[0].ID, "forgotten"), "resolution")
		wantField(t, resolve(list[0].ID, "applied"), "difference") // 34.00 came, 35.00 are to pay
		must(t, resolve(list[0].ID, "applied", "difference", "discount"))
		world.wantPaid(t, invoice)
		wantField(t, resolve(list[0].ID, "dismissed"), "resolution")
		_, err := world.invoices.SetStatus(t.Context(), world.actor, other.ID, billing.ReadStatusChange(values("status", "Cancelado")))
		must(t, err)
		wantField(t, resolve(list[1].ID, "applied"), "resolution")
		_, err = world.Decide(t.Context(), world.newCompany(t), ReadDecision(values("resolution", "dismissed"), list[1].ID))
		wantKind(t, err, "not_found")
		must(t, resolve(list[1].ID, "dismissed"))
		open, total, err := world.Reviews(t.Context(), world.actor, ReviewFilter{Open: true}, input.Page{Number: 1, Size: 10})
		if err != nil || total != 0 || len(open) != 0 {
			t.Errorf("%v is open, %v", open, err)
		}
		all := world.wantReviews(t, ReasonWrongAmount, ReasonWrongAmount)
		if all[0].ResolvedBy != "command line" || all[0].Note != "combinado" || all[0].ResolvedAt.IsZero() {
			t.Errorf("kept %+v", all[0])
		}
	})
}

func TestManyWhoSettleAtOncePayOnce(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		invoice := w.invoice(t)
		payable := w.charged(t, invoice.ID)
		w.bank.pay(t, payable.PixCode, 3500)
		charge := w.only(t, invoice.ID)
		setup, err := w.setupByID(t.Context(), charge.companyID, charge.gatewayID)
		must(t, err)
		processes := []*world{w, w.process(t), w.process(t)}
		errs := make([]error, 30)
		var all sync.WaitGroup
		for n := range errs {
			all.Go(func() { errs[n] = processes[n%3].fetch(t.Context(), check{setup, charge}) })
		}
		all.Wait()
		must(t, errors.Join(errs...))
		w.wantPaid(t, invoice)
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
	each(t, func(t *testing.T, world *world) {
		other := world.process(t)
		for range 10 {
			invoice := world.invoice(t)
			payable := world.charged(t, invoice.ID)
			world.bank.pay(t, payable.PixCode, 3500)
			world.clock.Advance(time.Minute)
			var all sync.WaitGroup
			all.Go(func() { world.work(t) })
			all.Go(func() {
				_, _ = other.invoices.SetStatus(t.Context(), world.actor, invoice.ID, billing.ReadStatusChange(values("status", "Cancelado")))
			})
			all.Wait()
			world.later(t, time.Minute)
			applied := world.count(t, `SELECT COUNT(*) FROM payments WHERE invoice_id = ? AND status = 'applied'`, invoice.ID)
			reviewed := world.count(t, `SELECT COUNT(*) FROM payment_reviews r JOIN payments p ON p.id = r.payment_id WHERE p.invoice_id = ?`, invoice.ID)
			if status := world.find(t, invoice.ID).Status; (status == billing.Paid) != (applied == 1) || applied+reviewed != 1 {
				t.Errorf("%s, %d applied, %d reviewed", status, applied, reviewed)
			}
			world.wantStates(t, invoice.ID, "paid")
		}
	})
}

func TestPersonConfirmsWhatNoGatewayWatches(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		world.gateway(t, "provider", "hand", "secret", "x")
		invoice, other := world.invoice(t), world.invoice(t)
		confirm := func(id int64, pairs ...string) error {
			_, err := world.ConfirmByHand(t.Context(), world.actor, ReadConfirmation(values(pairs...), id))
			return err
		}
		wantField(t, confirm(invoice.ID, "amount", "35.00"), "invoice") // there is no code yet
		world.charged(t, invoice.ID)
		world.later(t, 23*time.Hour)
		if world.bank.called("look") != 0 {
			t.Error("asked after what nobody can tell")
		}
		wantField(t, confirm(invoice.ID), "amount")
		wantField(t, confirm(invoice.ID, "amount", "34.99"), "difference")
		wantField(t, confirm(invoice.ID, "amount", "34.99", "difference", "write_off"), "note")
		wantField(t, confirm(invoice.ID, "amount", "35.00", "paid_on", "1999-12-31"), "paid_on") // as it was named
		wantField(t, confirm(invoice.ID, "amount", "35.00", "paid_at", "1999-12-31"), "paid_at")
		must(t, confirm(invoice.ID, "amount", "10.00", "difference", "partial"))
		must(t, confirm(invoice.ID, "amount", "5.00", "difference", "partial"))
		if got := world.find(t, invoice.ID); got.Status != billing.Open || got.Received != 1500 {
			t.Errorf("in parts the invoice is %s with %s", got.Status, got.Received)
		}
		must(t, confirm(invoice.ID, "amount", "20.00", "payment_id", "E123"))
		if got := world.find(t, invoice.ID); got.Status != billing.Paid || got.PaidVia != "hand" {
			t.Errorf("the invoice is %s via %s", got.Status, got.PaidVia)
		}
		wantField(t, confirm(invoice.ID, "amount", "35.00"), "invoice")
		world.charged(t, other.ID)
		wantField(t, confirm(other.ID, "amount", "35.00", "payment_id", "E123"), "payment_id")
		world.later(t, 25*time.Hour)
		world.wantStates(t, other.ID, "expired")
		must(t, confirm(other.ID, "amount", "30.00", "difference", "write_off", "note", "mudou-se")) // the code could be paid all the same
		if got := world.find(t, other.ID); got.Status != billing.Paid || got.WrittenOff != 500 {
			t.Errorf("with less the invoice is %s, %s of it lost", got.Status, got.WrittenOff)
		}
		list, err := world.Payments(t.Context(), world.actor, invoice.ID)
		if err != nil || len(list) != 3 || list[0].ConfirmedBy != "command line" || !list[0].Applied() {
			t.Errorf("kept %+v, %v", list, err)
		}
		if world.bank.called("look")+world.bank.called("cancel") != 0 {
			t.Error("a gateway was asked that there is not")
		}
	})
}
