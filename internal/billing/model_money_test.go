package billing

import (
	"slices"
	"time"

	"carteira/internal/event"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/money"
)

// deposit is money that came.
type deposit struct {
	id        int64
	bill      *bill
	amount    money.Cents
	back      money.Cents
	on        civil.Date
	byPerson  bool
	completed bool // the invoice was paid with it
	counts    bool
	credit    bool // it is the person's credit, and for no invoice
	spent     bool // credit paid it
	waits     bool // for a decision, and does not count before
	at        time.Time
	early     []early // what went back before it counted
}

// early is money that went back on a day.
type early struct {
	on     civil.Date
	amount money.Cents
}

// entry is money that is reported.
type entry struct {
	amount     money.Cents
	on         civil.Date
	asOf       civil.Date // whose amount was to pay; zero: on
	byPerson   bool
	difference Difference
	renew      bool
	spent      bool     // of credit
	waited     *deposit // that is there already; nil: one that comes now
}

// receive books money for an open invoice. It reports false for less than is to
// pay, unless it was declared as a part.
func (m *model) receive(bill *bill, entry entry) bool {
	if entry.asOf.IsZero() {
		entry.asOf = entry.on
	}
	rest := m.rest(bill, entry.asOf)
	if entry.amount < rest && entry.difference == "" {
		return false
	}
	costs := m.due(bill, entry.asOf)
	came := entry.waited
	if came == nil && entry.amount > 0 {
		came = &deposit{id: int64(len(m.money) + 1), amount: entry.amount, byPerson: entry.byPerson, spent: entry.spent}
		m.money = append(m.money, came)
	}
	if came != nil {
		came.bill, came.counts = bill, true
		m.begin(came, entry.on)
		bill.received += entry.amount
	}
	if entry.amount < rest && entry.difference == DifferencePartial {
		return true
	}
	if came != nil {
		came.completed = true
	}
	bill.forgiven = max(0, rest-entry.amount)
	switch {
	case bill.forgiven == 0:
	case entry.difference == DifferenceWriteOff:
		bill.lost, bill.lostOn = bill.forgiven, entry.on
	default:
		bill.given = bill.forgiven
	}
	bill.cost, bill.settled = costs, bill.received
	bill.status, bill.paidOn = Paid, entry.on
	m.tell(event.InvoicePaid, bill.of, bill.dueOn)
	person := bill.of
	if entry.renew && bill.issuedFor != nil && bill.renewal.to.IsZero() && person.dueOn.Compare(bill.date) <= 0 && !person.cancelled {
		if older := m.billFor(person, person.dueOn); older != nil && older.status == Open { // each payment renews the first date
			older.date, bill.date = bill.date, older.date
		}
		bill.renewal = renewal{from: person.dueOn, ownDay: person.ownDay, on: entry.on}
		m.renew(person, bill.issuedFor, entry.on)
		bill.renewal.to = person.dueOn
	}
	return true
}

// begin has money begin to count among what came on a day, with what went back of
// it already: that not before it came.
func (m *model) begin(came *deposit, on civil.Date) {
	came.on, came.waits = on, false
	if came.spent {
		return
	}
	m.received[on] += came.amount
	for _, back := range came.early {
		if back.on.Before(on) {
			back.on = on
		}
		m.received[back.on] -= back.amount
	}
}

// undo takes back the payment that completed an invoice. It reports false where
// that cannot be: a part of it has gone back, or a gateway reported it.
func (m *model) undo(bill *bill) bool {
	if bill.superseded {
		return false
	}
	for _, deposit := range m.money {
		if deposit.bill != bill || !deposit.completed || deposit.back == deposit.amount {
			continue
		}
		if deposit.back > 0 || !deposit.byPerson {
			return false
		}
		deposit.counts = false
		bill.received -= deposit.amount
		if deposit.spent {
			defer m.addCredit(bill.of, deposit.amount)
			continue
		}
		m.received[deposit.on] -= deposit.amount
	}
	m.reopen(bill)
	return true
}

// undoOne takes one payment of a person who is there back. It names the field that is
// refused.
func (m *model) undoOne(deposit *deposit) (refused string) {
	bill := deposit.bill
	switch {
	case !deposit.counts && !deposit.credit, !deposit.byPerson, deposit.back > 0:
		return "payment"
	case deposit.credit && bill.of.credit < deposit.amount:
		return "amount"
	case !deposit.spent:
		m.received[deposit.on] -= deposit.amount
	}
	if deposit.credit {
		deposit.credit = false
		m.addCredit(bill.of, -deposit.amount)
		return ""
	}
	deposit.counts = false
	bill.received -= deposit.amount
	bill.settled = max(0, bill.settled-deposit.amount)
	if bill.status == Paid && (deposit.completed || bill.received < bill.cost.of(bill)-bill.forgiven) {
		m.reopen(bill)
	}
	if deposit.spent {
		m.addCredit(bill.of, deposit.amount)
	}
	return ""
}

// addCredit changes what a person has to spend.
func (m *model) addCredit(person *person, amount money.Cents) {
	if amount == 0 {
		return
	}
	person.credit += amount
	m.tell(event.CustomerUpdated, person, civil.Date{})
}

// spend pays an open invoice with the credit of its person.
func (m *model) spend(bill *bill) {
	amount := min(bill.of.credit, m.rest(bill, m.today))
	if amount <= 0 {
		return
	}
	m.addCredit(bill.of, -amount)
	m.receive(bill, entry{amount: amount, on: m.today, byPerson: true, difference: DifferencePartial, renew: true, spent: true})
}

// reopen opens a paid invoice and moves the date back to where it was, if it is
// still where the payment put it.
func (m *model) reopen(bill *bill) {
	for _, deposit := range m.money {
		if deposit.bill == bill {
			deposit.completed = false
		}
	}
	bill.status, bill.paidOn, bill.forgiven, bill.given, bill.settled, bill.cost = Open, civil.Date{}, 0, 0, 0, due{}
	bill.lost, bill.lostOn = 0, civil.Date{}
	if bill.superseded {
		bill.status = Cancelled
	}
	person := bill.of
	if bill.renewal.to.IsZero() || person.dueOn != bill.renewal.to {
		return
	}
	brought := m.billFor(person, person.dueOn)
	m.setDue(person, bill.renewal.from, bill.renewal.ownDay)
	month := m.renewed[bill.renewal.on.String()[:7]]
	if month[person.id]--; month[person.id] == 0 {
		delete(month, person.id)
	}
	bill.renewal = renewal{}
	m.tell(event.CustomerUpdated, person, civil.Date{})
	if brought != nil && brought.follows() && !m.goesOn(person.dueOn) && !brought.dueOn.Before(brought.date) {
		brought.status, brought.withdrawn = Cancelled, "undone"
	}
}

// refund gives money back on a day. An effect that is not said is a discount for a part,
// and opens the invoice when all of a payment goes back.
func (m *model) refund(deposit *deposit, amount money.Cents, on civil.Date, effect Effect) {
	deposit.back += amount
	if deposit.waits {
		deposit.early = append(deposit.early, early{on, amount})
		return
	}
	m.received[on] -= amount
	bill, credit := deposit.bill, deposit.credit
	if credit {
		deposit.credit = deposit.back < deposit.amount
		deposit.counts = !deposit.credit
	}
	switch {
	case !slices.Contains(m.bills, bill): // deleted with its customer
		return
	case credit:
		m.addCredit(bill.of, -amount)
		return
	}
	bill.received -= amount
	if bill.status != Paid || bill.received >= bill.cost.of(bill)-bill.forgiven {
		return
	}
	if effect == EffectDiscount || effect == "" && deposit.back < deposit.amount { // the invoice costs less
		bill.forgiven = bill.cost.of(bill) - bill.received
		return
	}
	m.reopen(bill)
}

// giveBack gives all money of an invoice back today, or keeps it as credit. What
// credit paid is credit again.
func (m *model) giveBack(bill *bill, as string) {
	credit := money.Cents(0)
	for _, deposit := range m.money {
		left := deposit.amount - deposit.back
		switch {
		case deposit.bill != bill || !deposit.counts || left == 0:
		case deposit.spent:
			deposit.counts = false
			credit += left
		case as == MoneyCredit:
			deposit.counts, deposit.credit, deposit.completed = false, true, false
			credit += left
		default:
			m.received[m.today] -= left
			deposit.back = deposit.amount
		}
	}
	bill.received = 0
	m.addCredit(bill.of, credit)
}
