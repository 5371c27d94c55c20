package payment

import (
	"testing"
	"time"

	"carteira/internal/billing"
	"carteira/internal/customer"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/test/kit/sqldbtest"
)

func (w *world) wantsToAuthorise(t *testing.T, invoice billing.Invoice) Payable {
	t.Helper()
	payable, err := w.ChargeAuthorising(t.Context(), w.actor, invoice.ID)
	must(t, err)
	return payable
}

func (w *world) wantPaidOnce(t *testing.T, invoice billing.Invoice) {
	t.Helper()
	if got := w.find(t, invoice.ID); got.Status != billing.Paid || got.PaidVia != "fake" {
		t.Errorf("the invoice is %s, paid via %q", got.Status, got.PaidVia)
	}
	if n := w.count(t, `SELECT COUNT(*) FROM payments WHERE invoice_id = ?`, invoice.ID); n != 1 {
		t.Errorf("%d payments, want one", n)
	}
}

// newestOf is the newest invoice of a customer.
func (w *world) newestOf(t *testing.T, invoice billing.Invoice) billing.Invoice {
	t.Helper()
	list, _, err := w.invoices.List(t.Context(), w.actor, billing.Filter{CustomerID: invoice.Customer.ID}, input.Page{Number: 1, Size: 1})
	must(t, err)
	return list[0]
}

// mandates counts the authorisations at the bank, by state.
func (w *world) mandates() map[AuthorisationState]int {
	w.bank.mu.Lock()
	defer w.bank.mu.Unlock()
	count := map[AuthorisationState]int{}
	for _, known := range w.bank.accounts.mandates {
		count[known.State]++
	}
	return count
}

func TestCodeThatAuthorisesPaysTheInvoiceAndHasTheNextOnesDebited(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newWorld(t, engine)
		invoice := world.subscriber(t, dueOn)
		payable := world.wantsToAuthorise(t, invoice)
		world.wantAutopay(t, invoice.Customer.ID, customer.AutopayAsked)
		if again := world.wantsToAuthorise(t, invoice); again.Reference != payable.Reference {
			t.Error("a second wish made a second code")
		}
		if plain, err := world.Charge(t.Context(), world.actor, invoice.ID, ""); err != nil || plain.Reference != payable.Reference {
			t.Errorf("whoever asks for a code gets another one: %v", err)
		}
		world.bank.pay(t, payable.PixCode, payable.Amount)
		world.later(t, time.Hour)
		world.wantPaidOnce(t, invoice)
		world.wantAutopay(t, invoice.Customer.ID, customer.AutopayActive)
		if made := world.mandates(); made[AuthorisationActive] != 1 || len(made) != 1 || world.bank.made != 1 {
			t.Errorf("%v authorisations and %d charges at the bank", made, world.bank.made)
		}
		next := invoice
		for day := civil.MustParse("2026-03-01"); next.ID == invoice.ID && day.Day() < 12; day = day.AddDays(1) {
			world.toward(t, day.String())
			_, err := world.invoices.Issue(t.Context(), world.actor)
			must(t, err)
			next = world.newestOf(t, invoice)
		}
		_, err := world.ChargeAuthorising(t.Context(), world.actor, next.ID)
		if fault.KindOf(err) != fault.KindConflict {
			t.Errorf("a customer who has authorised is asked again: %v", err)
		}
		world.toward(t, next.DueOn.String())
		world.wantPaidOnce(t, next)
		if count := world.bank.paidDebits(); count != 1 || next.ID == invoice.ID {
			t.Errorf("%d debits were made", count)
		}
	})
}

// Whatever is lost between us and the bank, there is one charge and one
// authorisation, and the payer's money and word count.
func TestLostAnswerAboutACodeThatAuthorisesMakesNothingTwice(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		for name, again := range map[string]bool{"the payer asks again": true, "nobody asks again": false} {
			t.Run(name, func(t *testing.T) {
				world := newWorld(t, engine)
				invoice := world.subscriber(t, dueOn)
				world.bank.loseAnswers("authorise", errBank)
				if _, err := world.ChargeAuthorising(t.Context(), world.actor, invoice.ID); err == nil {
					t.Fatal("a lost answer was an answer")
				}
				world.bank.loseAnswers("", nil)
				world.later(t, time.Hour)
				if again {
					world.wantsToAuthorise(t, invoice)
				}
				var code string
				world.bank.change(func(order *held) { code = order.reference })
				world.bank.pay(t, code, invoice.Amount)
				world.later(t, time.Hour)
				world.wantPaidOnce(t, invoice)
				world.wantAutopay(t, invoice.Customer.ID, customer.AutopayActive)
				if made := world.mandates(); made[AuthorisationActive] != 1 || world.bank.made != 1 {
					t.Errorf("%v authorisations and %d charges at the bank", made, world.bank.made)
				}
			})
		}
	})
}

func TestCodeThatAuthorisesEndsWithItsCharge(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		for name, end := range map[string]func(t *testing.T, world *world, invoice billing.Invoice){
			"paid by hand": func(t *testing.T, world *world, invoice billing.Invoice) {
				t.Helper()
				_, err := world.invoices.SetStatus(t.Context(), world.actor, invoice.ID, billing.ReadStatusChange(values("status", "Pago")))
				must(t, err)
			},
			"another code": func(t *testing.T, world *world, invoice billing.Invoice) {
				t.Helper()
				_, err := world.chargeWith(t.Context(), world.actor, invoice.ID, plainCode)
				must(t, err)
			},
			"its time is over": func(t *testing.T, world *world, _ billing.Invoice) {
				t.Helper()
				world.later(t, 40*24*time.Hour)
			},
		} {
			t.Run(name, func(t *testing.T) {
				world := newWorld(t, engine)
				invoice := world.subscriber(t, dueOn)
				world.wantsToAuthorise(t, invoice)
				end(t, world, invoice)
				world.later(t, time.Hour)
				world.later(t, time.Hour)
				known := world.wantAutopay(t, invoice.Customer.ID, customer.AutopayEnded)
				if made := world.mandates(); made[AuthorisationAsked]+made[AuthorisationActive] != 0 {
					t.Errorf("%v at the bank; ours says %q", made, known.Newest.Reason)
				}
			})
		}
	})
}

func TestRefusedCodeThatAuthorisesLeavesThePlainOne(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newWorld(t, engine)
		invoice := world.subscriber(t, dueOn)
		world.bank.fail("authorise", &Refusal{Reason: "the payer's bank has no PIX Automático"})
		if _, err := world.ChargeAuthorising(t.Context(), world.actor, invoice.ID); err == nil {
			t.Fatal("a refusal was no failure")
		}
		world.bank.fail("", nil)
		payable, err := world.Charge(t.Context(), world.actor, invoice.ID, "")
		must(t, err)
		world.bank.pay(t, payable.PixCode, payable.Amount)
		world.later(t, time.Hour)
		world.later(t, time.Hour)
		world.wantPaidOnce(t, invoice)
		world.wantAutopay(t, invoice.Customer.ID, customer.AutopayEnded)
	})
}

func TestCustomerAskedBeforeIsAskedByTheCodeThatPays(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newWorld(t, engine)
		invoice := world.subscriber(t, dueOn)
		world.asks(t, invoice.Customer.ID)
		payable := world.wantsToAuthorise(t, invoice)
		world.bank.pay(t, payable.PixCode, payable.Amount)
		world.later(t, time.Hour)
		world.later(t, time.Hour)
		world.wantAutopay(t, invoice.Customer.ID, customer.AutopayActive)
		if made := world.mandates(); made[AuthorisationActive] != 1 || made[AuthorisationAsked] != 0 {
			t.Errorf("%v at the bank", made)
		}
	})
}
