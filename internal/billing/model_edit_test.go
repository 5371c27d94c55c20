package billing

import (
	"carteira/internal/account"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/money"
)

// edit changes an open invoice by hand. It names the field that it refuses.
func (m *model) edit(b *bill, amount money.Cents, dueOn civil.Date) (refused string) {
	switch {
	case b.status != Open:
		return "status"
	case amount != b.amount && amount <= b.received:
		return "total_amount"
	case amount != b.amount || dueOn != b.dueOn:
		b.edited = true
	}
	b.amount, b.dueOn = amount, dueOn
	return ""
}

// reissue issues the invoice of a person's due date again. It names the field
// that it refuses.
func (m *model) reissue(p *person) (refused string) {
	old := m.billFor(p, p.dueOn)
	switch {
	case p.cancelled:
		return "customer_id"
	case p.plan == nil || p.dueOn.IsZero():
		return "renews"
	case p.pays() == 0:
		return "amount"
	case old != nil && (old.status == Open || old.status == Paid && !old.renewal.to.IsZero()):
		return "due"
	case old != nil:
		old.superseded, old.withdrawn = true, ""
	}
	b := &bill{of: p, generated: true, dueOn: p.dueOn, date: p.dueOn}
	b.buys(p)
	m.add(b)
	return ""
}

// renewWith renews a person by hand. It reports false without a plan to renew by.
func (m *model) renewWith(p *person, invoice account.RenewInvoice) bool {
	was, b := p.dueOn, m.billFor(p, p.dueOn)
	if invoice == account.PayInvoice && b != nil && b.status == Open && b.renewal.to.IsZero() && !p.cancelled {
		m.receive(b, entry{amount: b.rest(), on: m.today, byPerson: true, renew: true})
		return true
	}
	if p.plan == nil {
		return false
	}
	m.renew(p, p.plan, m.today)
	for _, b := range m.bills {
		passed := !was.IsZero() && b.generated && b.date.Compare(was) >= 0 && b.date.Before(p.dueOn)
		if invoice == account.CancelInvoice && b.of == p && b.status == Open && passed {
			b.status = Cancelled
		}
	}
	return true
}
