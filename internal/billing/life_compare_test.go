package billing

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"carteira/internal/event"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/money"
	"carteira/internal/platform/sqldb"
	"carteira/internal/tally"
)

// compare holds every customer, invoice, payment, day and event against the
// model.
func (l *life) compare() {
	l.t.Helper()
	l.compareCustomers()
	l.compareInvoices()
	l.compareMoney()
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
	want := l.told[l.known:]
	if l.atOnce { // in whatever order
		slices.Sort(got)
		slices.Sort(want)
	}
	if !slices.Equal(got, want) {
		l.t.Errorf("told %q\nwant %q", got, want)
	}
	l.known = len(l.told)
}

func (l *life) compareCustomers() {
	l.t.Helper()
	got := texts(l.t, l.w.db, `
		SELECT CAST(id AS TEXT) || ' ' || COALESCE(due_on, '') || ' ' || CAST(own_day AS TEXT) || ' ' || CAST(COALESCE(plan_id, 0) AS TEXT)
			|| ' ' || CAST(credit_cents AS TEXT) || CASE WHEN cancelled_at IS NULL THEN '' ELSE ' cancelled' END
		FROM customers ORDER BY id`)
	var want []string
	for _, person := range l.people {
		line := fmt.Sprintf("%d %v %d %d %d", person.id, person.dueOn, person.ownDay, person.plan.number(), person.credit)
		if person.cancelled {
			line += " cancelled"
		}
		want = append(want, line)
	}
	if !slices.Equal(got, want) {
		l.t.Errorf("customers %q\nwant      %q", got, want)
	}
}

// compareInvoices also remembers the ids of those that are new.
func (l *life) compareInvoices() {
	l.t.Helper()
	rows, err := sqldb.All(l.t.Context(), l.w.db, scan, `SELECT `+columns+` FROM invoices i`+joins+` ORDER BY i.id`)
	must(l.t, err)
	if len(rows) != len(l.bills) {
		l.t.Fatalf("%d invoices, want %d", len(rows), len(l.bills))
	}
	if l.atOnce {
		l.arrange(rows)
	}
	for i, b := range l.bills {
		invoice := rows[i]
		b.id = invoice.ID
		got := bill{
			id: invoice.ID, of: b.of, generated: invoice.Generated, status: invoice.Status, amount: invoice.Amount, dueOn: invoice.DueOn, date: invoice.IssuedFor, planID: invoice.Plan.ID,
			product: invoice.Product.ID, paidOn: invoice.PaidOn, renewal: invoice.renewal, issuedFor: b.issuedFor, withdrawn: invoice.Withdrawn,
			edited: invoice.Edited, superseded: invoice.Superseded, received: invoice.Received, forgiven: invoice.Forgiven, settled: invoice.Settled,
			own: invoice.OwnDiscount, given: invoice.Given, takenOff: invoice.TakenOff, lost: invoice.WrittenOff, lostOn: invoice.WrittenOffOn, cost: due{invoice.LateFee, invoice.LateInterest, invoice.Discount},
		}
		if got != *b || invoice.Customer.ID != b.of.id || periodOf(b.issuedFor) != invoice.Period {
			l.t.Errorf("invoice of customer %d: %+v for %v\nwant of %d: %+v for %v",
				invoice.Customer.ID, got, invoice.Period, b.of.id, *b, periodOf(b.issuedFor))
		}
	}
}

// arrange puts the invoices that processes have issued at once into the order in
// which they did.
func (l *life) arrange(rows []Invoice) {
	for i, invoice := range rows {
		for j := i; j < len(l.bills); j++ {
			b := l.bills[j]
			if b.id == invoice.ID || b.id == 0 && b.of.id == invoice.Customer.ID && b.dueOn == invoice.DueOn {
				l.bills[i], l.bills[j] = b, l.bills[i]
				break
			}
		}
	}
}

func periodOf(offer *offer) civil.Period {
	switch {
	case offer == nil:
		return civil.Period{}
	case offer.days == 7:
		return civil.Period{Unit: civil.Week, Count: 1}
	case offer.days == 1:
		return civil.Period{Unit: civil.Day, Count: 1}
	case offer.months == 12:
		return civil.Period{Unit: civil.Year, Count: 1}
	}
	return civil.Period{Unit: civil.Month, Count: 1}
}

// compareMoney compares every payment, and what each day received.
func (l *life) compareMoney() {
	l.t.Helper()
	got := texts(l.t, l.w.db, `
		SELECT id || ' ' || amount_cents || ' ' || refunded_cents || ' ' || paid_on || ' ' || status FROM payments ORDER BY id`)
	ids, err := sqldb.Values[int64](l.t.Context(), l.w.db, `SELECT id FROM payments ORDER BY id`)
	must(l.t, err)
	var want []string
	for n, deposit := range l.money {
		if n < len(ids) {
			deposit.id = ids[n] // PostgreSQL gives the number of a refused one to none
		}
		want = append(want, fmt.Sprintf("%d %d %d %v %s", deposit.id, deposit.amount, deposit.back, deposit.on, deposit.status()))
	}
	if !slices.Equal(got, want) {
		l.t.Errorf("payments %q\nwant     %q", got, want)
	}
	byDay, err := tally.By[string](l.t.Context(), l.w.db, receipts, l.w.actor.Company.ID, "day", tally.Filter{})
	must(l.t, err)
	days := map[civil.Date]money.Cents{}
	for on, sums := range byDay {
		if sums.Cents != 0 {
			days[day(on)] = money.Cents(sums.Cents)
		}
	}
	maps.DeleteFunc(l.received, func(_ civil.Date, amount money.Cents) bool { return amount == 0 })
	if !maps.Equal(days, l.received) {
		l.t.Errorf("received %v\nwant     %v", days, l.received)
	}
}

func (d *deposit) status() PaymentStatus {
	switch {
	case d.waits:
		return PaymentReview
	case d.credit:
		return PaymentCredit
	case !d.counts:
		return PaymentDismissed
	case d.back == d.amount:
		return PaymentRefunded
	case d.completed:
		return PaymentApplied
	}
	return PaymentPartial
}

// wantRenewals compares how many customers were renewed, month by month.
func (l *life) wantRenewals() {
	l.t.Helper()
	got, err := tally.By[string](l.t.Context(), l.w.db, tally.Renewals, l.w.actor.Company.ID, "day", tally.Filter{})
	must(l.t, err)
	maps.DeleteFunc(got, func(_ string, sums tally.Sums) bool { return sums.N == 0 })
	maps.DeleteFunc(l.renewed, func(_ string, people map[int64]int) bool { return len(people) == 0 })
	if len(l.renewed) < 4 || len(got) != len(l.renewed) {
		l.t.Errorf("renewals in %v, want in %d months", got, len(l.renewed))
	}
	for month, people := range l.renewed {
		if got[month].N != int64(len(people)) {
			l.t.Errorf("%d renewed in %s, want %d", got[month].N, month, len(people))
		}
	}
}
