package payment

import (
	"testing"
	"time"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/money"
)

// usualTerms are a fee of 2 %, interest of 1 % a month and a discount of 5 %. An
// invoice of 35.00, due on 31 January, costs 33.25 until then, 35.71 on 1 February
// (0.70 and 0.0117) and 35.72 on the 2nd (0.0233).
func (w *world) usualTerms(t *testing.T) {
	t.Helper()
	w.configure(t, "late_fee_percent", "2", "late_interest_percent", "1", "discount_percent", "5")
}

// midnight is the end of 31 January 2026 in São Paulo.
var midnight = time.Date(2026, 2, 1, 3, 0, 0, 0, time.UTC)

func (w *world) at(t *testing.T, instant time.Time) {
	t.Helper()
	w.later(t, instant.Sub(w.clock.Now()))
}

func (w *world) wantCharge(t *testing.T, p Payable, amount money.Cents, expiry time.Time) {
	t.Helper()
	if p.Amount != amount || !p.ExpiresAt.Equal(expiry) {
		t.Errorf("a charge of %s until %s; want %s until %s", p.Amount, p.ExpiresAt, amount, expiry)
	}
}

// Mutants that the tests of this file and of books_test.go were seen to kill, one
// by one: a charge of the face amount; a charge without what was received; a code
// that outlives its day, from the beginning or since the terms changed; a gateway
// that lengthens the day; AsOf ignored by the settlement, or not passed on to
// billing, by a gateway or by hand; the day after as payable_on; a refund that is
// told twice counted twice; a part given back taken for the whole; the sum of
// refunds taken off each time; a tax id that is not sent.
func TestCodeIsForWhatIsToPayOnItsDayAndEndsWithIt(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.usualTerms(t)
		i := w.invoice(t)
		first := w.charged(t, i.ID)
		w.wantCharge(t, first, 33_25, midnight)
		if on := w.only(t, i.ID).payableOn; on != civil.MustParse("2026-01-31") {
			t.Errorf("payable on %s", on)
		}
		if again := w.charged(t, i.ID); again.PixCode != first.PixCode {
			t.Error("the live charge was not returned again")
		}
		w.at(t, midnight.Add(time.Minute))
		second := w.charged(t, i.ID)
		w.wantCharge(t, second, 35_71, midnight.Add(24*time.Hour))
		w.at(t, midnight.Add(48*time.Hour-time.Hour))
		w.wantCharge(t, w.charged(t, i.ID), 35_72, midnight.Add(48*time.Hour))
	})
}

func TestCodeWhoseAmountStaysLivesItsUsualTime(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.configure(t, "late_fee_percent", "2")
		i := w.invoice(t)
		w.at(t, midnight.Add(time.Hour)) // the fee is there, and comes once
		w.wantCharge(t, w.charged(t, i.ID), 35_70, w.clock.Now().Add(lifetime))
	})
}

func TestCodePaidInTimeAndReportedAfterMidnightPaysInFull(t *testing.T) {
	for name, paidAt := range map[string]time.Time{
		"at 23:59":                     midnight.Add(-time.Minute),
		"within the grace of midnight": midnight.Add(grace - time.Minute),
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, w *world) {
				w.usualTerms(t)
				i := w.invoice(t)
				p := w.charged(t, i.ID)
				w.bank.payAt(t, p.PixCode, 33_25, paidAt)
				w.clock.Advance(midnight.Add(time.Hour).Sub(w.clock.Now()))
				w.work(t)
				w.wantReviews(t)
				w.wantPaid(t, i)
				got := w.find(t, i.ID)
				if got.Received != 33_25 || got.Discount != 1_75 || got.LateFee != 0 || !got.PaidAt.Equal(paidAt) {
					t.Errorf("%+v", got)
				}
			})
		})
	}
}

func TestOldCodePaidLateWaitsForAPersonWhoSaysWhatItIs(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.usualTerms(t)
		i := w.invoice(t)
		p := w.charged(t, i.ID)
		w.at(t, midnight.Add(2*time.Hour))
		w.bank.pay(t, p.PixCode, 33_25)
		w.later(t, 24*time.Hour)
		review := w.wantReviews(t, ReasonLate)[0]
		w.wantOpen(t, i)
		_, err := w.Decide(t.Context(), w.actor, Decision{ReviewID: review.ID, Resolution: Applied})
		wantField(t, err, "difference") // 35.71 on the day on which it came
		_, err = w.Decide(t.Context(), w.actor, Decision{ReviewID: review.ID, Resolution: Applied, Difference: billing.DifferencePartial})
		must(t, err)
		w.wantCharge(t, w.charged(t, i.ID), 2_47, midnight.Add(48*time.Hour)) // 35.72 on 2 February
	})
}

func TestTermsThatChangeReplaceTheLiveChargeAtTheNextRequest(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		i := w.invoice(t)
		plain := w.charged(t, i.ID)
		w.wantCharge(t, plain, 35_00, w.clock.Now().Add(lifetime))
		w.configure(t, "late_fee_percent", "2") // the same amount today, another one tomorrow
		w.wantCharge(t, w.charged(t, i.ID), 35_00, midnight)
		w.configure(t, "discount_amount", "1.00")
		w.wantCharge(t, w.charged(t, i.ID), 34_00, midnight)
		w.exec(t, `UPDATE invoices SET own_discount_cents = 300 WHERE id = ?`, i.ID)
		w.wantCharge(t, w.charged(t, i.ID), 32_00, midnight)
		w.work(t)
		w.wantStates(t, i.ID, "cancelled", "cancelled", "cancelled", "pending")
		if n := w.bank.payableNow(); n != 1 {
			t.Errorf("%d charges can be paid", n)
		}
		w.bank.pay(t, plain.PixCode, 35_00) // all the same
		w.later(t, time.Hour)
		w.wantReviews(t, ReasonWrongAmount)
	})
}

func TestPartialPaymentReplacesTheLiveCharge(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.usualTerms(t)
		i := w.invoice(t)
		w.charged(t, i.ID)
		_, err := w.invoices.SetStatus(t.Context(), w.actor, i.ID, billing.ReadStatusChange(values(
			"status", "Pago", "amount", "20.00", "difference", "partial", "paid_via", "cash")))
		must(t, err)
		w.work(t)
		w.wantStates(t, i.ID, "cancelled")
		p := w.charged(t, i.ID)
		w.wantCharge(t, p, 13_25, midnight)
		w.bank.pay(t, p.PixCode, 13_25)
		w.later(t, time.Minute)
		if got := w.find(t, i.ID); got.Status != billing.Paid || got.Received != 33_25 || got.Discount != 1_75 {
			t.Errorf("%+v", got)
		}
	})
}

func TestGatewayThatMakesNoShortChargesDoesNotLengthenTheDay(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.usualTerms(t)
		i := w.invoice(t)
		w.bank.shortest = 31 * time.Minute
		w.at(t, midnight.Add(-5*time.Minute))
		w.wantCharge(t, w.charged(t, i.ID), 33_25, midnight)
		w.later(t, 2*time.Minute) // what the gateway says again does not, either
		w.wantCharge(t, w.charged(t, i.ID), 33_25, midnight)
		w.at(t, midnight.Add(time.Second))
		if w.wantStates(t, i.ID, "expired"); w.bank.payableNow() != 0 {
			t.Error("the code can be paid after its day")
		}
	})
}

func TestCodeThatAPersonConfirmsMayHaveBeenPaidTheDayBefore(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.usualTerms(t)
		w.gateway(t, "provider", "hand")
		confirm := func(i billing.Invoice, amount money.Cents) error {
			_, err := w.ConfirmByHand(t.Context(), w.actor, Confirmation{InvoiceID: i.ID, Amount: amount})
			return err
		}
		i, j := w.invoice(t), w.invoice(t)
		w.charged(t, i.ID)
		w.charged(t, j.ID)
		w.at(t, midnight.Add(8*time.Hour))
		wantField(t, confirm(i, 35_00), "difference") // the face is neither
		must(t, confirm(i, 33_25))
		must(t, confirm(j, 35_71))
		if early, late := w.find(t, i.ID), w.find(t, j.ID); early.Discount != 1_75 || late.LateFee != 70 || late.LateInterest != 1 {
			t.Errorf("%+v, %+v", early, late)
		}
	})
}

func TestPageAndLinkSayWhatIsToPayToday(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.usualTerms(t)
		actor, err := w.accounts.Actor(t.Context(), w.actor.Company.ID)
		must(t, err)
		i := w.invoice(t)
		w.at(t, midnight.Add(time.Hour))
		link, err := w.PaymentLink(t.Context(), actor, i.ID)
		if err != nil || link.Amount != 35_71 || !link.Payable {
			t.Errorf("link %+v, %v", link, err)
		}
		page, err := w.OpenPage(t.Context(), link.URL[len("https://pay.example.com/pay/"):])
		if err != nil || !page.Ready || page.Payable.Amount != 35_71 || page.Due.Rest != 35_71 || page.Due.Fee != 70 || page.Due.Interest != 1 {
			t.Errorf("page %+v, %v", page, err)
		}
		w.bank.pay(t, page.Payable.PixCode, 35_71)
		w.later(t, time.Minute)
		w.wantReviews(t)
		if link, err = w.PaymentLink(t.Context(), actor, i.ID); err != nil || link.Amount != 35_71 || link.Payable {
			t.Errorf("link once paid %+v, %v", link, err)
		}
	})
}

func TestInvoiceWithNothingLeftCannotBeCharged(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.configure(t, "late_fee_percent", "100")
		i := w.invoice(t)
		w.at(t, midnight.Add(time.Hour))
		_, err := w.invoices.SetStatus(t.Context(), w.actor, i.ID, billing.ReadStatusChange(values(
			"status", "Pago", "amount", "40.00", "difference", "partial")))
		must(t, err)
		w.configure(t, "late_fee_percent", "0")
		_, err = w.Charge(t.Context(), w.actor, i.ID, "")
		wantField(t, err, "invoice")
		link, err := w.PaymentLink(t.Context(), account.Operator(w.actor.Company), i.ID)
		if err != nil || link.Payable || link.Amount != 0 {
			t.Errorf("link %+v, %v", link, err)
		}
	})
}
