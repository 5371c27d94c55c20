package billing

import (
	"fmt"
	"slices"
	"time"

	"carteira/internal/platform/civil"
	"carteira/internal/platform/money"
	"carteira/internal/platform/sqldb"
)

// oneBill is an invoice, half of the time the one that something was done to last: what
// a deed leaves behind is what the next one meets.
func (l *life) oneBill() *bill {
	at := slices.IndexFunc(l.bills, func(b *bill) bool { return b.id == l.recent })
	if at < 0 || l.random.IntN(2) == 0 {
		at = l.random.IntN(len(l.bills))
	}
	l.recent = l.bills[at].id
	return l.bills[at]
}

// oneDeposit is money that came and fits, half of the time for the invoice that
// something was done to last; nil: none fits.
func (l *life) oneDeposit(fits func(*deposit) bool) *deposit {
	var all, recent []*deposit
	for _, deposit := range l.money {
		if !fits(deposit) {
			continue
		}
		all = append(all, deposit)
		if deposit.bill.id == l.recent {
			recent = append(recent, deposit)
		}
	}
	if len(all) == 0 {
		return nil
	}
	if len(recent) > 0 && l.random.IntN(2) == 0 {
		all = recent
	}
	chosen := pick(l.random, all)
	l.recent = chosen.bill.id
	return chosen
}

// changeStatus changes the status of an invoice, or tries to.
func (l *life) changeStatus() {
	if len(l.bills) == 0 {
		return
	}
	bill := l.oneBill()
	to := pick(l.random, []Status{Paid, Paid, Paid, Paid, Open, Open, Cancelled})
	if to == Paid && bill.status == Open {
		l.payByHand(bill)
		return
	}
	asked := []string{"status", to.String()}
	if to == Cancelled && l.random.IntN(2) == 0 {
		asked = append(asked, "money", pick(l.random, []string{MoneyRefund, MoneyCredit}))
	}
	_, err := l.w.SetStatus(l.t.Context(), l.w.actor, bill.id, ReadStatusChange(values(asked...)))
	switch {
	case bill.status == to:
		l.wantRefused("", err)
	case bill.status == Open && to == Cancelled && bill.received > 0 && len(asked) == 2:
		wantField(l.t, err, "money")
	case bill.status == Open && to == Cancelled && bill.received > 0:
		l.wantRefused("", err)
		bill.status, bill.withdrawn, bill.lost, bill.lostOn = to, "", 0, civil.Date{}
		l.giveBack(bill, asked[3])
	case bill.status == Paid && to == Open:
		l.wantIf(l.undo(bill), err)
	case bill.status == Cancelled && to == Open && !bill.superseded, bill.status == Open && to == Cancelled:
		l.wantRefused("", err)
		bill.status, bill.withdrawn, bill.lost, bill.lostOn = to, "", 0, civil.Date{}
	default:
		wantField(l.t, err, "status")
	}
}

func (l *life) wantIf(done bool, err error) {
	l.t.Helper()
	l.wantRefused(map[bool]string{true: "", false: "status"}[done], err)
}

func (l *life) payByHand(bill *bill) {
	e := entry{on: l.today, byPerson: true, renew: l.random.IntN(8) > 0}
	if l.random.IntN(3) == 0 {
		e.on = l.today.AddDays(-l.random.IntN(40))
	}
	e.amount = l.rest(bill, e.on)
	switch l.random.IntN(5) {
	case 0, 1: // less
		e.amount = 1 + money.Cents(l.random.Int64N(int64(bill.amount)))
		e.difference = pick(l.random, []Difference{"", DifferencePartial, DifferencePartial, DifferencePartial, DifferenceDiscount, DifferenceWriteOff})
	case 2: // more
		e.amount = min(money.Max, e.amount+max(500, bill.received)) // what came before is too much
	}
	e.amount = max(1, e.amount)
	noMore := e.difference == DifferenceWriteOff && l.random.IntN(2) == 0
	if noMore || bill.received > 0 && l.random.IntN(5) == 0 { // no more will come
		e.amount, e.difference = 0, DifferenceWriteOff
	}
	_, err := l.w.SetStatus(l.t.Context(), l.w.actor, bill.id, ReadStatusChange(values(
		"status", Paid.String(), "paid_at", e.on.String(), "renew", fmt.Sprint(e.renew),
		"amount", e.amount.String(), "difference", string(e.difference), "note", "visto no caixa")))
	if e.amount == 0 && bill.received == 0 {
		l.wantRefused("", err)
		bill.status, bill.lost, bill.lostOn = Cancelled, bill.amount, e.on
		return
	}
	if !l.receive(bill, e) {
		wantField(l.t, err, "difference")
		return
	}
	l.wantRefused("", err)
}

// payByGateway pays an open invoice at an instant that has passed.
func (l *life) payByGateway() {
	if len(l.bills) == 0 {
		return
	}
	bill := l.oneBill()
	if bill.status != Open {
		return
	}
	paidAt := l.w.clock.Now().Add(-time.Duration(l.random.IntN(50)) * time.Hour)
	rest := max(1, l.rest(bill, l.w.actor.Today(paidAt)))
	receipt := Receipt{Renew: true, Payment: Payment{
		InvoiceID: bill.id, Provider: "woovi", Via: "woovi", PaymentID: fmt.Sprint("w", len(l.money)), Amount: rest, PaidAt: paidAt,
	}}
	must(l.t, l.receiveTx(receipt))
	if err := l.receiveTx(receipt); err == nil {
		l.t.Error("the same payment came twice")
	}
	on := l.w.actor.Today(paidAt)
	l.receive(bill, entry{amount: rest, on: l.openDay(on), asOf: on, renew: true})
}

// refundSome gives a payment back, or a part of it, as a gateway or a person reports it.
func (l *life) refundSome() {
	deposit := l.oneDeposit(func(d *deposit) bool {
		return (d.counts || d.credit || d.waits) && d.back < d.amount && !d.spent
	})
	if deposit == nil {
		return
	}
	amount, bill := deposit.amount-deposit.back, deposit.bill
	surplus := bill.received - bill.cost.of(bill) + bill.forgiven
	switch l.random.IntN(4) {
	case 0, 1:
		amount = 1 + money.Cents(l.random.Int64N(int64(amount)))
	case 2:
		if bill.status == Paid && surplus > 0 { // what is left covers the invoice
			amount = min(amount, surplus)
		}
	}
	effect := pick(l.random, []Effect{"", "", EffectReopen, EffectDiscount})
	if l.random.IntN(2) == 0 {
		l.refundByHand(deposit, amount, effect)
		return
	}
	at := l.w.clock.Now().Add(-time.Duration(l.random.IntN(50)) * time.Hour)
	refund := Refund{PaymentID: deposit.id, Amount: amount, RefundID: fmt.Sprint("r", l.random.Uint64()), At: at, Effect: effect}
	for range 2 { // it is known the second time
		l.w.refund(l.t, refund)
	}
	if !deposit.bill.paidOn.IsZero() && !deposit.bill.paidOn.After(l.settings.ClosedThrough) {
		effect = EffectDiscount // the day on which it was paid is closed
	}
	l.refund(deposit, amount, l.openDay(l.w.actor.Today(at)), effect)
}

func (l *life) refundByHand(deposit *deposit, amount money.Cents, effect Effect) {
	on := l.today.AddDays(-l.random.IntN(40))
	if l.random.IntN(8) == 0 {
		amount = deposit.amount - deposit.back + 1
	}
	_, err := l.w.RefundPayment(l.t.Context(), l.w.actor, deposit.id, ReadRefund(values(
		"amount", amount.String(), "refunded_on", on.String(), "effect", string(effect), "note", "devolvido")))
	switch there := slices.Contains(l.people, deposit.bill.of); {
	case on.Before(deposit.on):
		wantField(l.t, err, "refunded_on")
	case amount > deposit.amount-deposit.back:
		wantField(l.t, err, "amount")
	case deposit.credit && there && amount > deposit.bill.of.credit:
		wantField(l.t, err, "amount")
	default:
		l.wantRefused("", err)
		l.refund(deposit, amount, on, effect)
	}
}

// undoPayment takes one payment back, or tries to.
func (l *life) undoPayment() {
	whole := l.random.IntN(4) > 0 // and so can be undone
	deposit := l.oneDeposit(func(d *deposit) bool { return !whole || d.byPerson && d.counts && d.back == 0 })
	if deposit == nil {
		return
	}
	_, err := l.w.UndoPayment(l.t.Context(), l.w.actor, deposit.id)
	if !slices.Contains(l.people, deposit.bill.of) {
		if err == nil {
			l.t.Error("a payment of a deleted customer was undone")
		}
		return
	}
	l.wantRefused(l.undoOne(deposit), err)
}

// payAgain has money come for an invoice, which must be paid already.
func (l *life) payAgain() {
	if len(l.bills) == 0 {
		return
	}
	bill := l.oneBill()
	on := l.today.AddDays(-l.random.IntN(40))
	amount := 1 + money.Cents(l.random.Int64N(2*int64(bill.amount)))
	_, err := l.w.ReceiveAgain(l.t.Context(), l.w.actor, bill.id, ReadAgain(values("amount", amount.String(), "paid_at", on.String())))
	if bill.status != Paid {
		wantField(l.t, err, "status")
		return
	}
	l.wantRefused("", err)
	l.money = append(l.money, &deposit{id: int64(len(l.money) + 1), bill: bill, amount: amount, on: on, byPerson: true, credit: true})
	l.received[on] += amount
	l.addCredit(bill.of, amount)
}

// useCredit pays an invoice with credit, or tries to.
func (l *life) useCredit() {
	if len(l.bills) == 0 {
		return
	}
	bill := l.oneBill()
	_, err := l.w.UseCredit(l.t.Context(), l.w.actor, bill.id)
	switch {
	case bill.status == Paid || bill.status == Cancelled:
		wantField(l.t, err, "status")
	case bill.of.credit <= 0:
		wantField(l.t, err, "credit")
	default:
		must(l.t, err)
		l.spend(bill)
	}
}

func (l *life) receiveTx(receipt Receipt) error {
	return l.w.db.Write(l.t.Context(), func(tx *sqldb.Tx) error {
		_, err := l.w.ReceiveTx(l.t.Context(), l.w.actor.In(tx), receipt)
		return err
	})
}

// keepForDecision has money come that a person must decide about.
func (l *life) keepForDecision() {
	if len(l.bills) == 0 {
		return
	}
	bill := l.oneBill()
	came := &deposit{
		id: int64(len(l.money) + 1), bill: bill, amount: 1 + money.Cents(l.random.Int64N(2*int64(bill.amount))), waits: true,
		at: l.w.clock.Now().Add(-time.Duration(l.random.IntN(50)) * time.Hour),
	}
	came.on = l.w.actor.Today(came.at)
	if l.random.IntN(2) == 0 {
		came.amount = max(1, l.rest(bill, came.on))
	}
	var refundedAt time.Time
	if l.random.IntN(3) == 0 { // a part of it has gone back
		came.back = 1 + money.Cents(l.random.Int64N(int64(came.amount)))
		refundedAt = came.at.Add(time.Duration(l.random.Int64N(1 + int64(l.w.clock.Now().Sub(came.at)))))
		came.early = []early{{l.openDay(l.w.actor.Today(refundedAt)), came.back}}
	}
	must(l.t, l.w.db.Write(l.t.Context(), func(tx *sqldb.Tx) error {
		_, err := l.w.KeepTx(l.t.Context(), l.w.actor.In(tx), Payment{
			Provider: "woovi", PaymentID: fmt.Sprint("w", len(l.money)), Via: "woovi", InvoiceID: bill.id, CustomerID: bill.of.id,
			Amount: came.amount, Refunded: came.back, Currency: Real, PaidAt: came.at,
		}, refundedAt)
		return err
	}))
	l.money = append(l.money, came)
}

// decide decides about money that waits: it pays an invoice of its customer, is the
// customer's credit, or does not count.
func (l *life) decide() {
	at := slices.IndexFunc(l.money, func(d *deposit) bool { return d.waits && slices.Contains(l.people, d.bill.of) })
	if at < 0 {
		return
	}
	came := l.money[at]
	left, asOf := came.amount-came.back, l.w.actor.Today(came.at)
	switch l.random.IntN(4) {
	case 0:
		must(l.t, l.w.db.Write(l.t.Context(), func(tx *sqldb.Tx) error { return l.w.DismissTx(l.t.Context(), l.w.actor.In(tx), came.id) }))
		came.waits = false
	case 1:
		err := l.w.keepCredit(l.t, came.id)
		if left == 0 {
			wantField(l.t, err, "credit")
			return
		}
		must(l.t, err)
		came.credit = true
		l.begin(came, l.openDay(asOf))
		l.addCredit(came.bill.of, left)
	default:
		l.apply(came)
	}
}

// apply has money that waited pay an open invoice of its customer, or tries to.
func (l *life) apply(came *deposit) {
	at := slices.IndexFunc(l.bills, func(b *bill) bool { return b.of == came.bill.of && b.status == Open })
	if at < 0 {
		return
	}
	bill, asOf := l.bills[at], l.w.actor.Today(came.at)
	e := entry{amount: came.amount - came.back, on: l.openDay(asOf), asOf: asOf, renew: true, waited: came}
	e.difference = pick(l.random, []Difference{"", DifferencePartial, DifferenceDiscount})
	err := l.receiveTx(Receipt{Payment: Payment{ID: came.id, InvoiceID: bill.id}, Difference: e.difference, Renew: true})
	switch {
	case e.amount == 0:
		wantField(l.t, err, "amount")
	case l.receive(bill, e):
		l.wantRefused("", err)
	default:
		wantField(l.t, err, "difference")
	}
}
