package payment

import (
	"testing"
	"time"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/platform/civil"
)

// left is a world with a gateway at which the bank computes the amount, an
// invoice of 35.00 that is due on the day and a customer with a tax id.
func left(t *testing.T, world *world) billing.Invoice {
	t.Helper()
	world.usualTerms(t)
	world.gateway(t, "provider", "fake", "color", "green")
	invoice := world.invoice(t)
	world.exec(t, `UPDATE customers SET cpf_cnpj = '52998224725' WHERE company_id = ? AND id = ?`, world.actor.Company.ID, invoice.Customer.ID)
	return invoice
}

// lastDay is the end of the thirtieth day after 31 January 2026 in São Paulo.
var lastDay = midnight.AddDate(0, 0, 30)

func TestCodeThatTheBankComputesStaysTheSameFromDayToDay(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		invoice := left(t, world)
		first := world.charged(t, invoice.ID)
		world.wantCharge(t, first, 33_25, lastDay)
		want := Due{On: civil.MustParse("2026-01-31"), Face: 35_00, Discount: 1_75, LateFee: 2_00, LateInterest: 1_00, Days: 30}
		if due := world.bank.charges[first.Reference].due; due == nil || *due != want {
			t.Errorf("the bank was told %+v", due)
		}
		world.at(t, midnight.Add(time.Minute))
		second := world.charged(t, invoice.ID)
		world.wantCharge(t, second, 35_71, lastDay)
		if second.PixCode != first.PixCode {
			t.Error("another code was made")
		}
		company, err := account.FindCompany(t.Context(), world.db, world.actor.Company.ID)
		must(t, err)
		link, err := world.PaymentLink(t.Context(), account.System(company, "test"), invoice.ID)
		if err != nil || link.Current == nil || link.Current.Amount != 35_71 {
			t.Errorf("%+v, %v", link, err)
		}
	})
}

func TestMoneyOfSuchACodeCountsForTheDayOnWhichItCame(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		invoice := left(t, world)
		code := world.charged(t, invoice.ID).PixCode
		paidAt := midnight.Add(26 * time.Hour) // 2 February
		world.at(t, paidAt)
		world.bank.payAt(t, code, 35_72, paidAt)
		world.later(t, time.Hour)
		world.wantReviews(t)
		world.wantPaid(t, invoice)
		if got := world.find(t, invoice.ID); got.Received != 35_72 || got.LateFee != 70 || got.LateInterest != 2 || got.Discount != 0 {
			t.Errorf("%+v", got)
		}
	})
}

// What the bank computes otherwise than we do is not guessed about.
func TestMoneyThatIsNotOfItsDayWaitsForAPerson(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		invoice := left(t, world)
		code := world.charged(t, invoice.ID).PixCode
		world.at(t, midnight.Add(2*time.Hour))
		world.bank.pay(t, code, 33_25)
		world.later(t, time.Hour)
		world.wantReviews(t, ReasonWrongAmount)
		world.wantOpen(t, invoice)
	})
}

func TestSuchACodeIsReplacedWhenItsTermsAreNoLongerRight(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		invoice := left(t, world)
		first := world.charged(t, invoice.ID)
		world.configure(t, "late_fee_percent", "3")
		second := world.charged(t, invoice.ID)
		if second.PixCode == first.PixCode || world.bank.charges[second.Reference].due.LateFee != 3_00 {
			t.Errorf("%+v, then %+v", first, second)
		}
		if world.bank.charges[first.Reference].state != StateCancelled {
			t.Error("the first can still be paid")
		}
	})
}

func TestBankIsLeftToComputeOnlyWhatItCan(t *testing.T) {
	tests := map[string]func(t *testing.T, world *world, invoice billing.Invoice){
		"a customer without a tax id": func(t *testing.T, world *world, invoice billing.Invoice) {
			t.Helper()
			world.exec(t, `UPDATE customers SET cpf_cnpj = '' WHERE company_id = ? AND id = ?`, world.actor.Company.ID, invoice.Customer.ID)
		},
		"an amount that does not vary": func(t *testing.T, world *world, _ billing.Invoice) {
			t.Helper()
			world.configure(t, "late_fee_percent", "0", "late_interest_percent", "0", "discount_percent", "0")
		},
		"a due date that is over": func(t *testing.T, world *world, _ billing.Invoice) {
			t.Helper()
			world.at(t, midnight.Add(time.Hour))
		},
		"an invoice of which a part has come": func(t *testing.T, world *world, invoice billing.Invoice) {
			t.Helper()
			world.bank.pay(t, world.charged(t, invoice.ID).PixCode, 20_00)
			world.later(t, time.Minute)
			review := world.wantReviews(t, ReasonWrongAmount)[0]
			_, err := world.Decide(t.Context(), world.actor, Decision{ReviewID: review.ID, Resolution: Applied, Difference: billing.DifferencePartial})
			must(t, err)
		},
		"a gateway that is not told to": func(t *testing.T, world *world, _ billing.Invoice) {
			t.Helper()
			world.gateway(t, "provider", "fake", "color", "red")
		},
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, world *world) {
				invoice := left(t, world)
				change(t, world, invoice)
				payable := world.charged(t, invoice.ID)
				if world.bank.charges[payable.Reference].due != nil || !payable.ExpiresAt.Before(lastDay) {
					t.Errorf("%+v", payable)
				}
			})
		})
	}
}

func TestSuchACodePaidInTimeAndReportedAfterMidnightPaysInFull(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		invoice := left(t, world)
		code := world.charged(t, invoice.ID).PixCode
		world.bank.payAt(t, code, 33_25, midnight.Add(-time.Minute))
		world.clock.Advance(midnight.Add(time.Hour).Sub(world.clock.Now()))
		world.work(t)
		world.wantReviews(t)
		world.wantPaid(t, invoice)
	})
}

// The bank reports in the morning what came before midnight, and meanwhile that day
// was closed. The money counts today, for what was to pay on the day on which it came.
func TestMoneyOfSuchACodeThatIsReportedAfterTheClosingPaysTheInvoice(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		invoice := left(t, world)
		code := world.charged(t, invoice.ID).PixCode
		world.at(t, midnight.Add(9*time.Hour))
		world.configure(t, "books_closed_through", "2026-01-31")
		world.bank.payAt(t, code, 33_25, midnight.Add(-time.Minute))
		world.later(t, time.Hour)
		world.wantReviews(t)
		world.wantPaid(t, invoice)
		if got := world.find(t, invoice.ID); got.PaidOn != civil.MustParse("2026-02-01") || got.Discount != 1_75 || got.LateFee != 0 {
			t.Errorf("%+v", got)
		}
	})
}
