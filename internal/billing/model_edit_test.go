package billing

import (
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
