package payment

import (
	"time"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/money"
)

// owed is an invoice at an instant, by the terms of its company: what a charge
// made now asks for, and for how long that is right.
type owed struct {
	company account.Company
	invoice billing.Invoice
	now     time.Time
}

func (o owed) today() civil.Date { return civil.Of(o.now.In(o.company.Zone)) }

func (o owed) due() billing.Payable {
	return o.invoice.PayableOn(o.company, o.today())
}

func (o owed) rest() money.Cents { return o.due().Rest }

// changes reports whether another amount is to pay on the day after.
func (o owed) changes() bool {
	return o.invoice.PayableChangesAfter(o.company, o.today())
}

// expiry is when a charge made now ends: after its usual time, or with the
// company's day, when another amount is to pay on the day after.
func (o owed) expiry() time.Time {
	usual := o.now.Add(lifetime)
	if !o.changes() {
		return usual
	}
	if midnight := o.today().AddDays(1).Start(o.company.Zone); midnight.Before(usual) {
		return midnight
	}
	return usual
}

// dueDays is how long after its due date a charge can be paid whose amount the
// bank computes.
const dueDays = 30

// byDue is what a bank computes the invoice's amount by.
func (o owed) byDue() Due {
	return Due{
		On:           o.invoice.DueOn,
		Face:         o.invoice.Amount,
		Discount:     o.invoice.PayableOn(o.company, o.invoice.DueOn).Discount,
		LateFee:      o.company.Settings.LateFeePercent,
		LateInterest: o.company.Settings.LateInterestPercent,
		Days:         dueDays,
	}
}

// computable reports whether a charge made now can be left to the bank: it is of
// use when the amount depends on the day, and banks want a due date to come and
// the whole amount.
func (o owed) computable() bool {
	due := o.byDue()
	varies := due.Discount > 0 || due.LateFee > 0 || due.LateInterest > 0
	return varies && o.invoice.Received == 0 && !due.On.Before(o.today())
}

// lastInstant is the end of the last day on which such a charge can be paid.
func (o owed) lastInstant() time.Time {
	return o.invoice.DueOn.AddDays(dueDays + 1).Start(o.company.Zone)
}

// fits reports whether a charge asks for what is to pay now, and no longer than
// that is right. The terms may have changed since it was made.
func (o owed) fits(charge charge) bool {
	if charge.isDebit() { // no payer can pay it
		return false
	}
	if charge.dueTerms != "" {
		same := charge.dueTerms == o.byDue().String() && o.invoice.Received == 0
		return same && charge.ExpiresAt.After(o.now)
	}
	outlives := o.changes() && charge.ExpiresAt.After(o.expiry())
	return charge.order.Amount == o.rest() && charge.ExpiresAt.After(o.now) && !outlives
}
