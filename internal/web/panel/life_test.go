package panel

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"testing"

	"carteira/internal/billing"
	"carteira/internal/catalog"
	"carteira/internal/platform/checkup"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/input"
	"carteira/internal/platform/money"
	"carteira/internal/platform/sqldb"
	"carteira/internal/web/panel/kit"
	"carteira/test/kit/sqldbtest"
)

// books are a company's, put as plainly as can be: what customers are due and owe,
// and what came on which day. Each form of the panel changes them as people expect.
type books struct {
	debtors  map[int64]debtor
	bills    map[int64]*debt
	received map[string]money.Cents
}

type debtor struct {
	due       civil.Date
	cancelled bool
}

// debt is an invoice of 35.00 for a due date.
type debt struct {
	of       int64
	slot     civil.Date // that its payment renews
	status   billing.Status
	received money.Cents
	renewed  civil.Date // the due date that its payment has left
	forgiven bool       // it was cancelled with its customer
}

const price = money.Cents(3500)

func (b books) copied() books {
	copied := books{debtors: maps.Clone(b.debtors), bills: map[int64]*debt{}, received: maps.Clone(b.received)}
	for id, bill := range b.bills {
		clone := *bill
		copied.bills[id] = &clone
	}
	return copied
}

func nextMonth(day civil.Date) civil.Date {
	next, err := civil.Period{Unit: civil.Month, Count: 1}.After(day, day.Day())
	if err != nil {
		panic(err)
	}
	return next
}

// pay books money for an open invoice; it pays it if nothing is left, or if the rest
// is given up.
func (b books) pay(bill *debt, amount money.Cents, on string, enough bool) {
	bill.received += amount
	b.received[on] += amount
	if bill.received < price && !enough {
		return
	}
	bill.status = billing.Paid
	if of := b.debtors[bill.of]; !of.cancelled && !of.due.After(bill.slot) && bill.renewed.IsZero() {
		if older := b.billFor(bill.of, of.due); older != nil && older.status == billing.Open { // the first date is renewed first
			older.slot, bill.slot = bill.slot, older.slot
		}
		bill.renewed, of.due = of.due, nextMonth(of.due)
		b.debtors[bill.of] = of
	}
}

// reopen opens a paid invoice: its renewal is taken back if the due date is where it
// put it. The invoice that the renewal brought goes with it.
func (b books) reopen(bill *debt) {
	bill.status = billing.Open
	of := b.debtors[bill.of]
	if bill.renewed.IsZero() || of.due != nextMonth(bill.renewed) {
		return
	}
	if brought := b.billFor(bill.of, of.due); brought != nil && brought.follows() {
		brought.status, brought.forgiven = billing.Cancelled, false
	}
	of.due, bill.renewed = bill.renewed, civil.Date{}
	b.debtors[bill.of] = of
}

// follows reports whether an invoice follows its customer.
func (d *debt) follows() bool { return (d.status == billing.Open || d.forgiven) && d.received == 0 }

func (b books) billFor(of int64, slot civil.Date) *debt {
	for _, bill := range b.bills {
		if bill.of == of && bill.slot == slot {
			return bill
		}
	}
	return nil
}

// renew moves a due date on by a month. As paid, the invoice of that month is paid,
// and made if there is none.
func (b books) renew(id int64, invoice, today string) {
	of := b.debtors[id]
	bill := b.billFor(id, of.due)
	if invoice == "paid" {
		if bill == nil {
			bill = &debt{of: id, slot: of.due, status: billing.Open}
			b.bills[-int64(len(b.bills))-1] = bill // its number comes with the comparison
		}
		if bill.status == billing.Cancelled && bill.renewed.IsZero() {
			bill.status, bill.forgiven = billing.Open, false
		}
		if bill.status == billing.Open && bill.renewed.IsZero() {
			b.pay(bill, price-bill.received, today, true)
			return
		}
	}
	was := of.due
	of.due = nextMonth(of.due)
	b.debtors[id] = of
	for _, bill := range b.bills {
		if invoice == "cancelled" && bill.of == id && bill.status == billing.Open && !bill.slot.Before(was) && bill.slot.Before(of.due) {
			bill.status = billing.Cancelled
		}
	}
}

// moneyOn reports whether a part came for an open invoice of the dates: it is not
// cancelled on the way.
func (b books) moneyOn(id int64, from, to civil.Date) bool {
	for _, bill := range b.bills {
		if bill.of == id && bill.status == billing.Open && bill.received > 0 && !bill.slot.Before(from) && !bill.slot.After(to) {
			return true
		}
	}
	return false
}

func (b books) cancel(id int64, forgive bool) {
	of := b.debtors[id]
	of.cancelled = true
	b.debtors[id] = of
	for _, bill := range b.bills {
		if bill.of == id && bill.status == billing.Open && forgive {
			bill.status, bill.forgiven = billing.Cancelled, true
		}
	}
}

// deskLife is days at a desk: what a person does with the forms of the panel.
type deskLife struct {
	books
	t      *testing.T
	person *person
	random *rand.Rand
	today  string
	log    []string
}

func (l *deskLife) some(status billing.Status) (id int64, bill *debt) {
	for _, id := range slices.Sorted(maps.Keys(l.bills)) {
		if l.bills[id].status == status && (bill == nil || l.random.IntN(3) == 0) {
			return id, l.bills[id]
		}
	}
	return 0, nil
}

func (l *deskLife) somebody() int64 {
	ids := slices.Sorted(maps.Keys(l.debtors))
	return ids[l.random.IntN(len(ids))]
}

// act does one thing with a form. It reports whether the answer offers to undo it.
func (l *deskLife) act() (answer, bool) {
	switch l.random.IntN(7) {
	case 0, 1:
		return l.registerPayment()
	case 2:
		return l.renewSomebody()
	case 3:
		return l.leave()
	case 4:
		return l.payMany()
	case 5:
		return l.undoOnePayment()
	default:
		return l.moveDate()
	}
}

// registerPayment is the form of a payment: all, a part, or less with the rest given up.
func (l *deskLife) registerPayment() (answer, bool) {
	id, bill := l.some(billing.Open)
	if bill == nil {
		return answer{}, false
	}
	rest, on := price-bill.received, []string{l.today, "2026-01-12", "2026-01-20"}[l.random.IntN(3)]
	amount, difference := rest, ""
	if l.random.IntN(2) == 0 && rest > 1000 {
		amount, difference = 1000, []string{"partial", "discount", "write_off"}[l.random.IntN(3)]
	}
	l.log = append(l.log, fmt.Sprint("pay ", amount, difference, " of ", id))
	done := l.person.follow(fmt.Sprintf("/invoices/%d/pay", id), "amount", kit.Decimal(amount), "paid_via", "cash", "paid_at", on,
		"difference", difference, "note", "visto no caixa")
	l.pay(bill, amount, on, difference == "discount" || difference == "write_off")
	return done, true
}

func (l *deskLife) renewSomebody() (answer, bool) {
	id, invoice, months := l.somebody(), []string{"keep", "paid", "cancelled"}[l.random.IntN(3)], 1+l.random.IntN(3)
	if l.debtors[id].cancelled {
		return answer{}, false
	}
	l.log = append(l.log, fmt.Sprint("renew ", id, " by ", months, " ", invoice))
	done := l.person.follow(fmt.Sprintf("/customers/%d/renew", id), "periods", fmt.Sprint(months), "invoice", invoice)
	last := l.debtors[id].due
	for range months - 1 {
		last = nextMonth(last)
	}
	if invoice == "cancelled" && l.moneyOn(id, l.debtors[id].due, last) {
		done.want(l.t, http.StatusOK, "antes, cancele essa fatura")
		return done, false
	}
	for range months {
		l.renew(id, invoice, l.today)
	}
	return done, true
}

// leave cancels a customer, with its own form or with that for many; one that left
// comes back.
func (l *deskLife) leave() (answer, bool) {
	id, forgive := l.somebody(), l.random.IntN(2) == 0
	of := l.debtors[id]
	path := fmt.Sprintf("/customers/%d/cancel", id)
	if of.cancelled {
		l.log = append(l.log, fmt.Sprint("take back ", id))
		done := l.person.follow(fmt.Sprintf("/customers/%d/restore", id), "cancelled", "false")
		of.cancelled = false
		l.debtors[id] = of
		for _, bill := range l.bills {
			if bill.of == id && bill.forgiven {
				bill.status, bill.forgiven = billing.Open, false
			}
		}
		return done, false
	}
	l.log = append(l.log, fmt.Sprint("cancel ", id, " forgive ", forgive))
	var done answer
	if l.random.IntN(2) == 0 {
		done = l.person.follow(path, "cancelled", "true", "keep_invoices", kit.BoolText(!forgive))
	} else {
		done = l.person.follow("/customers/bulk", "action", "cancel", "id", fmt.Sprint(id), "sure", "yes", "agreed", "1", "forgive", kit.BoolText(forgive))
	}
	if forgive && l.moneyOn(id, civil.Date{}, civil.MustParse("9999-12-31")) {
		done.want(l.t, http.StatusOK, "antes, cancele essa fatura")
		return done, false
	}
	l.cancel(id, forgive)
	return done, true
}

// payMany is the form that pays every open invoice that is overdue.
func (l *deskLife) payMany() (answer, bool) {
	due := map[int64]*debt{}
	for id, bill := range l.bills {
		if bill.status == billing.Open && bill.slot.String() < l.today {
			due[id] = bill
		}
	}
	if len(due) == 0 {
		return answer{}, false
	}
	l.log = append(l.log, fmt.Sprint("pay many: ", len(due)))
	done := l.person.follow("/invoices/bulk", "action", "pay", "all", "1", "of", "overdue=true", "sure", "yes",
		"agreed", fmt.Sprint(len(due)), "paid_via", "pix", "paid_at", l.today)
	for _, id := range slices.SortedFunc(maps.Keys(due), func(a, b int64) int { return due[a].slot.Compare(due[b].slot) }) {
		l.pay(due[id], price-due[id].received, l.today, true)
	}
	return done, true
}

// undoOnePayment is the button of one payment on the page of an invoice.
func (l *deskLife) undoOnePayment() (answer, bool) {
	list, _, err := l.person.Billing.Payments(l.t.Context(), l.person.actor, billing.PaymentFilter{Came: true}, input.Page{Number: 1, Size: 50})
	if err != nil {
		l.t.Fatal(err)
	}
	if len(list) == 0 {
		return answer{}, false
	}
	record := list[l.random.IntN(len(list))]
	bill := l.bills[record.InvoiceID]
	l.log = append(l.log, fmt.Sprint("undo payment ", record.ID, " of ", record.InvoiceID))
	done := l.person.follow(fmt.Sprintf("/received/%d/undo", record.ID))
	bill.received -= record.Amount
	l.received[record.PaidOn.String()] -= record.Amount
	if bill.status == billing.Paid {
		l.reopen(bill)
	}
	return done, false
}

// moveDate is the form of a customer, with another due date.
func (l *deskLife) moveDate() (answer, bool) {
	id := l.somebody()
	of := l.debtors[id]
	to := civil.MustParse(fmt.Sprintf("2026-0%d-%02d", 3+l.random.IntN(4), 11+l.random.IntN(15)))
	bill := l.billFor(id, of.due)
	if l.billFor(id, to) != nil || of.due == to {
		return answer{}, false
	}
	l.log = append(l.log, fmt.Sprint("move ", id, " to ", to))
	done := l.person.follow(fmt.Sprintf("/customers/%d/edit", id), "name", fmt.Sprint("Devedor ", id), "data_de_vencimento", to.String(), "overdue_invoice", "move")
	if bill != nil && bill.follows() {
		bill.slot = to
	}
	of.due = to
	l.debtors[id] = of
	return done, true
}

// compare holds what the rooms have against the books.
func (l *deskLife) compare() {
	l.t.Helper()
	list, _, err := l.person.Billing.List(l.t.Context(), l.person.actor, billing.Filter{}, input.Page{Number: 1, Size: input.MaxPageSize})
	if err != nil {
		l.t.Fatal(err)
	}
	for _, invoice := range list {
		if l.bills[invoice.ID] == nil { // one that a renewal made
			for id, bill := range l.bills {
				if id < 0 && bill.of == invoice.Customer.ID && bill.slot == invoice.IssuedFor {
					l.bills[invoice.ID] = bill
					delete(l.bills, id)
				}
			}
		}
		want := l.bills[invoice.ID]
		if want == nil {
			l.t.Errorf("invoice %d is not expected: %+v", invoice.ID, invoice)
			continue
		}
		if invoice.Status != want.status || invoice.Received != want.received || invoice.IssuedFor != want.slot {
			l.t.Errorf("invoice %d for %v is %s with %s, want for %v %s with %s",
				invoice.ID, invoice.IssuedFor, invoice.Status, invoice.Received, want.slot, want.status, want.received)
		}
	}
	if len(list) != len(l.bills) {
		l.t.Errorf("%d invoices, want %d", len(list), len(l.bills))
	}
	for id, want := range l.debtors {
		record, err := l.person.Customers.Find(l.t.Context(), l.person.actor, id)
		if err != nil || record.DueOn != want.due || record.IsCancelled() != want.cancelled {
			l.t.Errorf("customer %d: %v, cancelled %v, %v; want %v, %v", id, record.DueOn, record.IsCancelled(), err, want.due, want.cancelled)
		}
	}
	for on, want := range l.received {
		if got := l.person.received(on); got != want {
			l.t.Errorf("%s came on %s, want %s", got, on, want)
		}
	}
	if finding, err := l.person.Billing.CheckLedger(l.t.Context()); err != nil || finding.Verdict != checkup.OK {
		l.t.Errorf("%+v, %v", finding, err)
	}
}

// undo presses the button. All is as it was; an invoice that the work made stays as
// cancelled.
func (l *deskLife) undo(done answer, before books) {
	l.t.Helper()
	l.log = append(l.log, "undo")
	l.person.undone(done).want(l.t, http.StatusOK, "Desfeito.")
	for id, bill := range l.bills {
		if before.bills[id] == nil {
			before.bills[id] = &debt{of: bill.of, slot: bill.slot, status: billing.Cancelled}
		}
	}
	l.books = before
}

func TestLifeAtTheDeskIsWhatTheModelSays(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		office := newOffice(t, engine)
		for _, seed := range sqldbtest.Lives(engine, 3) {
			person := office.owner(t, fmt.Sprintf("ana%d@example.com", seed))
			life := &deskLife{
				books: books{debtors: map[int64]debtor{}, bills: map[int64]*debt{}, received: map[string]money.Cents{}},
				t:     t, person: person, random: rand.New(rand.NewPCG(seed, 11)), today: "2026-01-31",
			}
			life.begin()
			for range 25 {
				before := life.copied()
				done, undoable := life.act()
				life.compare()
				if undoable && life.random.IntN(2) == 0 {
					life.undo(done, before)
					life.compare()
				}
				if t.Failed() {
					t.Fatalf("seed %d: the panel and the model have parted after %q", seed, life.log)
				}
			}
		}
	})
}

// begin makes some customers who owe.
func (l *deskLife) begin() {
	l.t.Helper()
	plan, err := l.person.Catalog.CreatePlan(l.t.Context(), l.person.actor, catalog.ReadNewPlan(values("name", "Mensal", "value", "35.00")))
	if err != nil {
		l.t.Fatal(err)
	}
	for _, on := range []string{l.today, "2026-01-12", "2026-01-20"} {
		l.received[on] = 0
	}
	l.person.debtors(plan.ID, 4)
	list, _, err := l.person.Billing.List(l.t.Context(), l.person.actor, billing.Filter{Overdue: "true"}, input.Page{Number: 1, Size: 50})
	if err != nil {
		l.t.Fatal(err)
	}
	for _, invoice := range list {
		l.debtors[invoice.Customer.ID] = debtor{due: invoice.DueOn}
		l.bills[invoice.ID] = &debt{of: invoice.Customer.ID, slot: invoice.IssuedFor, status: billing.Open}
	}
}
