package payment

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/customer"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/money"
	"carteira/internal/platform/sqldb"
)

// stay is a time zone of the company, from an instant on.
type stay struct {
	from time.Time
	zone *time.Location
}

// days are those that an instant may count on: by the zones that the company has had
// since.
func (l *life) days(at time.Time) (list []civil.Date) {
	for n, one := range l.stays {
		if n+1 == len(l.stays) || l.stays[n+1].from.After(at) {
			list = append(list, civil.Of(at.In(one.zone)))
		}
	}
	return list
}

// moveZone takes the company to another time zone.
func (l *life) moveZone() {
	zone := []string{"America/Sao_Paulo", "America/Rio_Branco", "America/Noronha", "Europe/Lisbon"}[l.random.IntN(4)]
	world := l.world()
	company, err := world.accounts.SetCompany(l.t.Context(), account.Operator(world.actor.Company), account.ReadCompanyDraft(values("timezone", zone)))
	must(l.t, err)
	for _, process := range l.processes {
		process.actor.Company = company
	}
	l.stays = append(l.stays, stay{world.clock.Now(), company.Zone})
}

// soon is a day on which something may be due.
func (l *life) soon() string {
	world := l.world()
	return world.actor.Today(world.clock.Now()).AddDays(l.random.IntN(22) - 1).String()
}

// moveDue has a person at the desk move the customer's due date.
func (l *life) moveDue() {
	world := l.world()
	_, err := world.customers.Update(l.t.Context(), world.actor, l.customer, customer.ReadChanges(values("data_de_vencimento", l.soon())))
	must(l.t, err)
}

// moveInvoice moves the day by which an invoice is to be paid.
func (l *life) moveInvoice() {
	world := l.world()
	if invoice, found := l.one(billing.Open); found {
		_, err := world.invoices.Edit(l.t.Context(), world.actor, invoice.ID, billing.ReadEdit(values("due_date", l.soon())))
		must(l.t, err)
	}
}

// atBank are the lists of payments of the bank's charges and debits, in an order that
// does not change.
func (b *bank) atBank() (lists []*[]Received) {
	for _, reference := range slices.Sorted(maps.Keys(b.charges)) {
		lists = append(lists, &b.charges[reference].payments)
	}
	for _, reference := range slices.Sorted(maps.Keys(b.accounts.debits)) {
		lists = append(lists, &b.accounts.debits[reference].payments)
	}
	return slices.DeleteFunc(lists, func(list *[]Received) bool { return len(*list) == 0 })
}

// withPayments has change treat the payments of a charge or a debit at the bank, if any came.
func (l *life) withPayments(change func(list *[]Received, now time.Time)) {
	bank := l.processes[0].bank
	bank.mu.Lock()
	defer bank.mu.Unlock()
	if lists := bank.atBank(); len(lists) > 0 {
		change(lists[l.random.IntN(len(lists))], bank.clock.Now())
	}
}

// payCode has the payer pay a code. The bank may name the payment twice, or have given a
// part of it back, before it is asked.
func (l *life) payCode() {
	l.code()
	bank, twice, back := l.processes[0].bank, l.random.IntN(4) == 0, l.random.IntN(5) == 0
	ago := time.Duration(l.random.IntN(20)) * time.Hour
	bank.change(func(order *held) {
		if order.state != StatePending || !order.ExpiresAt.After(bank.clock.Now()) || order.payer.Name != "Bia Reis" {
			return
		}
		order.state = StatePaid
		came := Received{ID: "E2E-" + order.reference, Amount: order.amount, Currency: "BRL", At: bank.clock.Now()}
		if back {
			came.Refunded, came.RefundedAt, came.At = came.Amount/3, came.At, came.At.Add(-ago)
			l.backs[came.ID] = []time.Time{came.RefundedAt}
		}
		order.payments = append(order.payments, came)
		if twice {
			order.payments = append(order.payments, came)
		}
	})
	bank.mu.Lock()
	defer bank.mu.Unlock()
	bank.authorisePaid()
}

// payAgain has a payer pay once more what is paid, or the bank name one payment twice.
func (l *life) payAgain() {
	l.withPayments(func(list *[]Received, now time.Time) {
		again := (*list)[0]
		if l.random.IntN(2) == 0 {
			again = Received{ID: fmt.Sprintf("%s-again-%d", again.ID, len(*list)), Amount: again.Amount, Currency: "BRL", At: now}
		}
		*list = append(*list, again)
	})
}

// refund has the bank give a payment back, or a part of it. Each of its days may be the
// one on which the gateway says it did.
func (l *life) refund() {
	l.withPayments(func(list *[]Received, now time.Time) {
		back := (*list)[0]
		left := back.Amount - back.Refunded
		if left <= 0 {
			return
		}
		if l.random.IntN(2) == 0 {
			left = 1 + money.Cents(l.random.Int64N(int64(left)))
		}
		back.Refunded, back.RefundedAt = back.Refunded+left, now
		l.backs[back.ID] = append(l.backs[back.ID], now)
		for n := range *list {
			if (*list)[n].ID == back.ID {
				(*list)[n] = back
			}
		}
	})
}

// refundByHand has a person record that a part of a payment went back.
func (l *life) refundByHand() {
	l.askAll()
	world := l.world()
	list, _, err := world.invoices.Payments(l.t.Context(), world.actor, billing.PaymentFilter{Via: "fake"}, input.Page{Number: 1, Size: 50})
	must(l.t, err)
	if len(list) == 0 {
		return
	}
	record := list[l.random.IntN(len(list))]
	if record.Left() <= 0 || record.Status == billing.PaymentDismissed {
		return
	}
	amount := 1 + money.Cents(l.random.Int64N(int64(record.Left())))
	_, err = world.invoices.RefundPayment(l.t.Context(), world.actor, record.ID, billing.ReadRefund(values("amount", amount.String(), "note", "em dinheiro")))
	if fault.KindOf(err) == fault.KindInvalid { // it is credit that was spent
		return
	}
	must(l.t, err)
	l.given[record.PaymentID] = record.Refunded + amount
}

// decide decides about the money that waits longest.
func (l *life) decide() {
	world := l.world()
	list, _, err := world.Reviews(l.t.Context(), world.actor, ReviewFilter{Open: true}, input.Page{Number: 1, Size: 50})
	must(l.t, err)
	if len(list) == 0 {
		return
	}
	decision := Decision{
		ReviewID: list[len(list)-1].ID, Resolution: []Resolution{Applied, Applied, Credited, Dismissed}[l.random.IntN(4)],
		Difference: billing.DifferencePartial, Note: "visto",
	}
	if invoice, found := l.one(billing.Open); found && decision.Resolution == Applied {
		decision.InvoiceID = invoice.ID
	}
	if _, err := world.Decide(l.t.Context(), world.actor, decision); fault.KindOf(err) != fault.KindInvalid {
		must(l.t, err)
	}
}

// moveDebit has the bank put an announced debit off to its next day.
func (l *life) moveDebit() {
	l.processes[0].bank.set(func(accounts *debits) {
		for _, debit := range accounts.debits {
			if debit.waiting && debit.attempts == 0 && !debit.started(l.processes[0].clock.Now()) {
				debit.on = debit.on.AddWorkingDays(1)
			}
		}
	})
}

// askAll asks the bank after every charge that it may know.
func (l *life) askAll() {
	l.t.Helper()
	l.settle()
	world := l.processes[0]
	world.exec(l.t, `UPDATE charges SET next_check_at = 1 WHERE claim = '' AND state <> 'refused'`)
	world.work(l.t)
}

// row is a payment as the ledger has it.
type row struct {
	number           int64
	amount, refunded money.Cents
	on               civil.Date
	status           billing.PaymentStatus
}

// wantLedger wants every payment of the bank in the ledger once, with its amount, its
// day, and what went back of it on the days on which it did.
func (l *life) wantLedger() {
	l.t.Helper()
	world := l.processes[0]
	ledger := map[string]row{}
	must(l.t, sqldb.Each(l.t.Context(), world.db, `SELECT payment_id, id, amount_cents, refunded_cents, paid_on, status FROM payments WHERE provider = 'fake'`,
		nil, func(found sqldb.Row) error {
			var id string
			var r row
			err := found.Scan(&id, &r.number, (*int64)(&r.amount), (*int64)(&r.refunded), &r.on, (*string)(&r.status))
			if _, twice := ledger[id]; twice {
				l.t.Errorf("%s is in the ledger twice", id)
			}
			ledger[id] = r
			return err
		}))
	known := map[string]bool{}
	for _, list := range world.bank.atBank() {
		for _, came := range *list {
			known[came.ID] = true
			got, want := ledger[came.ID], max(came.Refunded, l.given[came.ID])
			if got.amount != came.Amount || got.refunded != want || !slices.Contains(l.days(came.At), got.on) {
				l.t.Errorf("%s: the ledger has %+v, want %s on one of %v, of which %s went back", came.ID, got, came.Amount, l.days(came.At), want)
			}
			l.wantRefunds(came, got)
		}
	}
	if len(ledger) != len(known) {
		l.t.Errorf("%d payments are in the ledger, %d came", len(ledger), len(known))
	}
}

// wantRefunds wants what the gateway reported as given back on its days.
func (l *life) wantRefunds(came Received, got row) {
	l.t.Helper()
	var days []civil.Date
	for _, at := range l.backs[came.ID] {
		days = append(days, l.days(at)...)
	}
	refunds, err := sqldb.Values[civil.Date](l.t.Context(), l.processes[0].db,
		`SELECT refunded_on FROM payment_refunds WHERE payment_id = ? AND reported_by = ''`, got.number)
	must(l.t, err)
	for _, on := range refunds {
		if !slices.Contains(days, on) {
			l.t.Errorf("%s went back on %v, want one of %v", came.ID, on, days)
		}
	}
}

// wantDebits wants the bank to have been asked for debits as the rules are: of what the
// invoice costs, on working days, no more than three times again and within a week, and
// never once more after it has become known that the payer or the bank ended one. One that
// ended unheard does not keep an invoice that the company moves from its new day.
func (l *life) wantDebits() {
	l.t.Helper()
	world := l.processes[0]
	invoices, ended := map[string]int64{}, map[int64]bool{}
	must(l.t, sqldb.Each(l.t.Context(), world.db, `SELECT reference, invoice_id, debit_failure <> '' OR state = 'refused'
		FROM charges WHERE debit_on <> ''`, nil, func(found sqldb.Row) error {
		var reference string
		var id int64
		var known bool
		err := found.Scan(&reference, &id, &known)
		invoices[reference], ended[id] = id, ended[id] || known
		return err
	}))
	for id, known := range ended {
		if _, before := l.over[id]; known && !before {
			l.over[id] = len(world.bank.accounts.debits)
		}
	}
	for _, debit := range slices.SortedFunc(maps.Values(world.bank.accounts.debits), func(a, b *debited) int { return a.number - b.number }) {
		id := invoices[debit.Reference]
		if newest, known := l.over[id]; known && debit.number > newest {
			l.t.Errorf("invoice %d is debited once more, by %s", id, debit.Reference)
		}
		last := debit.first.AddDays(retryDays)
		if debit.attempts > maxRetries+1 || !debit.on.WorkingDay() || debit.on.After(last) && debit.attempts > 0 {
			l.t.Errorf("debit %s of %v: %d attempts, the last on %v", debit.Reference, debit.first, debit.attempts, debit.on)
		}
		if invoice := world.find(l.t, id); debit.waiting && invoice.Status == billing.Open && debit.amount != invoice.Amount-invoice.Received {
			l.t.Errorf("debit %s is of %s, the invoice is %s less %s", debit.Reference, debit.amount, invoice.Amount, invoice.Received)
		}
	}
}

// wantFollowed wants a debit that waits at the bank to be known by its day there.
func (l *life) wantFollowed() {
	l.t.Helper()
	world := l.processes[0]
	for reference, debit := range world.bank.accounts.debits {
		if debit.waiting {
			on := world.count(l.t, `SELECT COUNT(*) FROM charges WHERE reference = ? AND debit_on = ?`, reference, debit.on.String())
			if on != 1 {
				l.t.Errorf("the debit %s is on %v at the bank, and not here", reference, debit.on)
			}
		}
	}
}

// wantSums wants invoices, payments and counters to agree.
func (l *life) wantSums() {
	l.t.Helper()
	world := l.processes[0]
	world.wantCounts(l.t)
	for _, odd := range []string{
		`SELECT COUNT(*) FROM invoices i WHERE i.received_cents <> (SELECT COALESCE(SUM(p.amount_cents - p.refunded_cents), 0) FROM payments p
			WHERE p.invoice_id = i.id AND p.status IN ('applied', 'partial', 'refunded'))`,
		`SELECT COUNT(*) FROM invoices WHERE status = 'paid' AND received_cents < amount_cents - discount_cents - forgiven_cents`,
		`SELECT COUNT(*) FROM invoices WHERE status = 'open' AND received_cents >= amount_cents`,
	} {
		if n := world.count(l.t, odd); n != 0 {
			l.t.Errorf("%d invoices: %s", n, odd)
		}
	}
}
