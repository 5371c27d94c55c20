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
	money    []*deposit               // in order of arrival, also of customers who are gone
	told     []string                 // events: name, customer and, where it has one, the due date
	renewed  map[string]map[int64]int // how often
	received map[civil.Date]money.Cents
}

type person struct {
	id        int64
	plan      *offer
	product   int64
	price     money.Cents // own; 0: the plan's
	dueOn     civil.Date
	ownDay    int
	cancelled bool
	expired   bool // told, and not current since
	told      map[civil.Date]bool
}

// pays is what a period costs the person.
func (p *person) pays() money.Cents {
	if p.price != 0 || p.plan == nil {
		return p.price
	}
	return p.plan.value
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
	issuedFor  *offer // whose period it renews by
	withdrawn  Withdrawal
	edited     bool
	superseded bool
	received   money.Cents
	forgiven   money.Cents
}

// deposit is money that came.
type deposit struct {
	id       int64
	bill     *bill
	amount   money.Cents
	back     money.Cents
	on       civil.Date
	byPerson bool
	counts   bool
}

type offer struct {
	id     int64
	months int // a period is so many months, or
	days   int // so many days
	value  money.Cents
}

func (m *model) tell(name event.Name, p *person, dueOn civil.Date) {
	m.told = append(m.told, told(name, p.id, dueOn))
}

func told(name event.Name, customerID int64, dueOn civil.Date) string {
	return fmt.Sprintf("%s of %d %v", name, customerID, dueOn)
}

// setDue gives a person a due date. One that is not past makes it current.
func (m *model) setDue(p *person, dueOn civil.Date, ownDay int) {
	p.dueOn, p.ownDay = dueOn, ownDay
	p.expired = p.expired && dueOn.Before(m.today) && !dueOn.IsZero() && !p.cancelled
}

// expire tells that a due date has passed, once for each.
func (m *model) expire(p *person) {
	if p.dueOn.IsZero() || !p.dueOn.Before(m.today) || p.expired || p.cancelled {
		return
	}
	p.expired = true
	if p.told[p.dueOn] {
		return
	}
	if p.told == nil {
		p.told = map[civil.Date]bool{}
	}
	p.told[p.dueOn] = true
	m.tell(event.CustomerExpired, p, p.dueOn)
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
func (m *model) billFor(p *person, dueOn civil.Date) *bill {
	for _, b := range m.bills {
		if b.of == p && b.generated && !b.superseded && b.date == dueOn {
			return b
		}
	}
	return nil
}

// byProgram reports whether the invoice comes back when its date is to be billed.
func (b *bill) byProgram() bool {
	return b.withdrawn == "free" || b.withdrawn == "moved" || b.withdrawn == "undone"
}

// issue bills a customer for its due date, if that was not done.
func (m *model) issue(p *person) {
	if p.pays() == 0 || p.plan == nil || p.dueOn.IsZero() || p.cancelled {
		return
	}
	b := m.billFor(p, p.dueOn)
	switch {
	case b == nil:
		b = &bill{of: p, generated: true, dueOn: p.dueOn, date: p.dueOn}
		b.buys(p)
		m.add(b)
	case b.byProgram():
		b.status, b.withdrawn = Open, ""
		b.buys(p)
	}
}

// buys has an invoice be for what the person buys now.
func (b *bill) buys(p *person) {
	b.amount, b.issuedFor, b.planID, b.product = p.pays(), p.plan, p.plan.number(), p.product
}

func (m *model) add(b *bill) {
	b.status, b.product, b.planID = Open, b.of.product, b.of.plan.number()
	m.bills = append(m.bills, b)
	m.tell(event.InvoiceCreated, b.of, b.dueOn)
}

// change changes a person as somebody who edits the record does, and has its
// invoice follow.
func (m *model) change(p *person, to person) {
	was := *p
	p.plan, p.price = to.plan, to.price
	if to.dueOn != was.dueOn {
		m.setDue(p, to.dueOn, to.ownDay)
	}
	if was.dueOn == p.dueOn && was.plan == p.plan && was.price == p.price {
		return
	}
	m.tell(event.CustomerUpdated, p, civil.Date{})
	if b := m.billFor(p, was.dueOn); b != nil && b.follows() {
		m.follow(b, was)
	}
}

func (b *bill) follows() bool {
	return (b.status == Open || b.withdrawn == "customer") && !b.edited && b.received == 0
}

// follow has the invoice of the date before follow its customer.
func (m *model) follow(b *bill, was person) {
	p := b.of
	if was.dueOn != p.dueOn && !p.dueOn.IsZero() {
		other := m.billFor(p, p.dueOn)
		switch {
		case other == nil:
			b.dueOn, b.date = p.dueOn, p.dueOn
		case other.status == Open || other.byProgram():
			b.status, b.withdrawn = Cancelled, "moved"
			return
		}
	}
	repriced := was.plan != p.plan || was.pays() != p.pays()
	early := m.today.Before(was.dueOn) || m.today.Before(p.dueOn)
	switch {
	case !repriced || !early || b.date != p.dueOn:
	case p.plan == nil || p.pays() == 0:
		b.status, b.withdrawn = Cancelled, "free"
	default:
		b.buys(p)
	}
}

// cancel cancels a customer, with its open invoices unless they are kept.
func (m *model) cancel(p *person, keep bool) {
	p.cancelled, p.expired = true, false
	m.tell(event.CustomerUpdated, p, civil.Date{})
	for _, b := range m.bills {
		if b.of == p && b.status == Open && !keep {
			b.status, b.withdrawn = Cancelled, "customer"
		}
	}
}

func (m *model) restore(p *person) {
	p.cancelled = false
	m.tell(event.CustomerUpdated, p, civil.Date{})
	for _, b := range m.bills {
		belongs := b.date
		if !b.generated {
			belongs = b.dueOn
		}
		if b.of == p && b.withdrawn == "customer" && belongs.Compare(p.dueOn) >= 0 {
			b.status, b.withdrawn = Open, ""
		}
	}
}

func (m *model) renew(p *person, by *offer, on civil.Date) {
	from, ownDay := p.dueOn, p.ownDay
	if from.IsZero() || from.Before(on) && m.settings.RenewFrom == account.FromToday {
		from, ownDay = on, on.Day()
	}
	next, ownDay := by.after(from, ownDay)
	if next.Before(m.today) { // nobody would tell of the first date any more
		m.expire(p)
	}
	m.setDue(p, next, ownDay)
	month := on.String()[:7]
	if m.renewed[month] == nil {
		m.renewed[month] = map[int64]int{}
	}
	m.renewed[month][p.id]++
	m.tell(event.CustomerRenewed, p, p.dueOn)
}

func (m *model) remove(p *person) {
	m.tell(event.CustomerDeleted, p, civil.Date{})
	m.people = slices.DeleteFunc(m.people, func(q *person) bool { return q == p })
	m.bills = slices.DeleteFunc(m.bills, func(b *bill) bool { return b.of == p })
}

// dayWork tells of every due date that has passed and bills every one that is
// near, the earliest first.
func (m *model) dayWork() {
	byDate := slices.Clone(m.people)
	slices.SortStableFunc(byDate, func(a, b *person) int { return cmp.Or(a.dueOn.Compare(b.dueOn), cmp.Compare(a.id, b.id)) })
	for _, p := range byDate {
		m.expire(p)
	}
	for _, p := range byDate {
		if !p.dueOn.After(m.today.AddDays(m.settings.LeadDays)) {
			m.issue(p)
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
func (o *offer) after(d civil.Date, ownDay int) (next civil.Date, nextOwnDay int) {
	if o.months == 0 {
		next = civil.Of(time.Date(d.Year(), d.Month(), d.Day()+o.days, 0, 0, 0, 0, time.UTC))
		return next, next.Day()
	}
	month := d.Month() + time.Month(o.months)
	last := time.Date(d.Year(), month+1, 0, 0, 0, 0, 0, time.UTC).Day()
	return civil.Of(time.Date(d.Year(), month, min(ownDay, last), 0, 0, 0, 0, time.UTC)), ownDay
}
