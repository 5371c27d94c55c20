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

func (w *world) wantCharge(t *testing.T, payable Payable, amount money.Cents, expiry time.Time) {
	t.Helper()
	if payable.Amount != amount || !payable.ExpiresAt.Equal(expiry) {
		t.Errorf("a charge of %s until %s; want %s until %s", payable.Amount, payable.ExpiresAt, amount, expiry)
	}
}

// Mutants that the tests of this file and of books_test.go were seen to kill, one
// by one: a charge of the face amount; a charge without what was received; a code
// that outlives its day, from the beginning or since the terms changed; a gateway
// that lengthens the day; AsOf ignored by the settlement, or not passed on to
// billing, by a gateway or by hand; the day after as payable_on; a refund that is
// reported twice counted twice; a part given back taken for the whole; the sum of
// refunds taken off each time; a tax id that is not sent.
func TestCodeIsForWhatIsToPayOnItsDayAndEndsWithIt(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		world.usualTerms(t)
		invoice := world.invoice(t)
		first := world.charged(t, invoice.ID)
		world.wantCharge(t, first, 33_25, midnight)
		if on := world.only(t, invoice.ID).payableOn; on != civil.MustParse("2026-01-31") {
			t.Errorf("payable on %s", on)
		}
		if again := world.charged(t, invoice.ID); again.PixCode != first.PixCode {
			t.Error("the live charge was not returned again")
		}
		world.at(t, midnight.Add(time.Minute))
		second := world.charged(t, invoice.ID)
		world.wantCharge(t, second, 35_71, midnight.Add(24*time.Hour))
		world.at(t, midnight.Add(48*time.Hour-time.Hour))
		world.wantCharge(t, world.charged(t, invoice.ID), 35_72, midnight.Add(48*time.Hour))
	})
}

func TestCodeWhoseAmountStaysLivesItsUsualTime(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		world.configure(t, "late_fee_percent", "2")
		invoice := world.invoice(t)
		world.at(t, midnight.Add(time.Hour)) // the fee is there, and comes once
		world.wantCharge(t, world.charged(t, invoice.ID), 35_70, world.clock.Now().Add(lifetime))
	})
}

func TestCodePaidInTimeAndReportedAfterMidnightPaysInFull(t *testing.T) {
	for name, paidAt := range map[string]time.Time{
		"at 23:59":                     midnight.Add(-time.Minute),
		"within the grace of midnight": midnight.Add(grace - time.Minute),
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, world *world) {
				world.usualTerms(t)
				invoice := world.invoice(t)
				payable := world.charged(t, invoice.ID)
				world.bank.payAt(t, payable.PixCode, 33_25, paidAt)
				world.clock.Advance(midnight.Add(time.Hour).Sub(world.clock.Now()))
				world.work(t)
				world.wantReviews(t)
				world.wantPaid(t, invoice)
				got := world.find(t, invoice.ID)
				if got.Received != 33_25 || got.Discount != 1_75 || got.LateFee != 0 || !got.PaidAt.Equal(paidAt) {
					t.Errorf("%+v", got)
				}
			})
		})
	}
}

func TestOldCodePaidLateWaitsForAPersonWhoSaysWhatItIs(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		world.usualTerms(t)
		invoice := world.invoice(t)
		payable := world.charged(t, invoice.ID)
		world.at(t, midnight.Add(2*time.Hour))
		world.bank.pay(t, payable.PixCode, 33_25)
		world.later(t, 24*time.Hour)
		review := world.wantReviews(t, ReasonLate)[0]
		world.wantOpen(t, invoice)
		_, err := world.Decide(t.Context(), world.actor, Decision{ReviewID: review.ID, Resolution: Applied})
		wantField(t, err, "difference") // 35.71 on the day on which it came
		_, err = world.Decide(t.Context(), world.actor, Decision{ReviewID: review.ID, Resolution: Applied, Difference: billing.DifferencePartial})
		must(t, err)
		world.wantCharge(t, world.charged(t, invoice.ID), 2_47, midnight.Add(48*time.Hour)) // 35.72 on 2 February
	})
}

func TestTermsThatChangeReplaceTheLiveChargeAtTheNextRequest(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		invoice := world.invoice(t)
		plain := world.charged(t, invoice.ID)
		world.wantCharge(t, plain, 35_00, world.clock.Now().Add(lifetime))
		world.configure(t, "late_fee_percent", "2") // the same amount today, another one tomorrow
		world.wantCharge(t, world.charged(t, invoice.ID), 35_00, midnight)
		world.configure(t, "discount_amount", "1.00")
		world.wantCharge(t, world.charged(t, invoice.ID), 34_00, midnight)
		world.exec(t, `UPDATE invoices SET own_discount_cents = 300 WHERE id = ?`, invoice.ID)
		world.wantCharge(t, world.charged(t, invoice.ID), 32_00, midnight)
		world.work(t)
		world.wantStates(t, invoice.ID, "cancelled", "cancelled", "cancelled", "pending")
		if n := world.bank.payableNow(); n != 1 {
			t.Errorf("%d charges can be paid", n)
		}
		world.bank.pay(t, plain.PixCode, 35_00) // all the same
		world.later(t, time.Hour)
		world.wantReviews(t, ReasonWrongAmount)
	})
}

func TestPartialPaymentReplacesTheLiveCharge(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		world.usualTerms(t)
		invoice := world.invoice(t)
		world.charged(t, invoice.ID)
		_, err := world.invoices.SetStatus(t.Context(), world.actor, invoice.ID, billing.ReadStatusChange(values(
			"status", "Pago", "amount", "20.00", "difference", "partial", "paid_via", "cash")))
		must(t, err)
		world.work(t)
		world.wantStates(t, invoice.ID, "cancelled")
		payable := world.charged(t, invoice.ID)
		world.wantCharge(t, payable, 13_25, midnight)
		world.bank.pay(t, payable.PixCode, 13_25)
		world.later(t, time.Minute)
		if got := world.find(t, invoice.ID); got.Status != billing.Paid || got.Received != 33_25 || got.Discount != 1_75 {
			t.Errorf("%+v", got)
		}
	})
}

func TestGatewayThatMakesNoShortChargesDoesNotLengthenTheDay(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		world.usualTerms(t)
		invoice := world.invoice(t)
		world.bank.shortest = 31 * time.Minute
		world.at(t, midnight.Add(-5*time.Minute))
		world.wantCharge(t, world.charged(t, invoice.ID), 33_25, midnight)
		world.later(t, 2*time.Minute) // what the gateway says again does not, either
		world.wantCharge(t, world.charged(t, invoice.ID), 33_25, midnight)
		world.at(t, midnight.Add(time.Second))
		if world.wantStates(t, invoice.ID, "expired"); world.bank.payableNow() != 0 {
			t.Error("the code can be paid after its day")
		}
	})
}

func TestCodeThatAPersonConfirmsMayHaveBeenPaidTheDayBefore(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		world.usualTerms(t)
		world.gateway(t, "provider", "hand")
		confirm := func(invoice billing.Invoice, amount money.Cents) error {
			_, err := world.ConfirmByHand(t.Context(), world.actor, Confirmation{InvoiceID: invoice.ID, Amount: amount})
			return err
		}
		invoice, other := world.invoice(t), world.invoice(t)
		world.charged(t, invoice.ID)
		world.charged(t, other.ID)
		world.at(t, midnight.Add(8*time.Hour))
		wantField(t, confirm(invoice, 35_00), "difference") // the face is neither
		must(t, confirm(invoice, 33_25))
		must(t, confirm(other, 35_71))
		if early, late := world.find(t, invoice.ID), world.find(t, other.ID); early.Discount != 1_75 || late.LateFee != 70 || late.LateInterest != 1 {
			t.Errorf("%+v, %+v", early, late)
		}
	})
}

func TestPageAndLinkSayWhatIsToPayToday(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		world.usualTerms(t)
		actor, err := world.accounts.Actor(t.Context(), world.actor.Company.ID)
		must(t, err)
		invoice := world.invoice(t)
		world.at(t, midnight.Add(time.Hour))
		link, err := world.PaymentLink(t.Context(), actor, invoice.ID)
		if err != nil || link.Amount != 35_71 || !link.Payable {
			t.Errorf("link %+v, %v", link, err)
		}
		page, err := world.OpenPage(t.Context(), link.URL[len("https://pay.example.com/pay/"):])
		if err != nil || !page.Ready || page.Payable.Amount != 35_71 || page.Due.Rest != 35_71 || page.Due.Fee != 70 || page.Due.Interest != 1 {
			t.Errorf("page %+v, %v", page, err)
		}
		world.bank.pay(t, page.Payable.PixCode, 35_71)
		world.later(t, time.Minute)
		world.wantReviews(t)
		if link, err = world.PaymentLink(t.Context(), actor, invoice.ID); err != nil || link.Amount != 35_71 || link.Payable {
			t.Errorf("link once paid %+v, %v", link, err)
		}
	})
}

func TestInvoiceWithNothingLeftCannotBeCharged(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		world.configure(t, "late_fee_percent", "100")
		invoice := world.invoice(t)
		world.at(t, midnight.Add(time.Hour))
		_, err := world.invoices.SetStatus(t.Context(), world.actor, invoice.ID, billing.ReadStatusChange(values(
			"status", "Pago", "amount", "40.00", "difference", "partial")))
		must(t, err)
		world.configure(t, "late_fee_percent", "0")
		_, err = world.Charge(t.Context(), world.actor, invoice.ID, "")
		wantField(t, err, "invoice")
		link, err := world.PaymentLink(t.Context(), account.Operator(world.actor.Company), invoice.ID)
		if err != nil || link.Payable || link.Amount != 0 {
			t.Errorf("link %+v, %v", link, err)
		}
	})
}
