package billing

import (
	"slices"

	"carteira/internal/customer"
	"carteira/internal/platform/input"
	"carteira/internal/tally"
)

var wholeList = input.Page{Number: 1, Size: 1000}

// compareLists holds the lists, their totals and what is to pay today against
// the model.
func (l *life) compareLists() {
	l.t.Helper()
	from, to := l.today.AddDays(-20), l.today.AddDays(3)
	late := func(b *bill) bool { return b.status == Open && b.dueOn.Before(l.today) }
	for _, c := range []struct {
		filter Filter
		has    func(*bill) bool
	}{
		{Filter{}, func(*bill) bool { return true }},
		{Filter{Status: Open}, func(b *bill) bool { return b.status == Open }},
		{Filter{Status: Paid}, func(b *bill) bool { return b.status == Paid }},
		{Filter{Status: Cancelled}, func(b *bill) bool { return b.status == Cancelled }},
		{Filter{Overdue: "true"}, late},
		{Filter{Overdue: "false"}, func(b *bill) bool { return !late(b) }},
		{Filter{DueFrom: from, DueTo: to}, func(b *bill) bool { return !b.dueOn.Before(from) && !b.dueOn.After(to) }},
		{Filter{PaidFrom: from}, func(b *bill) bool { return b.status == Paid && !b.paidOn.Before(from) }},
		{Filter{PlanID: l.offers[0].id, Status: Open}, func(b *bill) bool { return b.planID == l.offers[0].id && b.status == Open }},
		{Filter{CustomerID: l.someID()}, func(b *bill) bool { return b.of.id == l.someID() }},
	} {
		l.compareList(c.filter, c.has)
	}
	l.compareStatuses()
	l.w.wantTruePayments(l.t)
}

// someID is the number of a customer; 1 where there is none.
func (l *life) someID() int64 {
	if len(l.people) == 0 {
		return 1
	}
	return l.people[len(l.people)/2].id
}

func (l *life) compareList(filter Filter, has func(*bill) bool) {
	l.t.Helper()
	list, total, err := l.w.List(l.t.Context(), l.w.actor, filter, wholeList)
	must(l.t, err)
	var want []*bill
	for _, b := range slices.Backward(l.bills) {
		if has(b) {
			want = append(want, b)
		}
	}
	if len(list) != len(want) || total != int64(len(want)) {
		l.t.Errorf("%+v: %d listed, %d in all, want %d", filter, len(list), total, len(want))
		return
	}
	for n, invoice := range list {
		costs := invoice.PayableOn(l.w.actor.Company, l.today)
		if invoice.ID != want[n].id || invoice.Status != want[n].status {
			l.t.Errorf("%+v: %d is listed as %s, want %d, %s", filter, invoice.ID, invoice.Status, want[n].id, want[n].status)
		}
		if invoice.Status == Open && (costs.Rest != l.rest(want[n], l.today) || (due{costs.Fee, costs.Interest, costs.Discount}) != l.due(want[n], l.today)) {
			l.t.Errorf("invoice %d of %s, due on %v: %+v to pay on %v, want %s: %+v", invoice.ID, invoice.Amount, invoice.DueOn,
				costs, l.today, l.rest(want[n], l.today), l.due(want[n], l.today))
		}
	}
}

// compareStatuses holds the lists of customers by status against the model.
func (l *life) compareStatuses() {
	l.t.Helper()
	byStatus := map[customer.Status]int64{"": int64(len(l.people))}
	for _, person := range l.people {
		switch {
		case person.cancelled:
			byStatus[customer.Cancelled]++
		case person.dueOn.IsZero() || person.dueOn.After(l.today):
			byStatus[customer.Active]++
		case person.dueOn == l.today:
			byStatus[customer.DueToday]++
		default:
			byStatus[customer.Expired]++
		}
	}
	for _, status := range []customer.Status{"", customer.Active, customer.DueToday, customer.Expired, customer.Cancelled} {
		list, total, err := l.w.customers.List(l.t.Context(), l.w.actor, customer.Filter{Status: status}, wholeList)
		must(l.t, err)
		if total != byStatus[status] || int64(len(list)) != total {
			l.t.Errorf("%q: %d listed, %d in all, want %d", status, len(list), total, byStatus[status])
		}
	}
}

// wantRecounted wants every counter to be what its records are.
func (l *life) wantRecounted() {
	l.t.Helper()
	for _, recount := range slices.Concat(customer.Recounts(), Recounts()) {
		found, err := recount.Differences(l.t.Context(), l.w.db, tally.Scope{CompanyID: l.w.actor.Company.ID, Today: l.today})
		must(l.t, err)
		if len(found) > 0 {
			l.t.Errorf("%s differs from its records: %+v", recount.Counter, found)
		}
	}
}
