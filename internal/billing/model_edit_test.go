package billing

import (
	"slices"

	"carteira/internal/account"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/money"
)

// change is what a person writes into an invoice.
type change struct {
	amount   money.Cents
	dueOn    civil.Date
	discount *OwnDiscount // nil: nothing is said
}

// edit changes an open invoice by hand. It names the field that it refuses.
func (m *model) edit(bill *bill, to change) (refused string) {
	own := bill.own
	if to.discount != nil {
		said := to.discount.Amount
		// Who sends back what is shown says nothing.
		shown := said == m.due(bill, m.today).discount || said == m.due(bill, bill.dueOn).discount
		if !to.discount.Given || !shown {
			own = *to.discount
		}
	}
	switch {
	case bill.status != Open:
		return "status"
	case to.amount != bill.amount && to.amount <= bill.received:
		return "total_amount"
	case own.Given && own.Amount >= to.amount:
		return "discount"
	case to.amount != bill.amount || to.dueOn != bill.dueOn || own != bill.own:
		bill.edited = true
	}
	bill.amount, bill.dueOn, bill.own = to.amount, to.dueOn, own
	return ""
}

// takeOff gives a discount that counts now. It names the field that it refuses.
func (m *model) takeOff(bill *bill, off money.Cents) (refused string) {
	amount := bill.amount - off
	switch {
	case bill.status != Open:
		return "status"
	case amount <= bill.received:
		return "off"
	case bill.own.Given && bill.own.Amount >= amount:
		return "discount"
	}
	bill.amount, bill.takenOff, bill.edited = amount, bill.takenOff+off, true
	return ""
}

// reissue issues the invoice of a person's due date again. It names the field
// that it refuses.
func (m *model) reissue(person *person) (refused string) {
	old := m.billFor(person, person.dueOn)
	switch {
	case person.cancelled:
		return "customer_id"
	case person.plan == nil || person.dueOn.IsZero():
		return "renews"
	case person.pays() == 0:
		return "amount"
	case old != nil && (old.status == Open || old.status == Paid && !old.renewal.to.IsZero()):
		return "due"
	case old != nil:
		old.superseded, old.withdrawn = true, ""
	}
	b := &bill{of: person, generated: true, dueOn: person.dueOn, date: person.dueOn}
	b.buys(person)
	m.add(b)
	m.spend(b)
	return ""
}

// renewWith renews a person by hand. It names the field that it refuses.
func (m *model) renewWith(person *person, invoice account.RenewInvoice) (refused string) {
	switch {
	case person.cancelled:
		return "cancelled"
	case person.plan == nil:
		return "plan_id"
	}
	was := person.dueOn
	if invoice == account.PayInvoice {
		if bill := m.billToPay(person); bill != nil {
			m.receive(bill, entry{amount: m.rest(bill, m.today), on: m.today, byPerson: true, renew: true})
			return ""
		}
	}
	next, _ := m.renewedTo(person, person.plan, m.today)
	var passed []*bill
	for _, bill := range m.bills {
		between := !was.IsZero() && bill.generated && bill.date.Compare(was) >= 0 && bill.date.Before(next)
		if invoice == account.CancelInvoice && bill.of == person && bill.status == Open && between {
			passed = append(passed, bill)
		}
	}
	if slices.ContainsFunc(passed, func(b *bill) bool { return b.received > 0 }) {
		return "money"
	}
	m.renew(person, person.plan, m.today)
	for _, bill := range passed {
		bill.status = Cancelled
	}
	return ""
}

// billToPay is the open invoice of the period that a person is renewed by, issued
// or opened for it; nil where there is nothing to pay.
func (m *model) billToPay(person *person) *bill {
	on := person.dueOn
	if on.IsZero() {
		on = m.today
	}
	b := m.billFor(person, on)
	switch {
	case b != nil && b.status != Cancelled:
	case person.pays() == 0 || b != nil && !b.renewal.to.IsZero():
		return nil
	case b == nil:
		b = &bill{of: person, generated: true, dueOn: on, date: on}
		b.buys(person)
		m.add(b)
	case b.byProgram():
		b.buys(person)
	}
	if b.status == Paid || !b.renewal.to.IsZero() {
		return nil
	}
	b.status, b.withdrawn = Open, ""
	return b
}
