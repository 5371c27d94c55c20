package billing

import (
	"carteira/internal/account"
	"carteira/internal/billing/terms"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/money"
)

// Payable is what pays an invoice on a day, and how that comes about: the total
// is the face amount with fee and interest, less the discount.
type Payable struct {
	terms.Payable
	Rest money.Cents // what is still to pay; 0 when the invoice is not open
}

// Plain reports whether the face amount is all that the invoice costs.
func (p Payable) Plain() bool {
	return p.Fee == 0 && p.Interest == 0 && p.Discount == 0
}

// PayableOn is what pays the invoice on a day, by the terms of its company. Of a
// paid invoice it is what it cost when it was paid: what a person forgave is part
// of the discount. A cancelled one costs nothing more.
func (i Invoice) PayableOn(company account.Company, on civil.Date) Payable {
	switch i.Status {
	case Open:
		due := i.terms(company).Payable(i.Amount, i.DueOn, on)
		return Payable{due, due.Rest(i.Received)}
	case Paid:
		return Payable{Payable: terms.Payable{
			Fee:      i.LateFee,
			Interest: i.LateInterest,
			Discount: i.Discount + i.Forgiven,
			Total:    i.cost(),
		}}
	default:
		return Payable{Payable: terms.Payable{Total: i.Amount}}
	}
}

// PayableChangesAfter reports whether another amount pays the open invoice on the
// day after.
func (i Invoice) PayableChangesAfter(company account.Company, on civil.Date) bool {
	return i.terms(company).ChangesAfter(i.Amount, i.DueOn, on)
}

// terms are the company's, with the invoice's own discount in place of theirs.
func (i Invoice) terms(company account.Company) terms.Terms {
	settings := company.Settings
	t := terms.Terms{
		LateFeePercent: settings.LateFeePercent, LateInterestPercent: settings.LateInterestPercent,
		DiscountPercent: settings.DiscountPercent, DiscountAmount: settings.DiscountAmount,
	}
	if i.OwnDiscount.Given {
		t.DiscountPercent, t.DiscountAmount = 0, i.OwnDiscount.Amount
	}
	return t
}
