package billing

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"carteira/internal/account"
	"carteira/internal/event"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/money"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/sqldb/sqldbtest"
	"carteira/internal/tally"
)

// model is billing put as plainly as can be: lists in memory, no schedule, no
// books, nothing that happens at once.
type model struct {
	today    civil.Date
	settings account.Settings
	people   []*person
	bills    []*bill                  // in order of issue
	told     []string                 // events: name, customer and, where it has one, the due date
	renewed  map[string]map[int64]int // how often
}

type person struct {
	id      int64
	plan    *offer
	product int64
	dueOn   civil.Date
	ownDay  int
	expired bool // told, and not current since
	told    map[civil.Date]bool
}

// setDue gives a person a due date. One that is not past makes it current.
func (m *model) setDue(p *person, dueOn civil.Date, ownDay int) {
	p.dueOn, p.ownDay = dueOn, ownDay
	p.expired = p.expired && dueOn.Before(m.today) && !dueOn.IsZero()
}

// expire tells that a due date has passed, once for each.
func (m *model) expire(p *person) {
	if p.dueOn.IsZero() || !p.dueOn.Before(m.today) || p.expired {
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

type bill struct {
	id        int64
	of        *person
	generated bool
	status    Status
	amount    money.Cents
	dueOn     civil.Date
	planID    int64
	product   int64
	paidOn    civil.Date
	renewal   renewal
	issuedFor *offer // whose period it renews by
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

// issue bills a customer for its due date, if that was not done.
func (m *model) issue(p *person) {
	billed := slices.ContainsFunc(m.bills, func(b *bill) bool { return b.of == p && b.generated && b.dueOn == p.dueOn })
	if p.plan == nil || p.plan.value == 0 || p.dueOn.IsZero() || billed {
		return
	}
	m.add(&bill{of: p, generated: true, amount: p.plan.value, dueOn: p.dueOn, issuedFor: p.plan})
}

func (m *model) add(b *bill) {
	b.status, b.product = Open, b.of.product
	if b.of.plan != nil {
		b.planID = b.of.plan.id
	}
	m.bills = append(m.bills, b)
	m.tell(event.InvoiceCreated, b.of, b.dueOn)
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

func (m *model) pay(b *bill, paidOn civil.Date, renew bool) {
	if b.status != Open {
		return
	}
	b.status, b.paidOn = Paid, paidOn
	m.tell(event.InvoicePaid, b.of, civil.Date{})
	p := b.of
	if renew && b.generated && b.renewal.to.IsZero() && p.dueOn.Compare(b.dueOn) <= 0 {
		b.renewal = renewal{from: p.dueOn, ownDay: p.ownDay, on: paidOn}
		m.renew(p, b.issuedFor, paidOn)
		b.renewal.to = p.dueOn
	}
}

func (m *model) reopen(b *bill) {
	wasPaid := b.status == Paid
	b.status, b.paidOn = Open, civil.Date{}
	if p := b.of; wasPaid && !b.renewal.to.IsZero() && p.dueOn == b.renewal.to {
		m.setDue(p, b.renewal.from, b.renewal.ownDay)
		month := m.renewed[b.renewal.on.String()[:7]]
		if month[p.id]--; month[p.id] == 0 {
			delete(month, p.id)
		}
		b.renewal = renewal{}
		m.tell(event.CustomerUpdated, p, civil.Date{})
	}
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

// life is a company's life, lived by the service and by the model.
type life struct {
	*model
	t         *testing.T
	w         *world
	processes []*world
	random    *rand.Rand
	offers    []*offer // nil: no plan
	known     int      // events that were compared
}

const days = 120

func TestLifeOfACompanyIsWhatTheModelSays(t *testing.T) {
	if sqldbtest.Raced {
		t.Skip("one goroutine, and many days")
	}
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		for seed, from := range []account.RenewFrom{account.FromDueDate, account.FromToday} {
			w := newWorld(t, engine)
			w.configure(t, "renew_from", string(from))
			l := &life{
				model: &model{settings: w.actor.Company.Settings, renewed: map[string]map[int64]int{}},
				t:     t, w: w, random: rand.New(rand.NewPCG(uint64(seed), 7)),
			}
			for i, o := range []offer{{months: 1, value: 3500}, {days: 7, value: 1234}, {months: 12, value: money.Max}, {days: 1, value: 1}, {months: 1}} {
				o.id = w.plan(t, []string{"1month", "1week", "1year", "1day", "1month"}[i], o.value.String())
				l.offers = append(l.offers, &o)
			}
			l.offers = append(l.offers, nil)
			l.processes = []*world{w, w.process(t)}
			for range days {
				l.liveADay()
				if t.Failed() {
					t.Fatalf("seed %d: the service and the model have parted on %v", seed, l.today)
				}
			}
			w.wantTrueBooks(t)
			l.wantRenewals()
			t.Logf("seed %d: %d customers, %d invoices, %d events", seed, len(l.people), len(l.bills), l.known)
		}
	})
}

func (l *life) liveADay() {
	for range l.random.IntN(5) {
		l.w.clock.Advance(time.Duration(l.random.IntN(4*3600)) * time.Second)
		l.today = l.w.actor.Today(l.w.clock.Now())
		l.actor().act()
		l.compare()
	}
	l.w.clock.Advance(time.Duration(8+l.random.IntN(24)) * time.Hour)
	l.today = l.w.actor.Today(l.w.clock.Now())
	if l.random.IntN(10) > 0 { // else nothing runs for a day
		l.actor().w.dayWork(l.t)
		l.dayWork()
		l.compare()
	}
	if l.random.IntN(4) == 0 {
		must(l.t, tally.Compact(l.t.Context(), l.w.db))
		l.w.wantTrueBooks(l.t)
	}
}

// actor is the life in one of its processes.
func (l *life) actor() *life {
	l.w = l.processes[l.random.IntN(len(l.processes))]
	return l
}

// act does one thing at random, in the service and in the model.
func (l *life) act() {
	action := l.random.IntN(100)
	if len(l.people) == 0 || action < 18 {
		plan, dueOn := pick(l.random, l.offers), l.date()
		l.create(l.w.customer(l.t, plan.number(), dueOn.String()).ID, plan, dueOn)
		return
	}
	p := pick(l.random, l.people)
	switch {
	case action < 24:
		_, err := l.w.customers.Renew(l.t.Context(), l.w.actor, p.id)
		if p.plan == nil {
			wantField(l.t, err, "plan_id")
			return
		}
		must(l.t, err)
		l.renew(p, p.plan, l.today)
	case action < 34:
		dueOn := l.date()
		l.w.update(l.t, p.id, "data_de_vencimento", dueOn.String())
		if dueOn != p.dueOn {
			l.setDue(p, dueOn, dueOn.Day())
			l.tell(event.CustomerUpdated, p, civil.Date{})
		}
	case action < 40:
		plan := pick(l.random, l.offers)
		l.w.update(l.t, p.id, "plan_id", orEmpty(plan.number()))
		if plan != p.plan {
			p.plan = plan
			l.tell(event.CustomerUpdated, p, civil.Date{})
		}
	case action < 44:
		must(l.t, l.w.customers.Delete(l.t.Context(), l.w.actor, p.id))
		l.remove(p)
	case action < 48:
		b := &bill{of: p, amount: money.Cents(1 + l.random.Int64N(int64(money.Max))), dueOn: l.today.AddDays(l.random.IntN(9) - 4)}
		_, err := l.w.CreateExtra(l.t.Context(), l.w.actor, p.id, ReadExtra(values("amount", b.amount.String(), "due", b.dueOn.String())))
		must(l.t, err)
		l.add(b)
	case len(l.bills) > 0:
		l.change(pick(l.random, l.bills))
	}
}

func (o *offer) number() int64 {
	if o == nil {
		return 0
	}
	return o.id
}

// change changes the status of an invoice, or tries to.
func (l *life) change(b *bill) {
	to := pick(l.random, []Status{Paid, Paid, Paid, Paid, Open, Open, Cancelled})
	paidOn, renew := l.today, l.random.IntN(8) > 0
	if l.random.IntN(3) == 0 {
		paidOn = l.today.AddDays(-l.random.IntN(40))
	}
	_, err := l.w.SetStatus(l.t.Context(), l.w.actor, b.id, ReadStatusChange(values(
		"status", to.String(), "paid_at", paidOn.String(), "renew", fmt.Sprint(renew))))
	if b.status != to && b.status != Open && to != Open {
		wantField(l.t, err, "status")
		return
	}
	must(l.t, err)
	switch {
	case to == Paid:
		l.pay(b, paidOn, renew)
	case to == Open && b.status != Open:
		l.reopen(b)
	default:
		b.status = to
	}
}

func (l *life) date() civil.Date {
	if l.random.IntN(6) == 0 {
		return civil.Date{}
	}
	return l.today.AddDays(l.random.IntN(24) - 4)
}

func pick[T any](random *rand.Rand, list []T) T { return list[random.IntN(len(list))] }

// compare holds every customer, invoice and event against the model.
func (l *life) compare() {
	l.t.Helper()
	l.compareCustomers()
	l.compareInvoices()
	bodies := l.w.bodies(l.t)[l.known:]
	var got []string
	for _, body := range bodies {
		var e struct {
			Event event.Name
			Data  struct {
				Customer struct {
					ID      int64
					DueDate civil.Date `json:"due_date"`
				}
				Invoice struct {
					DueDate civil.Date `json:"due_date"`
				}
			}
		}
		must(l.t, json.Unmarshal([]byte(body), &e))
		dueOn := e.Data.Customer.DueDate
		if dueOn.IsZero() {
			dueOn = e.Data.Invoice.DueDate
		}
		got = append(got, told(e.Event, e.Data.Customer.ID, dueOn))
	}
	if want := l.told[l.known:]; !slices.Equal(got, want) {
		l.t.Errorf("told %q\nwant %q", got, want)
	}
	l.known = len(l.told)
}

func (l *life) compareCustomers() {
	l.t.Helper()
	got := texts(l.t, l.w.db, `
		SELECT CAST(id AS TEXT) || ' ' || COALESCE(due_on, '') || ' ' || CAST(own_day AS TEXT) || ' ' || CAST(COALESCE(plan_id, 0) AS TEXT)
		FROM customers ORDER BY id`)
	var want []string
	for _, p := range l.people {
		want = append(want, fmt.Sprintf("%d %v %d %d", p.id, p.dueOn, p.ownDay, p.plan.number()))
	}
	if !slices.Equal(got, want) {
		l.t.Errorf("customers %q\nwant      %q", got, want)
	}
}

// compareInvoices also takes note of the ids of those that are new.
func (l *life) compareInvoices() {
	l.t.Helper()
	rows, err := sqldb.All(l.t.Context(), l.w.db, scan, `SELECT `+columns+` FROM invoices i`+joins+` ORDER BY i.id`)
	must(l.t, err)
	if len(rows) != len(l.bills) {
		l.t.Fatalf("%d invoices, want %d", len(rows), len(l.bills))
	}
	for i, b := range l.bills {
		r := rows[i]
		b.id = r.ID
		got := bill{b.id, b.of, r.Generated, r.Status, r.Amount, r.DueOn, r.Plan.ID, r.Product.ID, r.PaidOn, r.renewal, b.issuedFor}
		if got != *b || r.Customer.ID != b.of.id {
			l.t.Errorf("invoice of customer %d: %+v\nwant of %d: %+v", r.Customer.ID, got, b.of.id, *b)
		}
	}
}

// wantRenewals compares how many customers were renewed, month by month.
func (l *life) wantRenewals() {
	l.t.Helper()
	got, err := tally.By[string](l.t.Context(), l.w.db, tally.Renewals, l.w.actor.Company.ID, "day", sqldb.Where{})
	must(l.t, err)
	if len(l.renewed) < 4 || len(got) != len(l.renewed) {
		l.t.Errorf("renewals in %v, want in %d months", got, len(l.renewed))
	}
	for month, people := range l.renewed {
		if got[month].N != int64(len(people)) {
			l.t.Errorf("%d renewed in %s, want %d", got[month].N, month, len(people))
		}
	}
}
