package reminder

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/customer"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/sqldb"
	"carteira/test/kit/sqldbtest"
)

// The model is reminding in its plainest form: whenever the processes have
// worked, it looks at every customer and every rule, and says which messages
// must have been sent since the last time. It plans nothing and remembers only
// what was sent.

type person struct {
	id       int64
	of       *business
	dueOn    civil.Date
	planID   int64
	noNumber bool
	optedOut bool
	paid     map[civil.Date]bool
	receipts []receiptDue
}

// receiptDue is a receipt that a person is still to get.
type receiptDue struct {
	at, late time.Time
	dueOn    civil.Date
}

type prompt struct {
	id     int64
	text   string // begins what it says
	active bool
	offset int
	minute int
	planID int64
}

type business struct {
	*house // of its company
	plans  []int64
	rules  []*prompt
}

type life struct {
	t         *testing.T
	random    *rand.Rand
	processes []*house
	companies []*business
	people    []*person
	told      map[string]bool // customer, rule and due date
	worked    time.Time       // when the processes last did
	sent      int
	late      int
}

// when is the moment of a prompt, by the calendar of the standard library.
func (p *prompt) when(dueOn civil.Date, zone *time.Location) time.Time {
	day, minute := dueOn.Day()+p.offset, p.minute
	switch {
	case minute >= 21*60:
		day, minute = day+1, 8*60
	case minute < 8*60:
		minute = 8 * 60
	}
	return time.Date(dueOn.Year(), dueOn.Month(), day, minute/60, minute%60, 0, 0, zone)
}

// expected is what must have been said since the last time.
func (l *life) expected(now time.Time) map[string]int {
	want, debts := map[string]int{}, l.debts()
	for _, person := range l.people {
		l.expectReceipts(person, now, want)
		for _, rule := range person.of.rules {
			for _, dueOn := range rule.dates(person, debts[person.id]) {
				l.expectPrompt(person, rule, dueOn, now, want)
			}
		}
	}
	return want
}

// debts are the days of which each person owes something.
func (l *life) debts() map[int64][]civil.Date {
	debts := map[int64][]civil.Date{}
	text := `SELECT DISTINCT customer_id, due_on FROM invoices WHERE status = 'open'`
	err := sqldb.Each(l.t.Context(), l.processes[0].db, text, nil, func(row sqldb.Row) error {
		var id int64
		var day string
		err := row.Scan(&id, &day)
		debts[id] = append(debts[id], civil.MustParse(day))
		return err
	})
	must(l.t, err)
	return debts
}

// dates are the days by which a prompt goes: the person's own, unless that is paid,
// and after it those of which something is owed.
func (p *prompt) dates(person *person, debts []civil.Date) (list []civil.Date) {
	if !person.dueOn.IsZero() && !person.paid[person.dueOn] {
		list = append(list, person.dueOn)
	}
	for _, day := range debts {
		if p.offset > 0 && !slices.Contains(list, day) {
			list = append(list, day)
		}
	}
	return list
}

func (l *life) expectPrompt(person *person, rule *prompt, dueOn civil.Date, now time.Time, want map[string]int) {
	if !rule.active || rule.planID != 0 && rule.planID != person.planID {
		return
	}
	zone := person.of.actor.Company.Zone
	at := rule.when(dueOn, zone)
	key := fmt.Sprintf("%d %d %v", person.id, rule.id, dueOn)
	if !at.After(l.worked) || at.After(now) || l.told[key] {
		return
	}
	local := now.In(zone)
	switch {
	case local.Hour() < 8 || local.Hour() >= 21 || local.YearDay() != at.YearDay():
		l.late++ // no process worked on its day
	case !person.optedOut && !person.noNumber:
		l.told[key] = true
		want[fmt.Sprintf("%d: %s %s", person.id, rule.text, dueOn.BR())]++
	}
}

// expectReceipts moves on what a person is to get for its payments.
func (l *life) expectReceipts(person *person, now time.Time, want map[string]int) {
	local := now.In(person.of.actor.Company.Zone)
	var kept []receiptDue
	for _, due := range person.receipts {
		free := disturbable(local)
		switch {
		case due.at.After(now):
			kept = append(kept, due)
		case person.optedOut:
		case !free.Before(due.late):
			l.late++
		case free.After(now):
			kept = append(kept, receiptDue{free, due.late, due.dueOn})
		case !person.noNumber:
			want[fmt.Sprintf("%d: paid %s", person.id, due.dueOn.BR())]++
		}
	}
	person.receipts = kept
}

// disturbable is the first instant from at on that is no quiet hour.
func disturbable(at time.Time) time.Time {
	switch {
	case at.Hour() >= 21:
		return time.Date(at.Year(), at.Month(), at.Day()+1, 8, 0, 0, 0, at.Location())
	case at.Hour() < 8:
		return time.Date(at.Year(), at.Month(), at.Day(), 8, 0, 0, 0, at.Location())
	}
	return at
}

// owesReceipt has a person get a receipt ten minutes from now, or in the morning.
func (l *life) owesReceipt(person *person) {
	at := disturbable(l.clock().Now().Add(10 * time.Minute).In(person.of.actor.Company.Zone))
	late := time.Date(at.Year(), at.Month(), at.Day()+2, 0, 0, 0, 0, at.Location())
	person.receipts = append(person.receipts, receiptDue{at, late, person.dueOn})
}

// beginnings are days before the clocks change in New York, and in Auckland.
var beginnings = []time.Time{
	time.Date(2026, 2, 20, 12, 0, 0, 0, time.UTC),
	time.Date(2026, 3, 20, 12, 0, 0, 0, time.UTC),
}

func TestFourWeeksAreWhatTheModelSays(t *testing.T) {
	if sqldbtest.Raced {
		t.Skip("few goroutines, and many days")
	}
	people := 80
	if testing.Short() {
		people /= 10
	}
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		for _, seed := range sqldbtest.Lives(engine, uint64(len(beginnings))) {
			life := newLife(t, engine, seed, people)
			life.liveFourWeeks()
			if life.sent < people/2 {
				t.Errorf("only %d messages in four weeks", life.sent)
			}
			if n := life.processes[0].count(`SELECT count(*) FROM reminder_messages WHERE status IN ('sending', 'unknown', 'failed')`); n != 0 {
				t.Errorf("%d messages came to nothing", n)
			}
			t.Logf("%d people at the end, %d messages sent, %d too late", len(life.people), life.sent, life.late)
		}
	})
}

func (l *life) liveFourWeeks() {
	l.t.Helper()
	for end := l.clock().Now().AddDate(0, 0, 28); l.clock().Now().Before(end); {
		l.step()
		if l.t.Failed() {
			l.t.Fatalf("the service and the model have parted at %v", l.clock().Now())
		}
	}
}

func (l *life) clock() *sqldbtest.Clock { return l.processes[0].clock }

func newLife(t *testing.T, engine sqldb.Engine, seed uint64, people int) *life {
	t.Helper()
	h := newHouse(t, engine)
	h.clock.Set(beginnings[seed])
	l := &life{t: t, random: rand.New(rand.NewPCG(8+seed, 15)), processes: []*house{h, h.process(t), h.process(t)}, told: map[string]bool{}, worked: h.clock.Now()}
	for _, zone := range []string{"America/Sao_Paulo", "Pacific/Auckland", "America/New_York"} {
		l.companies = append(l.companies, l.open(zone))
	}
	for range people {
		l.arrive()
	}
	return l
}

// open makes a company with plans and rules.
func (l *life) open(zone string) *business {
	l.t.Helper()
	here := *l.processes[0]
	here.actor = here.company(zone)
	b := &business{house: &here, plans: []int64{here.plan("35.00"), here.plan("0.00")}}
	zap := here.channel("zap")
	for i, r := range []prompt{{offset: -3, minute: 9 * 60}, {offset: 0, minute: 14*60 + 30}, {offset: 1, minute: 22 * 60}, {offset: -7, minute: 10 * 60, planID: b.plans[0]}} {
		r.text, r.active = fmt.Sprintf("R%d", i), true
		made := here.remind(r.offset, Clock(r.minute), here.template(r.text+" {due_date}"), zap)
		r.id = made.ID
		if r.planID != 0 {
			l.change(b, &r, "plan_id", number(r.planID))
		}
		b.rules = append(b.rules, &r)
	}
	here.confirm(here.template("paid {due_date}"), zap)
	return b
}

func (l *life) change(business *business, prompt *prompt, pairs ...string) {
	l.t.Helper()
	_, err := business.UpdateRule(l.t.Context(), business.actor, prompt.id, ReadRuleChanges(values(pairs...)))
	must(l.t, err)
}

func pick[T any](random *rand.Rand, list []T) T { return list[random.IntN(len(list))] }

// step lets time pass, lets the processes work, and then lets things happen.
func (l *life) step() {
	hours := 1 + l.random.IntN(5)
	if l.random.IntN(40) == 0 {
		hours += 30 // nothing runs for more than a day
	}
	l.clock().Advance(time.Duration(hours)*time.Hour - time.Duration(l.random.IntN(3600))*time.Second)
	want := l.expected(l.clock().Now())
	l.worked = l.clock().Now()
	l.work()
	got := map[string]int{}
	for _, letter := range l.processes[0].carrier.taken() {
		got[fmt.Sprintf("%d: %s", letter.CustomerID, letter.Text)]++
		l.sent++
	}
	if !maps.Equal(got, want) {
		for key := range want {
			if got[key] != want[key] {
				l.t.Errorf("%s: sent %d times, want %d", key, got[key], want[key])
			}
		}
		for key := range got {
			if want[key] == 0 {
				l.t.Errorf("%s: was sent", key)
			}
		}
	}
	for range 6 + l.random.IntN(14) {
		l.happen()
	}
}

// work is what the processes do: one of them, and now and then all at once
// where they can.
func (l *life) work() {
	l.t.Helper()
	var all sync.WaitGroup
	together := l.random.IntN(3) == 0
	for _, process := range l.processes {
		run := func() {
			for _, company := range l.companies {
				if _, err := process.billing.Issue(l.t.Context(), company.actor); err != nil {
					l.t.Error(err)
				}
			}
			process.work()
		}
		if together && process.db.Engine() == sqldb.Postgres {
			all.Go(run)
		}
	}
	all.Wait()
	house := pick(l.random, l.processes)
	for _, company := range l.companies {
		_, err := house.billing.Issue(l.t.Context(), company.actor)
		must(l.t, err)
	}
	house.work()
}

func (l *life) arrive() {
	business := pick(l.random, l.companies)
	p := &person{of: business, planID: pick(l.random, business.plans), paid: map[civil.Date]bool{}, noNumber: l.random.IntN(20) == 0}
	pairs := []string{"plan_id", number(p.planID)}
	if p.noNumber {
		pairs = append(pairs, "whatsapp", "")
	}
	record := business.customer(l.date(business.actor).String(), pairs...)
	p.id, p.dueOn = record.ID, record.DueOn
	l.people = append(l.people, p)
}

func (l *life) date(actor account.Actor) civil.Date {
	return actor.Today(l.clock().Now()).AddDays(l.random.IntN(34) - 4)
}

// happen does one thing at random, in one of the processes.
func (l *life) happen() {
	l.t.Helper()
	ctx, p, house := l.t.Context(), pick(l.random, l.people), pick(l.random, l.processes)
	actor := p.of.actor
	switch action := l.random.IntN(100); {
	case action < 35:
		renewal, err := house.customers.Renew(ctx, actor, p.id)
		must(l.t, err)
		p.dueOn = renewal.DueOn
	case action < 52:
		p.dueOn = l.date(actor)
		l.set(house, p, "data_de_vencimento", p.dueOn.String())
	case action < 55:
		p.dueOn = civil.Date{}
		l.set(house, p, "data_de_vencimento", "")
	case action < 75:
		l.pay(house, p)
	case action < 80:
		must(l.t, house.customers.Delete(ctx, actor, p.id))
		l.people = slices.DeleteFunc(l.people, func(person *person) bool { return person == p })
	case action < 86:
		l.arrive()
	case action < 90:
		p.optedOut = !p.optedOut
		must(l.t, house.SetOptOut(ctx, actor, p.id, p.optedOut))
	case action < 94:
		p.planID = pick(l.random, p.of.plans)
		l.set(house, p, "plan_id", number(p.planID))
	case action < 97:
		p.noNumber = !p.noNumber
		l.set(house, p, "whatsapp", map[bool]string{true: "", false: "11987654321"}[p.noNumber])
	default:
		l.meddle(p.of)
	}
}

func (l *life) set(house *house, person *person, pairs ...string) {
	l.t.Helper()
	_, err := house.customers.Update(l.t.Context(), person.of.actor, person.id, customer.ReadChanges(values(pairs...)))
	must(l.t, err)
}

// pay pays the open invoice of a customer's due date, if there is one, with or
// without a renewal.
func (l *life) pay(house *house, person *person) {
	l.t.Helper()
	ids, err := sqldb.Values[int64](l.t.Context(), house.db, `SELECT id FROM invoices WHERE customer_id = ? AND due_on = ? AND status = 'open'`, person.id, person.dueOn)
	must(l.t, err)
	if len(ids) == 0 {
		return
	}
	renew := l.random.IntN(2) == 0
	out, err := house.billing.SetStatus(l.t.Context(), person.of.actor, ids[0], billing.ReadStatusChange(values("status", "Pago", "renew", strconv.FormatBool(renew))))
	must(l.t, err)
	person.paid[person.dueOn] = true
	if out.Received > 0 {
		l.owesReceipt(person)
	}
	if out.Renewed {
		record, err := house.customers.Find(l.t.Context(), person.of.actor, person.id)
		must(l.t, err)
		person.dueOn = record.DueOn
	}
}

// meddle changes a rule.
func (l *life) meddle(business *business) {
	l.t.Helper()
	prompt := pick(l.random, business.rules)
	switch l.random.IntN(3) {
	case 0:
		prompt.active = !prompt.active
		l.change(business, prompt, "active", strconv.FormatBool(prompt.active))
	case 1:
		prompt.minute = 60 * l.random.IntN(24)
		l.change(business, prompt, "hour", Clock(prompt.minute))
	case 2:
		prompt.offset = l.random.IntN(12) - 8
		l.change(business, prompt, "offset_days", strconv.Itoa(prompt.offset))
	}
}
