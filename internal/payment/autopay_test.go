package payment

import (
	"errors"
	"testing"
	"time"

	"carteira/internal/billing"
	"carteira/internal/customer"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/sqldb"
)

// The clock of these tests begins on Saturday, 31 January 2026. The debit of
// Friday, 13 February is announced at once; Carnival follows it.
const dueOn = "2026-02-13"

func TestDebitPaysTheInvoiceOnItsDueDate(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		invoice := world.authorised(t, dueOn)
		world.wantStates(t, invoice.ID, "pending")
		known := world.wantAutopay(t, invoice.Customer.ID, customer.AutopayActive)
		if known.NextDebit == nil || known.NextDebit.On != civil.MustParse(dueOn) || known.NextDebit.Amount != 3500 {
			t.Errorf("next debit %+v", known.NextDebit)
		}
		world.toward(t, "2026-02-12")
		world.wantOpen(t, invoice)
		world.toward(t, dueOn)
		world.wantStates(t, invoice.ID, "paid")
		if got := world.find(t, invoice.ID); got.Status != billing.Paid || got.PaidVia != "fake" {
			t.Errorf("%s via %s", got.Status, got.PaidVia)
		}
		world.wantReviews(t)
	})
}

func TestNextInvoiceIsAnnouncedByItself(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		invoice := world.authorised(t, dueOn)
		world.toward(t, "2026-03-09")
		_, err := world.invoices.Issue(t.Context(), world.actor)
		must(t, err)
		world.work(t)
		known := world.wantAutopay(t, invoice.Customer.ID, customer.AutopayActive)
		if known.NextDebit == nil || known.NextDebit.On.String() != "2026-03-13" {
			t.Errorf("next debit %+v", known.NextDebit)
		}
	})
}

func TestInvoiceThatIsTooLateIsChargedAsUsual(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		invoice := world.authorised(t, "2026-02-03") // Tuesday: one working day ahead of Monday
		world.wantStates(t, invoice.ID)
		payable := world.charged(t, invoice.ID)
		world.bank.pay(t, payable.PixCode, 3500)
		world.later(t, time.Hour)
		world.wantStates(t, invoice.ID, "paid")
	})
}

func TestDebitOfADayOnWhichBanksRestIsOfTheNextWorkingDay(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		invoice := world.authorised(t, "2026-02-16") // Carnival Monday
		known := world.wantAutopay(t, invoice.Customer.ID, customer.AutopayActive)
		if known.NextDebit != nil {
			t.Errorf("announced %s, more than ten working days ahead", known.NextDebit.On)
		}
		world.toward(t, "2026-02-18")
		if got := world.find(t, invoice.ID); got.Status != billing.Paid {
			t.Errorf("%s on Ash Wednesday", got.Status)
		}
	})
}

func TestDebitThatFailsIsTriedAgainAndThenLeftToThePayer(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		world.bank.withoutMoney(true)
		invoice := world.authorised(t, dueOn)
		world.toward(t, dueOn)
		known := world.wantAutopay(t, invoice.Customer.ID, customer.AutopayActive)
		if known.NextDebit == nil || known.NextDebit.On.String() != "2026-02-18" || known.NextDebit.Failure != "no money" {
			t.Errorf("next debit %+v", known.NextDebit)
		}
		world.toward(t, "2026-02-24")
		if n := world.bank.called("retry debit"); n != 3 {
			t.Errorf("%d retries, want three within seven days", n)
		}
		world.wantStates(t, invoice.ID, "cancelled")
		known = world.wantAutopay(t, invoice.Customer.ID, customer.AutopayActive)
		if known.NextDebit != nil || known.Failed == nil || known.Failed.Failure != "no money" {
			t.Errorf("next %+v, failed %+v", known.NextDebit, known.Failed)
		}
		world.bank.pay(t, world.charged(t, invoice.ID).PixCode, 3500)
		world.later(t, time.Hour)
		if got := world.find(t, invoice.ID); got.Status != billing.Paid {
			t.Errorf("%s", got.Status)
		}
	})
}

// As with charges: where a look that a callback asked for is lost, the next one does not wait for the gateway's pace.
func TestLostLookAtAnAuthorisationIsNotKeptWaiting(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		invoice := world.authorised(t, dueOn)
		must(t, world.db.Write(t.Context(), func(tx *sqldb.Tx) error {
			_, err := markOfCustomers(t.Context(), tx, world.actor.Company.ID, []int64{invoice.Customer.ID})
			return err
		}))
		var claimed []authorisation
		must(t, world.db.Write(t.Context(), func(tx *sqldb.Tx) (err error) {
			claimed, err = claimAuthorisations(t.Context(), tx, []int64{1}, tx.Now().Add(world.lease()))
			return err
		}))
		if len(claimed) != 1 {
			t.Fatalf("%d claimed; the process that looks dies now", len(claimed))
		}
		world.clock.Advance(world.lease())
		world.exec(t, `UPDATE gateways SET resume_at = ?`, world.clock.Now().Add(time.Minute).UnixMicro())
		for _, want := range []int{1, 0} {
			if n, err := world.checkAuthorisations(t.Context()); n != want || err != nil {
				t.Errorf("%d looked at, %v, want %d", n, err, want)
			}
		}
	})
}

func TestRetryThatIsPaidPaysTheInvoice(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		world.bank.withoutMoney(true)
		invoice := world.authorised(t, dueOn)
		world.toward(t, dueOn)
		world.bank.withoutMoney(false)
		world.toward(t, "2026-02-19")
		if got := world.find(t, invoice.ID); got.Status != billing.Paid {
			t.Errorf("%s", got.Status)
		}
		world.wantReviews(t)
	})
}

func TestCodeIsGivenOutOnlyWhenTheDebitIsCancelled(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		invoice := world.authorised(t, dueOn)
		payable := world.charged(t, invoice.ID)
		world.wantStates(t, invoice.ID, "cancelled", "pending")
		world.bank.pay(t, payable.PixCode, 3500)
		world.toward(t, "2026-02-14")
		world.wantStates(t, invoice.ID, "cancelled", "paid")
		if n := world.bank.paidDebits(); n != 0 {
			t.Errorf("%d debits beside the code", n)
		}
	})
}

func TestDebitThatCannotBeCancelledGivesOutNoCode(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		invoice := world.authorised(t, dueOn)
		world.bank.fail("cancel debit", errBank)
		_, err := world.Charge(t.Context(), world.actor, invoice.ID, "")
		wantKind(t, err, fault.KindUpstream)
		world.bank.fail("", nil)
		morning := civil.MustParse(dueOn).At(time.Hour, bankZone)
		world.clock.Advance(morning.Sub(world.clock.Now()))
		_, err = world.Charge(t.Context(), world.actor, invoice.ID, "")
		if err == nil {
			t.Error("a code was given out while the bank debits")
		}
		world.toward(t, dueOn)
		if n := world.count(t, `SELECT COUNT(*) FROM charges WHERE invoice_id = ? AND authorisation_id = 0`, invoice.ID); n != 0 {
			t.Errorf("%d codes", n)
		}
	})
}

func TestDebitThatIsRunningRefusesACodeWithAConflict(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		invoice := world.authorised(t, dueOn)
		world.clock.Advance(civil.MustParse(dueOn).At(time.Hour, bankZone).Sub(world.clock.Now()))
		_, err := world.Charge(t.Context(), world.actor, invoice.ID, "")
		if !errors.Is(err, errBeingDebited) {
			t.Errorf("%v", err)
		}
		world.toward(t, dueOn)
		if got := world.find(t, invoice.ID); got.Status != billing.Paid {
			t.Errorf("%s: the debit went through", got.Status)
		}
	})
}

func TestInvoiceThatIsSettledOtherwiseIsNotDebited(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		for name, change := range map[string]func(t *testing.T, invoice billing.Invoice){
			"paid by hand": func(t *testing.T, invoice billing.Invoice) {
				t.Helper()
				_, err := world.invoices.SetStatus(t.Context(), world.actor, invoice.ID, billing.ReadStatusChange(values("status", "Pago")))
				must(t, err)
			},
			"cancelled": func(t *testing.T, invoice billing.Invoice) {
				t.Helper()
				_, err := world.invoices.SetStatus(t.Context(), world.actor, invoice.ID, billing.ReadStatusChange(values("status", "Cancelado")))
				must(t, err)
			},
			"deleted with its customer": func(t *testing.T, invoice billing.Invoice) {
				t.Helper()
				must(t, world.customers.Delete(t.Context(), world.actor, invoice.Customer.ID))
			},
		} {
			invoice := world.authorised(t, dueOn)
			change(t, invoice)
			world.later(t, time.Hour)
			if states := world.states(t, invoice.ID); len(states) != 1 || states[0] != "cancelled" {
				t.Errorf("%s: the debit is %v", name, states)
			}
		}
		world.toward(t, "2026-02-14")
		if n := world.bank.paidDebits(); n != 0 {
			t.Errorf("%d debits", n)
		}
	})
}

func TestInvoiceThatCostsAnotherAmountIsAnnouncedAnew(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		invoice := world.authorised(t, dueOn)
		_, err := world.invoices.Edit(t.Context(), world.actor, invoice.ID, billing.ReadEdit(values("total_amount", "20.00")))
		must(t, err)
		world.later(t, time.Hour)
		world.wantStates(t, invoice.ID, "cancelled", "pending")
		world.toward(t, dueOn)
		if got := world.find(t, invoice.ID); got.Status != billing.Paid || got.Received != 2000 {
			t.Errorf("%s with %s", got.Status, got.Received)
		}
	})
}

func TestEachSideCanEndAnAuthorisation(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		for by, end := range map[EndedBy]func(t *testing.T, customerID int64){
			ByPayer: func(t *testing.T, _ int64) { t.Helper(); world.bank.endsThem(ByPayer) },
			ByBank:  func(t *testing.T, _ int64) { t.Helper(); world.bank.endsThem(ByBank) },
			ByCompany: func(t *testing.T, customerID int64) {
				t.Helper()
				_, err := world.EndAutopay(t.Context(), world.actor, customerID)
				must(t, err)
			},
		} {
			invoice := world.authorised(t, dueOn)
			end(t, invoice.Customer.ID)
			world.later(t, 25*time.Hour)
			known := world.wantAutopay(t, invoice.Customer.ID, customer.AutopayEnded)
			if known.Newest.EndedBy != by || known.History[0].By != string(by) || len(known.History) != 3 {
				t.Errorf("ended by %s, want %s: %+v", known.Newest.EndedBy, by, known.History)
			}
			if states := world.states(t, invoice.ID); len(states) != 1 || states[0] != "cancelled" {
				t.Errorf("by %s: the debit is %v", by, states)
			}
		}
		world.toward(t, "2026-02-14")
		if n := world.bank.paidDebits(); n != 0 {
			t.Errorf("%d debits after the end", n)
		}
	})
}

func TestPayerWhoRefusesOrDoesNotAnswerHasNotAuthorised(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		refusing := world.subscriber(t, dueOn)
		world.asks(t, refusing.Customer.ID)
		world.bank.refuses()
		silent := world.subscriber(t, dueOn)
		world.asks(t, silent.Customer.ID)
		world.toward(t, "2026-02-08")
		if known := world.wantAutopay(t, refusing.Customer.ID, customer.AutopayEnded); known.Newest.EndedBy != ByPayer {
			t.Errorf("refused by %s", known.Newest.EndedBy)
		}
		if known := world.wantAutopay(t, silent.Customer.ID, customer.AutopayEnded); known.Newest.EndedBy != ByExpiry {
			t.Errorf("unanswered, ended by %s", known.Newest.EndedBy)
		}
		world.asks(t, silent.Customer.ID)
		world.wantAutopay(t, silent.Customer.ID, customer.AutopayAsked)
	})
}

func TestEventTellsEachStepOnce(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		invoice := world.authorised(t, dueOn)
		_, err := world.EndAutopay(t.Context(), world.actor, invoice.Customer.ID)
		must(t, err)
		world.later(t, time.Hour)
		for _, step := range []string{
			`%"autopay":"asked","previous":"none","by":null%`,
			`%"autopay":"active","previous":"asked","by":null%`,
			`%"autopay":"ended","previous":"active","by":"company"%`,
		} {
			if n := world.count(t, `SELECT COUNT(*) FROM events WHERE name = 'autopay.changed' AND body LIKE ?`, step); n != 1 {
				t.Errorf("%d events like %s", n, step)
			}
		}
		if n := world.count(t, `SELECT COUNT(*) FROM events WHERE name = 'autopay.changed'`); n != 3 {
			t.Errorf("%d events, want three", n)
		}
	})
}

func TestCustomerIsAskedOnce(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		invoice := world.subscriber(t, dueOn)
		first := world.asks(t, invoice.Customer.ID)
		again := world.asks(t, invoice.Customer.ID)
		if first.Newest.PixCode == "" || again.Newest.PixCode != first.Newest.PixCode || world.bank.called("authorise") != 1 {
			t.Errorf("asked %d times: %q, %q", world.bank.called("authorise"), first.Newest.PixCode, again.Newest.PixCode)
		}
		_, err := world.AskAutopay(t.Context(), world.actor, invoice.Customer.ID, AutopayRequestDraft{
			Journey: JourneyRequest, Account: PayerAccount{"12345678", "1", "2"},
		})
		wantKind(t, err, fault.KindConflict)
		world.bank.authorises()
		world.later(t, time.Hour)
		_, err = world.AskAutopay(t.Context(), world.actor, invoice.Customer.ID, AutopayRequestDraft{Journey: JourneyCode})
		wantKind(t, err, fault.KindConflict)
	})
}

func TestGatewayThatRefusesToAskEndsTheRequest(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		invoice := world.subscriber(t, dueOn)
		world.bank.fail("authorise", &Refusal{Reason: "a tax id is needed"})
		_, err := world.AskAutopay(t.Context(), world.actor, invoice.Customer.ID, AutopayRequestDraft{Journey: JourneyCode})
		wantKind(t, err, fault.KindUpstream)
		known := world.wantAutopay(t, invoice.Customer.ID, customer.AutopayEnded)
		if known.Newest.EndedBy != ByBank || known.Newest.Reason != "Fake refused: a tax id is needed" {
			t.Errorf("%+v", known.Newest)
		}
	})
}

func TestRequestWhoseAnswerIsLostIsFoundAgain(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		invoice := world.subscriber(t, dueOn)
		world.bank.loseAnswers("authorise", errBank)
		_, err := world.AskAutopay(t.Context(), world.actor, invoice.Customer.ID, AutopayRequestDraft{Journey: JourneyCode})
		wantKind(t, err, fault.KindUpstream)
		world.bank.loseAnswers("", nil)
		world.later(t, time.Hour)
		known := world.wantAutopay(t, invoice.Customer.ID, customer.AutopayAsked)
		if known.Newest.PixCode == "" || len(world.bank.accounts.mandates) != 1 {
			t.Errorf("%d at the bank, code %q", len(world.bank.accounts.mandates), known.Newest.PixCode)
		}
	})
}

func TestAnnouncementWhoseAnswerIsLostIsMadeOnce(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		world.bank.loseAnswers("announce", errBank)
		invoice := world.authorised(t, dueOn)
		world.bank.loseAnswers("", nil)
		world.later(t, time.Hour)
		world.toward(t, dueOn)
		if got := world.find(t, invoice.ID); got.Status != billing.Paid {
			t.Errorf("%s", got.Status)
		}
		if n := world.bank.paidDebits(); n != 1 {
			t.Errorf("%d debits", n)
		}
	})
}

func TestCancelledCustomerHasNoAuthorisation(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		invoice := world.authorised(t, dueOn)
		_, err := world.customers.Update(t.Context(), world.actor, invoice.Customer.ID, customer.ReadChanges(values("cancelled", "true")))
		must(t, err)
		world.later(t, time.Hour)
		world.wantAutopay(t, invoice.Customer.ID, customer.AutopayEnded)
		world.bank.mandatesIn(AuthorisationActive, func(known *mandated) { t.Errorf("%s is alive at the bank", known.ID) })
	})
}

func TestAuthorisationOfAGatewayThatWasLeftDebitsNothing(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		invoice := world.subscriber(t, dueOn)
		world.asks(t, invoice.Customer.ID)
		world.gateway(t, "provider", "other", "secret", "x")
		world.bank.authorises()
		world.later(t, 25*time.Hour)
		known := world.wantAutopay(t, invoice.Customer.ID, customer.AutopayActive)
		if !known.Left || known.NextDebit != nil {
			t.Errorf("left %t, next %+v", known.Left, known.NextDebit)
		}
		world.gateway(t, "provider", "fake")
		world.later(t, 25*time.Hour)
		known = world.wantAutopay(t, invoice.Customer.ID, customer.AutopayActive)
		if known.Left || known.NextDebit == nil {
			t.Errorf("left %t, next %+v", known.Left, known.NextDebit)
		}
	})
}

func TestRefundOfADebitTakesThePaymentBack(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		invoice := world.authorised(t, dueOn)
		world.toward(t, "2026-02-14")
		world.bank.mu.Lock()
		for _, debit := range world.bank.accounts.debits {
			debit.payments[0].Refunded = 3500
		}
		world.bank.mu.Unlock()
		world.later(t, 3*day)
		world.wantOpen(t, invoice)
		world.wantReviews(t)
	})
}
