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
	"carteira/internal/platform/sqldb/sqldbtest"
)

// The model is reminding put as plainly as can be: whenever the processes have
// worked, it looks at everybody and every rule, and says who must have been
// told what since the last time. It plans nothing and remembers nothing but
// whom was told.

type person struct {
	id       int64
	of       *business
	dueOn    civil.Date
	planID   int64
	noNumber bool
	optedOut bool
	paid     map[civil.Date]bool
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
	want := map[string]int{}
	for _, p := range l.people {
		for _, r := range p.of.rules {
			if p.dueOn.IsZero() || !r.active || r.planID != 0 && r.planID != p.planID {
				continue
			}
			zone := p.of.actor.Company.Zone
			at := r.when(p.dueOn, zone)
			key := fmt.Sprintf("%d %d %v", p.id, r.id, p.dueOn)
			if !at.After(l.worked) || at.After(now) || l.told[key] {
				continue
			}
			local := now.In(zone)
			switch {
			case local.Hour() < 8 || local.Hour() >= 21 || local.YearDay() != at.YearDay():
				l.late++ // nobody worked on its day
			case !p.optedOut && !p.paid[p.dueOn] && !p.noNumber:
				l.told[key] = true
				want[fmt.Sprintf("%d: %s %s", p.id, r.text, p.dueOn.BR())]++
			}
		}
	}
	return want
}

func TestNinetyDaysAreWhatTheModelSays(t *testing.T) {
	if sqldbtest.Raced {
		t.Skip("few goroutines, and many days")
	}
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		people := 1000
		if engine == sqldb.Postgres {
			people = 150
		}
		if testing.Short() {
			people /= 10
		}
		l := newLife(t, engine, people)
		for end := l.clock().Now().AddDate(0, 0, 90); l.clock().Now().Before(end); {
			l.step()
			if t.Failed() {
				t.Fatalf("the service and the model have parted at %v", l.clock().Now())
			}
		}
		if l.sent < people {
			t.Errorf("only %d messages in ninety days", l.sent)
		}
		if n := l.processes[0].count(`SELECT count(*) FROM reminder_messages WHERE status IN ('sending', 'unknown', 'failed')`); n != 0 {
			t.Errorf("%d messages came to nothing", n)
		}
		t.Logf("%d people at the end, %d messages sent, %d too late", len(l.people), l.sent, l.late)
	})
}

func (l *life) clock() *sqldbtest.Clock { return l.processes[0].clock }

func newLife(t *testing.T, engine sqldb.Engine, people int) *life {
	t.Helper()
	h := newHouse(t, engine)
	h.clock.Set(time.Date(2026, 2, 20, 12, 0, 0, 0, time.UTC)) // clocks change in New York and Auckland meanwhile
	l := &life{t: t, random: rand.New(rand.NewPCG(8, 15)), processes: []*house{h, h.process(t), h.process(t)}, told: map[string]bool{}, worked: h.clock.Now()}
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
	return b
}

func (l *life) change(b *business, r *prompt, pairs ...string) {
	l.t.Helper()
	_, err := b.UpdateRule(l.t.Context(), b.actor, r.id, ReadRuleChanges(values(pairs...)))
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
	for _, p := range l.processes {
		run := func() {
			for _, b := range l.companies {
				if _, err := p.billing.Issue(l.t.Context(), b.actor); err != nil {
					l.t.Error(err)
				}
			}
			p.work()
		}
		if together && p.db.Engine() == sqldb.Postgres {
			all.Go(run)
		}
	}
	all.Wait()
	p := pick(l.random, l.processes)
	for _, b := range l.companies {
		_, err := p.billing.Issue(l.t.Context(), b.actor)
		must(l.t, err)
	}
	p.work()
}

func (l *life) arrive() {
	b := pick(l.random, l.companies)
	p := &person{of: b, planID: pick(l.random, b.plans), paid: map[civil.Date]bool{}, noNumber: l.random.IntN(20) == 0}
	pairs := []string{"plan_id", number(p.planID)}
	if p.noNumber {
		pairs = append(pairs, "whatsapp", "")
	}
	c := b.customer(l.date(b.actor).String(), pairs...)
	p.id, p.dueOn = c.ID, c.DueOn
	l.people = append(l.people, p)
}

func (l *life) date(a account.Actor) civil.Date {
	return a.Today(l.clock().Now()).AddDays(l.random.IntN(34) - 4)
}

// happen does one thing at random, in one of the processes.
func (l *life) happen() {
	l.t.Helper()
	ctx, p, h := l.t.Context(), pick(l.random, l.people), pick(l.random, l.processes)
	a := p.of.actor
	switch action := l.random.IntN(100); {
	case action < 35:
		r, err := h.customers.Renew(ctx, a, p.id)
		must(l.t, err)
		p.dueOn = r.DueOn
	case action < 52:
		p.dueOn = l.date(a)
		l.set(h, p, "data_de_vencimento", p.dueOn.String())
	case action < 55:
		p.dueOn = civil.Date{}
		l.set(h, p, "data_de_vencimento", "")
	case action < 75:
		l.pay(h, p)
	case action < 80:
		must(l.t, h.customers.Delete(ctx, a, p.id))
		l.people = slices.DeleteFunc(l.people, func(q *person) bool { return q == p })
	case action < 86:
		l.arrive()
	case action < 90:
		p.optedOut = !p.optedOut
		must(l.t, h.SetOptOut(ctx, a, p.id, p.optedOut))
	case action < 94:
		p.planID = pick(l.random, p.of.plans)
		l.set(h, p, "plan_id", number(p.planID))
	case action < 97:
		p.noNumber = !p.noNumber
		l.set(h, p, "whatsapp", map[bool]string{true: "", false: "11987654321"}[p.noNumber])
	default:
		l.meddle(p.of)
	}
}

func (l *life) set(h *house, p *person, pairs ...string) {
	l.t.Helper()
	_, err := h.customers.Update(l.t.Context(), p.of.actor, p.id, customer.ReadChanges(values(pairs...)))
	must(l.t, err)
}

// pay pays the open invoice of a customer's due date, if there is one, with or
// without a renewal.
func (l *life) pay(h *house, p *person) {
	l.t.Helper()
	ids, err := sqldb.Values[int64](l.t.Context(), h.db, `SELECT id FROM invoices WHERE customer_id = ? AND due_on = ? AND status = 'open'`, p.id, p.dueOn)
	must(l.t, err)
	if len(ids) == 0 {
		return
	}
	renew := l.random.IntN(2) == 0
	out, err := h.billing.SetStatus(l.t.Context(), p.of.actor, ids[0], billing.ReadStatusChange(values("status", "Pago", "renew", strconv.FormatBool(renew))))
	must(l.t, err)
	p.paid[p.dueOn] = true
	if out.Renewed {
		c, err := h.customers.Find(l.t.Context(), p.of.actor, p.id)
		must(l.t, err)
		p.dueOn = c.DueOn
	}
}

// meddle changes a rule.
func (l *life) meddle(b *business) {
	l.t.Helper()
	r := pick(l.random, b.rules)
	switch l.random.IntN(3) {
	case 0:
		r.active = !r.active
		l.change(b, r, "active", strconv.FormatBool(r.active))
	case 1:
		r.minute = 60 * l.random.IntN(24)
		l.change(b, r, "hour", Clock(r.minute))
	case 2:
		r.offset = l.random.IntN(12) - 8
		l.change(b, r, "offset_days", strconv.Itoa(r.offset))
	}
}
