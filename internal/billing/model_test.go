package billing

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"carteira/internal/account"
	"carteira/internal/event"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/money"
)

// model is billing put as plainly as can be: lists in memory, no schedule, no
// counters, nothing that happens at once. It is written from docs/billing.md, not
// from the code.
type model struct {
	today    civil.Date
	settings account.Settings
	people   []*person
	bills    []*bill                  // in order of issue
	gone     []*bill                  // of customers who are deleted
	money    []*deposit               // in order of arrival, also of customers who are gone
	told     []string                 // events: name, customer and, where it has one, the due date
	renewed  map[string]map[int64]int // how often
	received map[civil.Date]money.Cents
	leaves   bool // an overdue invoice stays where it is when a date moves
}

type person struct {
	id        int64
	plan      *offer
	product   int64
	price     money.Cents // own; 0: the plan's
	dueOn     civil.Date
	ownDay    int
	cancelled bool
	credit    money.Cents
	expired   bool // recorded, and not current since
	told      map[civil.Date]bool
}

// pays is what a period costs the person.
func (p *person) pays() money.Cents {
	if p.price != 0 || p.plan == nil {
		return p.price
	}
	return p.plan.value
}

// followPlan has a price that is the plan's be no price of the person's own, as every
// edit of the record does.
func (p *person) followPlan() {
	if p.plan != nil && p.price == p.plan.value {
		p.price = 0
	}
}

type bill struct {
	id         int64
	of         *person
	generated  bool
	status     Status
	amount     money.Cents
	dueOn      civil.Date
	date       civil.Date // the customer's, that it was issued for
	planID     int64
	product    int64
	paidOn     civil.Date
	renewal    renewal
	issuedFor  *offer // its period is that of the renewal
	withdrawn  Withdrawal
	edited     bool
	superseded bool
	received   money.Cents
	forgiven   money.Cents
	settled    money.Cents // what had come when it was paid
	cost       due         // what it cost when it was paid
	own        OwnDiscount
	given      money.Cents // of forgiven: a discount by hand
	takenOff   money.Cents // a discount by hand that lowered the amount
	lost       money.Cents // written off
	lostOn     civil.Date
}

type offer struct {
	id     int64
	months int // a period is so many months, or
	days   int // so many days
	value  money.Cents
}

func (m *model) tell(name event.Name, person *person, dueOn civil.Date) {
	m.told = append(m.told, told(name, person.id, dueOn))
}

func told(name event.Name, customerID int64, dueOn civil.Date) string {
	return fmt.Sprintf("%s of %d %v", name, customerID, dueOn)
}

// setDue gives a person a due date. One that is not past makes it current.
func (m *model) setDue(person *person, dueOn civil.Date, ownDay int) {
	person.dueOn, person.ownDay = dueOn, ownDay
	person.expired = person.expired && dueOn.Before(m.today) && !dueOn.IsZero() && !person.cancelled
}

// expire records that a due date has passed, once for each.
func (m *model) expire(person *person) {
	if person.dueOn.IsZero() || !person.dueOn.Before(m.today) || person.expired || person.cancelled {
		return
	}
	person.expired = true
	if person.told[person.dueOn] {
		return
	}
	if person.told == nil {
		person.told = map[civil.Date]bool{}
	}
	person.told[person.dueOn] = true
	m.tell(event.CustomerExpired, person, person.dueOn)
}

func (m *model) create(id int64, plan *offer, dueOn civil.Date) {
	p := &person{id: id, plan: plan, dueOn: dueOn, ownDay: dueOn.Day()}
	if plan != nil {
		p.product = plan.id // each has its own
		if dueOn.IsZero() {
			p.dueOn, p.ownDay = plan.after(m.today, m.today.Day())
		}
	}
	m.people = append(m.people, p)
	m.tell(event.CustomerCreated, p, p.dueOn)
	m.issue(p)
}

// billFor is the invoice that was issued for a due date; nil: none was.
func (m *model) billFor(person *person, dueOn civil.Date) *bill {
	for _, bill := range m.bills {
		if bill.of == person && bill.generated && !bill.superseded && bill.date == dueOn {
			return bill
		}
	}
	return nil
}

// byProgram reports whether the invoice comes back when its date is to be billed.
func (b *bill) byProgram() bool {
	return b.withdrawn == "free" || b.withdrawn == "moved" || b.withdrawn == "undone"
}

// issue bills a customer for its due date, if that was not done.
func (m *model) issue(person *person) {
	if person.pays() == 0 || person.plan == nil || person.dueOn.IsZero() || person.cancelled {
		return
	}
	m.issueFor(person, person.dueOn)
}

// issueFor bills a person for a due date.
func (m *model) issueFor(person *person, dueOn civil.Date) {
	b := m.billFor(person, dueOn)
	switch {
	case b == nil:
		b = &bill{of: person, generated: true, dueOn: dueOn, date: dueOn}
		b.buys(person)
		m.add(b)
		m.spend(b)
	case b.byProgram():
		b.status, b.withdrawn = Open, ""
		b.buys(person)
	}
}

// goesOn reports whether a person who is late gets further invoices.
func (m *model) goesOn(dueOn civil.Date) bool {
	return m.settings.OverdueInvoices > 0 && dueOn.Before(m.today) && !dueOn.IsZero()
}

// billOn issues the next further invoice of a person who is late; false: none is due.
func (m *model) billOn(person *person) bool {
	first := m.billFor(person, person.dueOn)
	if !m.goesOn(person.dueOn) || person.cancelled || person.plan == nil || person.pays() == 0 || first == nil || first.status != Open {
		return false
	}
	open, last := 0, person.dueOn
	for _, bill := range m.bills {
		if bill.of != person || !bill.generated || bill.superseded || !bill.date.After(person.dueOn) || bill.byProgram() {
			continue
		}
		if bill.status == Open {
			open++
		}
		if bill.date.After(last) {
			last = bill.date
		}
	}
	next, ownDay := person.dueOn, person.ownDay
	for !next.After(last) || next.Before(m.settings.OverdueSince) {
		next, ownDay = person.plan.after(next, ownDay)
	}
	if open >= m.settings.OverdueInvoices || next.After(m.today.AddDays(m.settings.LeadDays)) {
		return false
	}
	m.issueFor(person, next)
	return true
}

// buys has an invoice be for what the person buys now.
func (b *bill) buys(person *person) {
	b.amount, b.issuedFor, b.planID, b.product = person.pays(), person.plan, person.plan.number(), person.product
}

func (m *model) add(bill *bill) {
	bill.status, bill.product, bill.planID = Open, bill.of.product, bill.of.plan.number()
	m.bills = append(m.bills, bill)
	m.tell(event.InvoiceCreated, bill.of, bill.dueOn)
}

// change changes a person as an edit of the record does, and has its invoice
// follow.
func (m *model) change(person *person, to person) {
	was := *person
	person.plan, person.price = to.plan, to.price
	person.followPlan()
	if to.dueOn != was.dueOn {
		m.setDue(person, to.dueOn, to.ownDay)
	}
	if was.dueOn == person.dueOn && was.plan == person.plan && was.price == person.price {
		return
	}
	m.tell(event.CustomerUpdated, person, civil.Date{})
	stays := func(bill *bill) bool { return m.leaves && bill.status == Open && bill.dueOn.Before(m.today) }
	if bill := m.billFor(person, was.dueOn); bill != nil && bill.follows() && !stays(bill) {
		m.follow(bill, was)
	}
	if !m.goesOn(was.dueOn) {
		return
	}
	for _, bill := range m.bills { // the further ones
		if bill.of != person || !bill.generated || bill.superseded || !bill.date.After(was.dueOn) || bill.date == person.dueOn || !bill.follows() || stays(bill) {
			continue
		}
		if was.dueOn != person.dueOn {
			bill.status, bill.withdrawn = Cancelled, "moved"
		} else if m.today.Before(bill.dueOn) {
			bill.takePrice(was)
		}
	}
}

func (b *bill) follows() bool {
	return (b.status == Open || b.withdrawn == "customer") && !b.edited && b.received == 0
}

// follow has the invoice of the date before follow its customer.
func (m *model) follow(bill *bill, was person) {
	person := bill.of
	if was.dueOn != person.dueOn && !person.dueOn.IsZero() {
		other := m.billFor(person, person.dueOn)
		switch {
		case other == nil:
			bill.dueOn, bill.date = person.dueOn, person.dueOn
		case other.status == Open || other.byProgram():
			bill.status, bill.withdrawn = Cancelled, "moved"
			return
		}
	}
	if early := m.today.Before(was.dueOn) || m.today.Before(person.dueOn); early && bill.date == person.dueOn {
		bill.takePrice(was)
	}
}

// takePrice has an invoice take the price of its person, if that is another now.
func (b *bill) takePrice(was person) {
	switch person := b.of; {
	case was.plan == person.plan && was.pays() == person.pays():
	case person.plan == nil || person.pays() == 0:
		b.status, b.withdrawn = Cancelled, "free"
	default:
		b.buys(person)
	}
}

// cancel cancels a customer, with its open invoices unless they are kept. It returns
// the field that refuses it.
func (m *model) cancel(person *person, keep bool) string {
	if !keep && slices.ContainsFunc(m.bills, func(b *bill) bool { return b.of == person && b.status == Open && b.received > 0 }) {
		return "money"
	}
	person.cancelled, person.expired = true, false
	person.followPlan()
	m.tell(event.CustomerUpdated, person, civil.Date{})
	for _, bill := range m.bills {
		if bill.of == person && bill.status == Open && !keep {
			bill.status, bill.withdrawn = Cancelled, "customer"
		}
	}
	return ""
}

func (m *model) restore(person *person) {
	person.cancelled = false
	person.followPlan()
	m.tell(event.CustomerUpdated, person, civil.Date{})
	for _, bill := range m.bills {
		if bill.of == person && bill.withdrawn == "customer" {
			bill.status, bill.withdrawn = Open, ""
		}
	}
}

func (m *model) renew(person *person, by *offer, on civil.Date) {
	next, ownDay := m.renewedTo(person, by, on)
	if next.Before(m.today) { // the first date would never be recorded
		m.expire(person)
	}
	m.setDue(person, next, ownDay)
	month := on.String()[:7]
	if m.renewed[month] == nil {
		m.renewed[month] = map[int64]int{}
	}
	m.renewed[month][person.id]++
	m.tell(event.CustomerRenewed, person, person.dueOn)
}

// renewedTo is the due date, and its own day, that a renewal leads to.
func (m *model) renewedTo(person *person, by *offer, on civil.Date) (civil.Date, int) {
	from, ownDay := person.dueOn, person.ownDay
	if from.IsZero() || from.Before(on) && m.settings.RenewFrom == account.FromToday {
		from, ownDay = on, on.Day()
	}
	return by.after(from, ownDay)
}

func (m *model) remove(p *person) {
	m.tell(event.CustomerDeleted, p, civil.Date{})
	m.people = slices.DeleteFunc(m.people, func(person *person) bool { return person == p })
	m.bills = slices.DeleteFunc(m.bills, func(bill *bill) bool {
		if bill.of == p {
			m.gone = append(m.gone, bill)
		}
		return bill.of == p
	})
}

// dayWork records every due date that has passed and bills every one that is
// near, the earliest first.
func (m *model) dayWork() {
	byDate := slices.Clone(m.people)
	slices.SortStableFunc(byDate, func(a, b *person) int { return cmp.Or(a.dueOn.Compare(b.dueOn), cmp.Compare(a.id, b.id)) })
	for _, person := range byDate {
		m.expire(person)
	}
	for issued := -1; issued < len(m.bills); { // credit that pays one may bring the next
		issued = len(m.bills)
		slices.SortStableFunc(byDate, func(a, b *person) int { return cmp.Or(a.dueOn.Compare(b.dueOn), cmp.Compare(a.id, b.id)) })
		for _, person := range slices.Clone(byDate) {
			if !person.dueOn.After(m.today.AddDays(m.settings.LeadDays)) {
				m.issue(person)
			}
		}
	}
	for _, person := range slices.SortedFunc(slices.Values(m.people), func(a, b *person) int { return cmp.Compare(a.id, b.id) }) {
		for m.billOn(person) {
		}
	}
}

// number is the plan's; 0: none.
func (o *offer) number() int64 {
	if o == nil {
		return 0
	}
	return o.id
}

// after is the next due date, by the calendar of the standard library.
func (o *offer) after(date civil.Date, ownDay int) (next civil.Date, nextOwnDay int) {
	if o.months == 0 {
		next = civil.Of(time.Date(date.Year(), date.Month(), date.Day()+o.days, 0, 0, 0, 0, time.UTC))
		return next, next.Day()
	}
	month := date.Month() + time.Month(o.months)
	last := time.Date(date.Year(), month+1, 0, 0, 0, 0, 0, time.UTC).Day()
	return civil.Of(time.Date(date.Year(), month, min(ownDay, last), 0, 0, 0, 0, time.UTC)), ownDay
}
