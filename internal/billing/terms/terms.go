// Package terms owns how much pays an invoice on a given day: the late fee, the late interest and the discount that a
// company has chosen. It is arithmetic of cents and days.
//
// It does not own when an invoice is due, what was paid, or what becomes of a difference: package billing does.
//
// The rules, each rounded half up to the cent, once, at the end:
//
//   - Late fee: a percentage of the face amount, once, from the day after the due date on.
//   - Late interest: a percentage a month; each day late costs a thirtieth of it. It is simple interest on the face
//     amount: neither the fee nor interest earns interest, and a month is thirty days, whichever month it is.
//   - Discount: a percentage or an amount, until and including the due date.
//
// A part that was paid does not change any of these. Fee and interest stay on the face amount until the invoice is
// paid in full, and what came is taken off the total: a late payer who pays in parts pays the same as one who pays at
// once on the day of the last part, and no order of the parts makes a difference.
//
// With 2 % fee and 1 % interest a month, an invoice of R$ 100,00 that is 45 days late costs 2,00 and 1,50 more:
// R$ 103,50. If R$ 60,00 came on the way, R$ 43,50 are left to pay that day.
package terms

import (
	"errors"

	"carteira/internal/platform/civil"
	"carteira/internal/platform/money"
)

// Terms are a company's. The zero Terms add and take nothing.
type Terms struct {
	LateFeePercent      money.Percent // once
	LateInterestPercent money.Percent // a month
	DiscountPercent     money.Percent // until the due date
	DiscountAmount      money.Cents   // in place of DiscountPercent
}

// ErrTwoDiscounts is the reason to refuse terms with both discounts, worded for display next to a field.
var ErrTwoDiscounts = errors.New("must be a percentage or an amount, not both")

// Check says what is wrong with terms.
func (t Terms) Check() error {
	if t.DiscountPercent != 0 && t.DiscountAmount != 0 {
		return ErrTwoDiscounts
	}
	return nil
}

// Payable is what pays an invoice on a day, and how that comes about.
type Payable struct {
	Fee      money.Cents
	Interest money.Cents
	Discount money.Cents
	Total    money.Cents // face amount, fee and interest, less the discount
}

// Rest is what is left of the total when a part has been received; never negative.
func (p Payable) Rest(received money.Cents) money.Cents {
	return max(0, p.Total-received)
}

// daysInMonth is the month of the interest: it is a convention, not the calendar's.
const daysInMonth = 30

// leastPayable is what a discount leaves at least, because a charge of zero is impossible.
const leastPayable money.Cents = 1

// Payable is what pays an invoice of a face amount, due on dueOn, on a day. Both days must be dates.
func (t Terms) Payable(face money.Cents, dueOn, on civil.Date) Payable {
	var payable Payable
	if late := on.Sub(dueOn); late > 0 {
		payable.Fee = t.LateFeePercent.Of(face)
		payable.Interest = money.Share(face, int64(t.LateInterestPercent)*int64(late),
			daysInMonth*int64(money.MaxPercent))
	} else {
		payable.Discount = t.discount(face)
	}
	payable.Total = face + payable.Fee + payable.Interest - payable.Discount
	return payable
}

func (t Terms) discount(face money.Cents) money.Cents {
	discount := t.DiscountAmount
	if discount == 0 {
		discount = t.DiscountPercent.Of(face)
	}
	return max(0, min(discount, face-leastPayable))
}

// ChangesAfter reports whether the amount differs on the next day: a code for it must not outlive the day.
func (t Terms) ChangesAfter(face money.Cents, dueOn, on civil.Date) bool {
	return t.Payable(face, dueOn, on).Total != t.Payable(face, dueOn, on.AddDays(1)).Total
}
