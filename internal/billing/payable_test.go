package billing

import (
	"testing"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/input"
	"carteira/internal/platform/money"
	"carteira/internal/platform/sqldb"
)

// extra issues an extra invoice.
func (w *world) extra(t *testing.T, amount money.Cents, dueOn string) Invoice {
	t.Helper()
	customer := w.customer(t, 0, "")
	invoice, err := w.CreateExtra(t.Context(), w.actor, customer.ID, Extra{Amount: input.Some(amount), DueOn: input.Some(day(dueOn))})
	must(t, err)
	return invoice
}

// usualTerms are a fee of 2 %, interest of 1 % a month and a discount of 5 %.
func (w *world) usualTerms(t *testing.T) {
	t.Helper()
	w.configure(t, "late_fee_percent", "2", "late_interest_percent", "1", "discount_percent", "5")
}

// The figures were computed by hand, from the rule and a calendar, as those of
// package terms.
//
// Mutants of billing and its terms that the tests of this file were seen to kill,
// one by one: fee twice; fee once for each day; interest on what is left instead
// of the face amount; >= for > in late; discount on the day after the due date; a
// month of 31 days; terms not frozen by the payment; what was forgiven kept when
// the invoice is reopened; what was forgiven left out of what it cost; AsOf
// ignored; terms of the request instead of those that the transaction sees, by
// hand and by gateway; own discount ignored; own discount that costs the same.
func TestInvoiceIsPaidByWhatTheTableSays(t *testing.T) {
	ledger(t, func(t *testing.T, world *world) {
		world.usualTerms(t)
		world.clock.Advance(day("2029-06-01").Start(time.UTC).Sub(noon) + 12*time.Hour)
		for _, c := range []struct {
			name                             string
			face                             money.Cents
			dueOn, paidOn                    string
			fee, interest, discount, payable money.Cents
		}{
			{"a month before", 100_00, "2027-03-10", "2027-02-10", 0, 0, 5_00, 95_00},
			{"on the due date", 100_00, "2027-03-10", "2027-03-10", 0, 0, 5_00, 95_00},
			{"one day", 100_00, "2027-03-10", "2027-03-11", 2_00, 3, 0, 102_03},                    // 0.0333
			{"two days", 100_00, "2027-03-10", "2027-03-12", 2_00, 7, 0, 102_07},                   // 0.0667
			{"ten days, rounded once", 100_00, "2027-03-10", "2027-03-20", 2_00, 33, 0, 102_33},    // not ten times 0.03
			{"a month of the rule", 100_00, "2027-03-10", "2027-04-09", 2_00, 1_00, 0, 103_00},     // 30 days
			{"a month of the calendar", 100_00, "2027-03-10", "2027-04-10", 2_00, 1_03, 0, 103_03}, // 31
			{"400 days", 100_00, "2027-03-10", "2028-04-13", 2_00, 13_33, 0, 115_33},               // over a leap day
			{"over 29 February", 100_00, "2028-02-28", "2028-03-01", 2_00, 7, 0, 102_07},
			{"without 29 February", 100_00, "2027-02-28", "2027-03-01", 2_00, 3, 0, 102_03},
			{"fee of half a cent", 25, "2027-03-10", "2027-03-11", 1, 0, 0, 26},
			{"fee below it", 24, "2027-03-10", "2027-03-11", 0, 0, 0, 24},
			{"interest of half a cent", 15_00, "2027-03-10", "2027-03-11", 30, 1, 0, 15_31},
			{"discount of half a cent", 10, "2027-03-10", "2027-03-10", 0, 0, 1, 9},
			{"35.00, ten days", 35_00, "2027-03-10", "2027-03-20", 70, 12, 0, 35_82}, // 0.11667
		} {
			invoice := world.extra(t, c.face, c.dueOn)
			want := [4]money.Cents{c.fee, c.interest, c.discount, c.payable}
			due := invoice.PayableOn(world.actor.Company, day(c.paidOn))
			if got := [4]money.Cents{due.Fee, due.Interest, due.Discount, due.Rest}; got != want {
				t.Errorf("%s: payable %v, want %v", c.name, got, want)
			}
			_, err := world.SetStatus(t.Context(), world.actor, invoice.ID, StatusChange{
				Status: Paid, PaidOn: input.Some(day(c.paidOn)), Amount: input.Some(c.payable - 1),
			})
			wantField(t, err, "difference")
			out := world.set(t, invoice.ID, Paid, "paid_at", c.paidOn)
			if got := [4]money.Cents{out.LateFee, out.LateInterest, out.Discount, out.Received}; got != want || out.Status != Paid {
				t.Errorf("%s: paid %v, want %v", c.name, got, want)
			}
			if after := world.find(t, invoice.ID).PayableOn(world.actor.Company, day("2029-06-01")); after.Rest != 0 || after.Total != c.payable {
				t.Errorf("%s: once paid %+v", c.name, after)
			}
		}
		world.wantTrueBooks(t)
	})
}

func TestTermsAreThoseThatTheTransactionSees(t *testing.T) {
	ledger(t, func(t *testing.T, world *world) {
		before := world.actor // of a request that began before the terms were set
		world.usualTerms(t)
		invoice := world.extra(t, 100_00, "2026-01-21")
		out, err := world.SetStatus(t.Context(), before, invoice.ID, StatusChange{Status: Paid})
		if err != nil || out.Received != 102_33 {
			t.Errorf("received %s, %v", out.Received, err)
		}
		other := world.extra(t, 100_00, "2026-01-21")
		receipt := gatewayReceipt(world, other, "woovi")
		receipt.Amount = 100_00
		err = world.db.Write(t.Context(), func(tx *sqldb.Tx) error {
			_, err := world.ReceiveTx(t.Context(), before.In(tx), receipt)
			return err
		})
		wantField(t, err, "difference")
	})
}

// Interest stays on the face amount whatever came in part.
func TestPartsArePaidOffTheTotalOfTheDay(t *testing.T) {
	ledger(t, func(t *testing.T, world *world) {
		world.usualTerms(t)
		invoice := world.extra(t, 100_00, "2026-01-21") // ten days late: 102.33
		world.set(t, invoice.ID, Paid, "amount", "60.00", "difference", "partial")
		if rest := world.find(t, invoice.ID).PayableOn(world.actor.Company, day("2026-01-31")).Rest; rest != 42_33 {
			t.Errorf("%s are left", rest)
		}
		world.clock.Advance(35 * 24 * time.Hour) // 45 days: 103.50
		out := world.set(t, invoice.ID, Paid)
		if out.Received != 103_50 || out.LateFee != 2_00 || out.LateInterest != 1_50 || out.Discount != 0 {
			t.Errorf("%+v", out.Invoice)
		}
	})
}

func TestMoneyCountsForTheDayWhosePayableItWas(t *testing.T) {
	ledger(t, func(t *testing.T, world *world) {
		world.usualTerms(t)
		invoice := world.extra(t, 100_00, "2026-01-31")
		world.clock.Advance(24 * time.Hour) // 1 February: 102.03
		receipt := gatewayReceipt(world, invoice, "woovi")
		receipt.Amount, receipt.AsOf = 95_00, day("2026-01-31")
		must(t, world.db.Write(t.Context(), func(tx *sqldb.Tx) error {
			_, err := world.ReceiveTx(t.Context(), world.actor.In(tx), receipt)
			return err
		}))
		got := world.find(t, invoice.ID)
		if got.Status != Paid || got.Discount != 5_00 || got.LateFee != 0 || got.PaidOn != day("2026-02-01") {
			t.Errorf("%+v", got)
		}
	})
}

func TestOwnDiscountIsInPlaceOfTheCompanys(t *testing.T) {
	company := account.Company{Settings: account.Settings{DiscountPercent: 5_00, LateFeePercent: 2_00}}
	invoice := Invoice{Status: Open, Amount: 100_00, DueOn: day("2026-01-31")}
	for own, want := range map[OwnDiscount]money.Cents{{}: 95_00, {12_00, true}: 88_00, {0, true}: 100_00, {500_00, true}: 1} {
		invoice.OwnDiscount = own
		if got := invoice.PayableOn(company, invoice.DueOn).Rest; got != want {
			t.Errorf("%+v: %s, want %s", own, got, want)
		}
		if got := invoice.PayableOn(company, invoice.DueOn.AddDays(1)).Rest; got != 102_00 {
			t.Errorf("%+v: %s on the day after", own, got)
		}
	}
	invoice.OwnDiscount = OwnDiscount{0, true}
	company.Settings.LateFeePercent = 0
	if invoice.PayableChangesAfter(company, invoice.DueOn) {
		t.Error("an invoice without a discount changes after its due date")
	}
	change := Change{Action: ActionUpdated, Before: invoice, After: invoice}
	change.After.OwnDiscount = OwnDiscount{}
	if !change.CostsOther() {
		t.Error("another discount is another amount")
	}
}

// What was forgiven belongs to the payment: a reopened invoice costs all of it
// again, and a refund is held against what it cost with it.
func TestForgivenEndsWhenTheInvoiceIsReopened(t *testing.T) {
	ledger(t, func(t *testing.T, world *world) {
		world.usualTerms(t)
		invoice := world.extra(t, 100_00, "2026-01-21") // 102.33
		world.set(t, invoice.ID, Paid, "amount", "90.00", "difference", "discount")
		due := world.find(t, invoice.ID).PayableOn(world.actor.Company, day("2026-01-31"))
		if world.wantMoney(t, invoice.ID, Paid, 90_00, 12_33); due.Discount != 12_33 || due.Total != 90_00 {
			t.Errorf("%+v", due)
		}
		world.set(t, invoice.ID, Open)
		world.wantMoney(t, invoice.ID, Open, 0, 0)
		if out := world.set(t, invoice.ID, Paid); out.Received != 102_33 || out.Forgiven != 0 || out.LateFee != 2_00 {
			t.Errorf("%+v", out.Invoice)
		}
		other := world.extra(t, 100_00, "2026-01-21")
		world.set(t, other.ID, Paid, "amount", "90.00", "difference", "discount")
		payments, err := sqldb.Values[int64](t.Context(), world.db, `SELECT id FROM payments WHERE company_id = ? AND invoice_id = ?`, world.actor.Company.ID, other.ID)
		must(t, err)
		world.refund(t, Refund{PaymentID: payments[0], Amount: 1, RefundID: "r", Effect: EffectReopen})
		world.wantMoney(t, other.ID, Open, 89_99, 0)
		if rest := world.find(t, other.ID).PayableOn(world.actor.Company, day("2026-01-31")).Rest; rest != 12_34 {
			t.Errorf("%s are left", rest)
		}
	})
}

func TestTermsOfLaterDoNotChangeWhatWasPaid(t *testing.T) {
	ledger(t, func(t *testing.T, world *world) {
		invoice := world.extra(t, 100_00, "2026-01-21")
		world.set(t, invoice.ID, Paid)
		world.usualTerms(t)
		if due := world.find(t, invoice.ID).PayableOn(world.actor.Company, day("2026-03-31")); due.Total != 100_00 || due.Fee != 0 || due.Rest != 0 {
			t.Errorf("%+v", due)
		}
		cancelled := world.extra(t, 100_00, "2026-01-21")
		world.set(t, cancelled.ID, Cancelled)
		if due := world.find(t, cancelled.ID).PayableOn(world.actor.Company, day("2026-03-31")); due.Total != 100_00 || due.Fee != 0 || due.Rest != 0 {
			t.Errorf("%+v", due)
		}
	})
}

// Terms that change after a part came may leave nothing to pay.
func TestInvoiceWithNothingLeftIsPaidWithoutAPayment(t *testing.T) {
	ledger(t, func(t *testing.T, world *world) {
		world.usualTerms(t)
		invoice := world.extra(t, 100_00, "2026-01-21")
		world.set(t, invoice.ID, Paid, "amount", "101.00", "difference", "partial")
		world.configure(t, "late_fee_percent", "0", "late_interest_percent", "0")
		out := world.set(t, invoice.ID, Paid, "paid_via", "cash")
		if out.PaidOn != day("2026-01-31") || out.PaidVia != "cash" {
			t.Errorf("%+v", out.Invoice)
		}
		world.wantMoney(t, invoice.ID, Paid, 101_00, 0)
		if n, cents := world.day(t, "2026-01-31"); n != 1 || cents != 101_00 {
			t.Errorf("the day has %d, %d", n, cents)
		}
		world.set(t, invoice.ID, Open)
		world.wantMoney(t, invoice.ID, Open, 101_00, 0) // the part came all the same
		world.wantTrueBooks(t)
	})
}

func TestEndOfTheCalendarHasNoDayAfter(t *testing.T) {
	company := account.Company{Settings: account.Settings{LateInterestPercent: 1_00}}
	invoice := Invoice{Status: Open, Amount: 100_00, DueOn: day("9999-12-30")}
	if last := civil.MustParse("9999-12-31"); invoice.PayableChangesAfter(company, last) || !invoice.PayableChangesAfter(company, invoice.DueOn) {
		t.Error("the last day of the calendar")
	}
}
