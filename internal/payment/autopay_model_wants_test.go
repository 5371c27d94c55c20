package payment

import (
	"carteira/internal/platform/sqldb"
)

// wantOneWayToPay wants no invoice to have both a payable code and a coming
// debit, at the bank and at every moment.
func (l *life) wantOneWayToPay() {
	l.t.Helper()
	world := l.processes[0]
	invoiceOf := map[string]int64{}
	must(l.t, sqldb.Each(l.t.Context(), world.db, `SELECT reference, invoice_id FROM charges`, nil, func(row sqldb.Row) error {
		var reference string
		var id int64
		err := row.Scan(&reference, &id)
		invoiceOf[reference] = id
		return err
	}))
	ways := map[int64][]string{}
	world.bank.change(func(order *held) {
		if order.state == StatePending && order.ExpiresAt.After(world.clock.Now()) {
			ways[invoiceOf[order.reference]] = append(ways[invoiceOf[order.reference]], "code")
		}
	})
	world.bank.mu.Lock()
	defer world.bank.mu.Unlock()
	for _, debit := range world.bank.accounts.debits {
		if debit.waiting {
			ways[invoiceOf[debit.Reference]] = append(ways[invoiceOf[debit.Reference]], "debit")
		}
	}
	for id, list := range ways {
		if len(list) > 1 {
			l.t.Errorf("invoice %d can be paid by %v", id, list)
		}
	}
}

// wantBooks wants money that waits to be shown to a person, and no invoice to be paid
// twice.
func (l *life) wantBooks() {
	l.t.Helper()
	world := l.processes[0]
	unsettled := world.count(l.t, `SELECT COUNT(*) FROM payments p WHERE p.provider = 'fake' AND p.status = 'review'
		AND NOT EXISTS (SELECT 1 FROM payment_reviews r WHERE r.company_id = p.company_id AND r.payment_id = p.id)`)
	if unsettled != 0 {
		l.t.Errorf("%d payments wait for nobody", unsettled)
	}
	double := world.count(l.t, `SELECT COUNT(*) FROM (SELECT invoice_id FROM payments WHERE provider = 'fake' AND status = 'applied' AND refunded_cents = 0
		GROUP BY invoice_id HAVING COUNT(*) > 1) AS twice`)
	if double != 0 {
		l.t.Errorf("%d invoices were paid twice", double)
	}
}

// wantFailuresOfOthers wants nothing that we had cancelled to be called a failure of
// the payer or the bank: such an invoice would not be debited any more.
func (l *life) wantFailuresOfOthers() {
	l.t.Helper()
	world := l.processes[0]
	var ours []any
	world.bank.set(func(accounts *debits) {
		for reference, debit := range accounts.debits {
			if debit.byUs && debit.attempts == 0 {
				ours = append(ours, reference)
			}
		}
	})
	for _, reference := range ours {
		failed := world.count(l.t, `SELECT COUNT(*) FROM charges WHERE reference = ? AND debit_failure <> ''`, reference)
		if failed != 0 {
			l.t.Errorf("the debit %s, which we had cancelled, has failed", reference)
		}
	}
}
