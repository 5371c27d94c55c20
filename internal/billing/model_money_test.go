package billing

import (
	"slices"

	"carteira/internal/event"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/money"
)

// rest is what is still to pay.
func (b *bill) rest() money.Cents { return max(0, b.amount-b.received) }

// entry is money that somebody reports.
type entry struct {
	amount     money.Cents
	on         civil.Date
	byPerson   bool
	difference Difference
	renew      bool
}

// receive books money for an open invoice. It reports false for less than is to
// pay, about which nobody said anything.
func (m *model) receive(b *bill, e entry) bool {
	rest := b.rest()
	if e.amount < rest && e.difference == "" {
		return false
	}
	m.money = append(m.money, &deposit{
		id: int64(len(m.money) + 1), bill: b, amount: e.amount, on: e.on, byPerson: e.byPerson, counts: true,
	})
	m.received[e.on] += e.amount
	b.received += e.amount
	if e.amount < rest && e.difference == DifferencePartial {
		return true
	}
	b.forgiven = max(0, rest-e.amount)
	b.status, b.paidOn = Paid, e.on
	m.tell(event.InvoicePaid, b.of, civil.Date{})
	p := b.of
	if e.renew && b.issuedFor != nil && b.renewal.to.IsZero() && p.dueOn.Compare(b.date) <= 0 && !p.cancelled {
		b.renewal = renewal{from: p.dueOn, ownDay: p.ownDay, on: e.on}
		m.renew(p, b.issuedFor, e.on)
		b.renewal.to = p.dueOn
	}
	return true
}

// undo takes back what persons reported for a paid invoice. It reports false where
// that cannot be: a part has gone back, or a gateway's money alone pays it.
func (m *model) undo(b *bill) bool {
	left := b.received
	if b.superseded {
		return false
	}
	var taken []*deposit
	for _, r := range m.money {
		if r.bill != b || !r.counts || !r.byPerson || r.back == r.amount {
			continue
		}
		if r.back > 0 {
			return false
		}
		taken, left = append(taken, r), left-r.amount
	}
	if left >= b.amount-b.forgiven {
		return false
	}
	for _, r := range taken {
		r.counts = false
		m.received[r.on] -= r.amount
	}
	b.received = left
	m.reopen(b)
	return true
}

// reopen opens a paid invoice and moves the date back to where it was, if it is
// still where the payment put it.
func (m *model) reopen(b *bill) {
	b.status, b.paidOn, b.forgiven = Open, civil.Date{}, 0
	if b.superseded {
		b.status = Cancelled
	}
	p := b.of
	if b.renewal.to.IsZero() || p.dueOn != b.renewal.to {
		return
	}
	brought := m.billFor(p, p.dueOn)
	m.setDue(p, b.renewal.from, b.renewal.ownDay)
	month := m.renewed[b.renewal.on.String()[:7]]
	if month[p.id]--; month[p.id] == 0 {
		delete(month, p.id)
	}
	b.renewal = renewal{}
	m.tell(event.CustomerUpdated, p, civil.Date{})
	if brought != nil && brought.follows() {
		brought.status, brought.withdrawn = Cancelled, "undone"
	}
}

// refund gives money back on a day.
func (m *model) refund(r *deposit, amount money.Cents, on civil.Date) {
	r.back += amount
	m.received[on] -= amount
	b := r.bill
	if !slices.Contains(m.bills, b) {
		return // deleted with its customer
	}
	b.received -= amount
	if b.status == Paid && b.received < b.amount-b.forgiven {
		m.reopen(b)
	}
}
