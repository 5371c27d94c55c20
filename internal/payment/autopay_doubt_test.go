package payment

import (
	"errors"
	"strings"
	"testing"
	"time"

	"carteira/internal/billing"
	"carteira/internal/customer"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
)

// Who has a code made and does not pay it is debited after all: that we cancelled
// the debit for the code is no failure of it.
func TestDebitThatMadePlaceForACodeIsAnnouncedAgainWhenTheCodeEnds(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		invoice := world.authorised(t, dueOn)
		world.charged(t, invoice.ID)
		world.toward(t, "2026-02-06")
		known := world.wantAutopay(t, invoice.Customer.ID, customer.AutopayActive)
		if known.Failed != nil || known.NextDebit == nil {
			t.Errorf("next %+v, failed %+v", known.NextDebit, known.Failed)
		}
		world.toward(t, dueOn)
		if got := world.find(t, invoice.ID); got.Status != billing.Paid || world.bank.paidDebits() != 1 {
			t.Errorf("%s after %d debits", got.Status, world.bank.paidDebits())
		}
		world.wantReviews(t)
	})
}

func TestDebitThatThePayerStruckOutIsNotAnnouncedAgain(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		invoice := world.authorised(t, dueOn)
		world.bank.strikesOut()
		world.toward(t, "2026-02-06")
		known := world.wantAutopay(t, invoice.Customer.ID, customer.AutopayActive)
		if known.NextDebit != nil || known.Failed == nil || known.Failed.Failure != "cancelled by the payer or the bank" {
			t.Errorf("next %+v, failed %+v", known.NextDebit, known.Failed)
		}
		world.wantStates(t, invoice.ID, "cancelled")
		world.bank.pay(t, world.charged(t, invoice.ID).PixCode, 3500)
		world.later(t, time.Hour)
		if got := world.find(t, invoice.ID); got.Status != billing.Paid {
			t.Errorf("%s", got.Status)
		}
	})
}

// A failure of long ago is not shown for ever.
func TestFailedDebitIsForgottenWhenALaterOneIsPaid(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		world.bank.withoutMoney(true)
		invoice := world.authorised(t, dueOn)
		world.toward(t, "2026-02-24")
		world.bank.pay(t, world.charged(t, invoice.ID).PixCode, 3500)
		world.bank.withoutMoney(false)
		for _, day := range []string{"2026-03-02", "2026-03-09", "2026-03-14"} {
			world.toward(t, day)
			_, err := world.invoices.Issue(t.Context(), world.actor)
			must(t, err)
			world.work(t)
		}
		known := world.wantAutopay(t, invoice.Customer.ID, customer.AutopayActive)
		if world.bank.paidDebits() != 1 || known.Failed != nil {
			t.Errorf("%d debits were paid, failed %+v", world.bank.paidDebits(), known.Failed)
		}
	})
}

// A company that no longer has PIX Automático in its contract has authorisations
// left. That they cannot be read is no failure of its gateway: its codes work.
func TestAuthorisationsWithoutAContractDoNotStopCodes(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		for range 3 {
			world.authorised(t, dueOn)
		}
		world.contract(t, false)
		for range 10 {
			world.exec(t, `UPDATE authorisations SET next_check_at = 1`)
			world.later(t, time.Minute)
		}
		if setup := world.setup(t); setup.Failures != 0 || setup.Problem != "" {
			t.Errorf("the gateway has %d failures: %s", setup.Failures, setup.Problem)
		}
		other := world.invoice(t)
		world.bank.pay(t, world.charged(t, other.ID).PixCode, 3500)
		world.later(t, time.Hour)
		if got := world.find(t, other.ID); got.Status != billing.Paid {
			t.Errorf("%s", got.Status)
		}
		list, _, err := world.Autopays(t.Context(), world.actor, AutopayFilter{State: customer.AutopayActive}, input.Page{Number: 1, Size: 10})
		must(t, err)
		for _, one := range list {
			if !strings.Contains(one.Newest.Problem, "no PIX Automático") {
				t.Errorf("%d: %q", one.CustomerID, one.Newest.Problem)
			}
		}
		world.contract(t, true)
		world.toward(t, dueOn)
		if n := world.bank.paidDebits(); n != 3 || len(list) != 3 {
			t.Errorf("%d debits of %d once the contract is back", n, len(list))
		}
	})
}

func TestAnswerAboutAnotherAuthorisationIsNotBelieved(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		agreed := world.authorised(t, dueOn)
		silent := world.subscriber(t, dueOn)
		world.asks(t, silent.Customer.ID)
		world.bank.set(func(accounts *debits) { accounts.confused = true })
		world.later(t, time.Hour)
		world.wantAutopay(t, silent.Customer.ID, customer.AutopayAsked)
		world.wantAutopay(t, agreed.Customer.ID, customer.AutopayActive)
		world.wantStates(t, silent.ID)
		world.bank.set(func(accounts *debits) { accounts.confused = false })
		world.toward(t, dueOn)
		world.wantStates(t, silent.ID)
		if n := world.bank.paidDebits(); n != 1 {
			t.Errorf("%d debits", n)
		}
	})
}

// Some gateways can never stop a debit. One that would be of another amount now is
// made all the same, and waits for a person.
func TestDebitThatCannotBeStoppedIsNoTroubleOfTheAuthorisation(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		invoice := world.authorised(t, dueOn)
		world.bank.fail("cancel debit", ErrPaid)
		_, err := world.invoices.Edit(t.Context(), world.actor, invoice.ID, billing.ReadEdit(values("total_amount", "20.00")))
		must(t, err)
		world.toward(t, "2026-02-06")
		known := world.wantAutopay(t, invoice.Customer.ID, customer.AutopayActive)
		if known.Newest.Problem != "" {
			t.Errorf("the authorisation has a problem: %s", known.Newest.Problem)
		}
		_, err = world.Charge(t.Context(), world.actor, invoice.ID, "")
		if !errors.Is(err, errBeingDebited) {
			t.Errorf("a code beside the debit: %v", err)
		}
		world.toward(t, "2026-02-14")
		world.wantOpen(t, invoice)
		world.wantReviews(t, ReasonWrongAmount)
		if n := world.bank.paidDebits(); n != 1 {
			t.Errorf("%d debits", n)
		}
	})
}

// A gateway that does not say of which day the failed attempt was has not heard of
// the retry yet: it is asked again for the same one.
func TestRetryIsCountedOnceThoughTheGatewaySaysNoDay(t *testing.T) {
	today := civil.MustParse(dueOn)
	debited := charge{state: pending, payableOn: today, debit: debit{authorisationID: 1, on: today}}
	for range 3 {
		debited.failDebit(DebitReport{State: DebitFailed}, today, noon)
	}
	if debited.debit.retries != 1 || debited.debit.on.String() != "2026-02-18" || debited.state != pending {
		t.Errorf("%+v, %s", debited.debit, debited.state)
	}
	early := charge{state: pending, payableOn: today, debit: debit{authorisationID: 1, on: today}}
	early.failDebit(DebitReport{State: DebitFailed}, today.AddDays(-3), noon)
	if early.debit.retries != 1 {
		t.Errorf("refused ahead of its day: %+v", early.debit)
	}
}

// Each exchange of a code is a call of the company's gateway, made by any reader
// of the link.
func TestVisitorCannotExchangeCodesWithoutEnd(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		invoice := world.subscriber(t, dueOn)
		link, err := world.PaymentLink(t.Context(), world.actor, invoice.ID)
		must(t, err)
		code := link.URL[strings.LastIndex(link.URL, "/")+1:]
		exchange := func() error {
			for range 2 * maxExchanges {
				if _, err := world.PayAndAuthorise(t.Context(), code); err != nil {
					return err
				}
				if _, err := world.PayInstead(t.Context(), code); err != nil {
					return err
				}
			}
			return nil
		}
		wantKind(t, exchange(), fault.KindRateLimited)
		if world.bank.made > maxExchanges {
			t.Errorf("%d charges were made", world.bank.made)
		}
		if page, err := world.OpenPage(t.Context(), code); err != nil || !page.Ready {
			t.Errorf("the code that is there cannot be paid: %v", err)
		}
		world.later(t, exchangeSpan+time.Minute)
		_, err = world.PayAndAuthorise(t.Context(), code)
		must(t, err)
	})
}

func TestListOfAutopayTellsWhoSinceWhenAndWhatFailed(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		world.bank.withoutMoney(true)
		failing := world.authorised(t, "2026-02-05")
		world.toward(t, "2026-02-17")
		ended := world.subscriber(t, "2026-03-03")
		world.asks(t, ended.Customer.ID)
		_, err := world.EndAutopay(t.Context(), world.actor, ended.Customer.ID)
		must(t, err)
		world.asks(t, ended.Customer.ID) // the second request is the one that counts
		world.bank.refuses()
		world.later(t, time.Hour)
		agreed := world.authorised(t, "2026-03-03")
		gone := world.authorised(t, "2026-03-03")
		must(t, world.customers.Delete(t.Context(), world.actor, gone.Customer.ID))
		asked := world.subscriber(t, "2026-03-03")
		world.asks(t, asked.Customer.ID)
		world.later(t, time.Hour)

		list := func(filter AutopayFilter, want ...int64) []AutopayOf {
			t.Helper()
			found, total, err := world.Autopays(t.Context(), world.actor, filter, input.Page{Number: 1, Size: 10})
			must(t, err)
			var ids []int64
			for _, one := range found {
				ids = append(ids, one.CustomerID)
			}
			if len(ids) != len(want) || total != int64(len(want)) {
				t.Fatalf("%+v: %v (%d), want %v", filter, ids, total, want)
			}
			for i := range want {
				if ids[i] != want[i] {
					t.Errorf("%+v: %v, want %v", filter, ids, want)
				}
			}
			return found
		}
		list(AutopayFilter{}, asked.Customer.ID, gone.Customer.ID, agreed.Customer.ID, ended.Customer.ID, failing.Customer.ID)
		active := list(AutopayFilter{State: customer.AutopayActive}, agreed.Customer.ID, failing.Customer.ID)
		if next := active[0].NextDebit; next == nil || next.On.String() != "2026-03-03" || active[0].Newest.ActiveAt.IsZero() ||
			active[0].CustomerName != "Bia Reis" || active[0].Failed != nil {
			t.Errorf("%+v, next %+v", active[0], next)
		}
		list(AutopayFilter{State: customer.AutopayAsked}, asked.Customer.ID)
		over := list(AutopayFilter{State: customer.AutopayEnded}, gone.Customer.ID, ended.Customer.ID)
		if over[0].CustomerName != "" || over[1].Newest.EndedBy != ByPayer {
			t.Errorf("ended: %+v", over)
		}
		failed := list(AutopayFilter{Failed: true}, failing.Customer.ID)
		if failed[0].Failed == nil || failed[0].Failed.Failure != "no money" || failed[0].Failed.InvoiceID != failing.ID {
			t.Errorf("failed: %+v", failed[0].Failed)
		}
		stranger := world.newCompany(t)
		if _, total, err := world.Autopays(t.Context(), stranger, AutopayFilter{}, input.Page{Number: 1, Size: 10}); err != nil || total != 0 {
			t.Errorf("another company sees %d, %v", total, err)
		}
	})
}
