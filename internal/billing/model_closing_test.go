package billing

import (
	"maps"
	"slices"
	"strings"

	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/money"
)

// copied is the model as it is now, which later changes leave alone.
func (m *model) copied() *model {
	people, bills := map[*person]*person{}, map[*bill]*bill{}
	personOf := func(p *person) *person {
		if people[p] == nil {
			clone := *p
			clone.told = maps.Clone(p.told)
			people[p] = &clone
		}
		return people[p]
	}
	billOf := func(b *bill) *bill {
		if bills[b] == nil {
			clone := *b
			clone.of = personOf(b.of)
			bills[b] = &clone
		}
		return bills[b]
	}
	depositOf := func(d *deposit) *deposit {
		clone := *d
		clone.bill, clone.early = billOf(d.bill), slices.Clone(d.early)
		return &clone
	}
	out := *m
	out.people, out.bills, out.gone = mapped(m.people, personOf), mapped(m.bills, billOf), mapped(m.gone, billOf)
	out.money, out.told, out.received = mapped(m.money, depositOf), slices.Clone(m.told), maps.Clone(m.received)
	out.renewed = map[string]map[int64]int{}
	for month, people := range m.renewed {
		out.renewed[month] = maps.Clone(people)
	}
	return &out
}

func mapped[T any](list []*T, of func(*T) *T) (out []*T) {
	for _, one := range list {
		out = append(out, of(one))
	}
	return out
}

// sums are what is settled about a day once it is closed.
type sums struct {
	received, paid, lost money.Cents
	bills                int
}

// closedSums are the sums of the days that are closed. A day that has not ended is not.
func (m *model) closedSums() map[civil.Date]sums {
	days := map[civil.Date]sums{}
	add := func(on civil.Date, s sums) {
		if on.IsZero() || on.After(m.settings.ClosedThrough) || !on.Before(m.today) {
			return
		}
		was := days[on]
		days[on] = sums{was.received + s.received, was.paid + s.paid, was.lost + s.lost, was.bills + s.bills}
	}
	for on, amount := range m.received {
		add(on, sums{received: amount})
	}
	for _, bill := range slices.Concat(m.bills, m.gone) {
		add(bill.lostOn, sums{lost: bill.lost})
		if bill.status == Paid {
			add(bill.paidOn, sums{paid: bill.settled, bills: 1})
		}
	}
	maps.DeleteFunc(days, func(_ civil.Date, s sums) bool { return s == sums{} })
	return days
}

// openDay is the day on which money counts that a gateway reports for a day: the first
// open one, if that is closed.
func (m *model) openDay(on civil.Date) civil.Date {
	if on.After(m.settings.ClosedThrough) || !on.Before(m.today) {
		return on
	}
	if first := m.settings.ClosedThrough.AddDays(1); first.Before(m.today) {
		return first
	}
	return m.today
}

// closeBooks closes a month, or days of it, or opens them again.
func (l *life) closeBooks() {
	through := pick(l.random, []civil.Date{{}, l.today.AddDays(-1), firstOf(l.today).AddDays(-1), l.today.AddDays(-1 - l.random.IntN(40))})
	l.set("books_closed_through", through.String())
}

// keptOut does a deed. One that would change a closed day must have been refused for
// that, and has changed nothing: the model is what it was before it.
func (l *life) keptOut(do func()) {
	before := l.copied()
	closed := before.closedSums()
	l.shut = false
	do()
	if l.settings.ClosedThrough != before.settings.ClosedThrough || l.today != before.today {
		return
	}
	if changes := !maps.Equal(closed, l.closedSums()); changes != l.shut {
		l.t.Fatalf("%s: would change closed days: %v, refused for that: %v\n%v\n%v", l.last, changes, l.shut, closed, l.closedSums())
	}
	if l.shut {
		l.model = before
		l.done["refused, since the day is closed"]++
	}
}

// onClosedDay notes that a deed was refused since it would change a closed day.
func (l *life) onClosedDay(err error) bool {
	refused := fault.FieldsOf(err).Get("books_closed_through")
	if err == nil || len(refused) == 0 {
		return false
	}
	if !strings.Contains(refused[0], l.settings.ClosedThrough.String()) {
		l.t.Errorf("%q does not name %v", refused[0], l.settings.ClosedThrough)
	}
	l.shut = true
	return true
}
