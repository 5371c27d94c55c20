package billing

import (
	"context"
	"slices"

	"carteira/internal/account"
	"carteira/internal/customer"
	"carteira/internal/platform/checkup"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/money"
	"carteira/internal/platform/sqldb"
	"carteira/internal/tally"
)

// The counters: invoices by due date, plan, product and status, with what they
// are worth; payments by day, status and means, as their list is filtered; money
// by the day on which it came or went; and the invoices that were paid, by day.
const (
	counter  = tally.Invoices
	payments = tally.Payments
	receipts = tally.Receipts
	paid     = tally.Paid
)

// countChange counts changes of invoices. What was received for one that is
// deleted stays received.
func countChange(ctx context.Context, tx account.Tx, changes ...Change) error {
	var invoices, settled, writtenOff []tally.Change
	for _, change := range changes {
		if change.Action != ActionCreated {
			invoices = append(invoices, counted(change.Before, -1))
		}
		if change.Action != ActionDeleted {
			invoices = append(invoices, counted(change.After, 1))
		}
		settled = append(settled, settledBy(change)...)
		writtenOff = append(writtenOff, writtenOffBy(change)...)
	}
	if err := keepClosed(ctx, tx, slices.Concat(settled, writtenOff)); err != nil {
		return err
	}
	entries := append(entriesOf(counter, invoices), entriesOf(paid, settled)...)
	for _, change := range changes {
		if change.Action == ActionDeleted {
			continue // its customer goes, and is no debtor any more
		}
		debt, err := settleDebt(ctx, tx, change)
		if err != nil {
			return err
		}
		entries = append(entries, debt...)
	}
	return tally.AddAll(ctx, tx.Tx, tx.Company.ID, entries)
}

func entriesOf(counter tally.Counter, changes []tally.Change) []tally.Entry {
	entries := make([]tally.Entry, len(changes))
	for n, change := range changes {
		entries[n] = tally.Entry{Counter: counter, Change: change}
	}
	return entries
}

// counted is an invoice as the counter of invoices has it. An open one is worth
// what is still to come.
func counted(invoice Invoice, n int64) tally.Change {
	worth := invoice.Amount
	if invoice.Status == Open {
		worth = max(0, invoice.Amount-invoice.Received)
	}
	return tally.Change{N: n, Cents: n * int64(worth), Key: tally.Key{
		Day:       invoice.DueOn.String(),
		PlanID:    invoice.Plan.ID,
		ProductID: invoice.Product.ID,
		State:     string(invoice.Status),
	}}
}

// The states of the counter of paid invoices.
const (
	onTime = "on_time"
	late   = "late"
)

// countedPaid is an invoice as the counter of paid invoices has it.
func countedPaid(invoice Invoice, n int64) []tally.Change {
	if invoice.Status != Paid {
		return nil
	}
	state := onTime
	if invoice.PaidOn.After(invoice.DueOn) {
		state = late
	}
	return []tally.Change{{N: n, Cents: n * int64(invoice.Settled), Key: tally.Key{
		Day:       invoice.PaidOn.String(),
		PlanID:    invoice.Plan.ID,
		ProductID: invoice.Product.ID,
		State:     state,
	}}}
}

// gone is where paid invoices are counted that no list has any more.
func gone(changes []tally.Change) []tally.Change {
	for n := range changes {
		changes[n].State += "_gone"
	}
	return changes
}

// countPayment counts a change of a payment: as a row of the list, and as money.
func countPayment(ctx context.Context, tx account.Tx, change paymentChange) error {
	moved := change.receipts()
	if err := keepClosed(ctx, tx, moved); err != nil {
		return err
	}
	entries := entriesOf(receipts, moved)
	if change.before.ID == 0 {
		entries = append(entries, tally.Entry{Counter: payments, Change: countedPayment(change.after)})
	} else {
		entries = append(entries, payments.Moved(countedPayment(change.before), countedPayment(change.after))...)
	}
	return tally.AddAll(ctx, tx.Tx, tx.Company.ID, entries)
}

// countedPayment is a payment as the counter of payments has it.
func countedPayment(payment Payment) tally.Change {
	return tally.Change{N: 1, Key: tally.Key{
		Day:   payment.PaidOn.String(),
		State: string(payment.Status) + "/" + payment.Via,
	}}
}

// receipts is how a change of a payment moves the counter of money: it begins or ceases to count on
// the day on which it came, and what goes back is a minus on the day on which
// it went.
func (c paymentChange) receipts() (changes []tally.Change) {
	switch before, after := c.before.came(), c.after.came(); {
	case after && !before:
		changes = append(changes, receipt(c.after, c.after.PaidOn, 1, c.after.Amount))
	case before && !after:
		changes = append(changes, receipt(c.before, c.before.PaidOn, -1, -c.before.Amount))
	}
	for _, back := range c.goneBack() {
		changes = append(changes, receipt(c.after, back.on, 0, -back.amount))
	}
	return changes
}

func receipt(payment Payment, on civil.Date, n int64, amount money.Cents) tally.Change {
	return tally.Change{N: n, Cents: int64(amount), Key: tally.Key{
		Day: on.String(), PlanID: payment.PlanID, ProductID: payment.ProductID, State: payment.Via,
	}}
}

// Recounts count invoices, payments, money and debtors again, as count.go and
// debt.go do.
func Recounts() []tally.Recount {
	of := func(text string) func(tally.Scope) tally.Records {
		return func(scope tally.Scope) tally.Records {
			return tally.Records{SQL: text, Args: []any{scope.CompanyID}}
		}
	}
	return []tally.Recount{
		{Counter: counter, Records: of(invoiceRecords)},
		{Counter: payments, Records: of(paymentRecordsText)},
		{Counter: receipts, Records: func(scope tally.Scope) tally.Records {
			return tally.Records{SQL: receiptRecords, Args: []any{scope.CompanyID, scope.CompanyID}}
		}},
		// Paid invoices that were deleted since are counted under other states.
		{Counter: paid, Records: func(scope tally.Scope) tally.Records {
			return tally.Records{SQL: paidRecords, Args: []any{scope.CompanyID}, States: []string{onTime, late}}
		}},
		{Counter: debtors, Records: of(debtorRecords), Rows: &tally.Derived{Wrong: wrongDebtors, Mend: mendDebtors}},
	}
}

const (
	invoiceRecords = `SELECT due_on AS day, COALESCE(plan_id, 0) AS plan_id, COALESCE(product_id, 0) AS product_id,
		status AS state, 1 AS n,
		CASE WHEN status <> 'open' THEN amount_cents WHEN amount_cents > received_cents THEN amount_cents - received_cents ELSE 0 END AS cents
		FROM invoices WHERE company_id = ?`
	receiptRecords = `SELECT paid_on AS day, plan_id, product_id, paid_via AS state, 1 AS n, amount_cents AS cents
		FROM payments WHERE company_id = ? AND status IN ('applied', 'partial', 'refunded', 'credit') AND provider <> 'credit'
		UNION ALL
		SELECT r.refunded_on AS day, p.plan_id, p.product_id, p.paid_via AS state, 0 AS n, -r.amount_cents AS cents
		FROM ` + refundsFrom + ` WHERE r.company_id = ?`
	paidRecords = `SELECT paid_on AS day, COALESCE(plan_id, 0) AS plan_id, COALESCE(product_id, 0) AS product_id,
		CASE WHEN paid_on > due_on THEN 'late' ELSE 'on_time' END AS state, 1 AS n, settled_cents AS cents
		FROM invoices WHERE company_id = ? AND status = 'paid'`
	paymentRecordsText = `SELECT paid_on AS day, 0 AS plan_id, 0 AS product_id, status || '/' || paid_via AS state,
		1 AS n, 0 AS cents
		FROM payments WHERE company_id = ?`
	debtorRecords = `SELECT since AS day, plan_id, product_id, '' AS state, 1 AS n, 0 AS cents
		FROM debtors WHERE company_id = ?`
	// owing are the debtors as the invoices have them.
	owing = `SELECT i.company_id, i.customer_id, MIN(i.due_on) AS since, COALESCE(c.plan_id, 0) AS plan_id,
		COALESCE(c.product_id, 0) AS product_id
		FROM invoices i JOIN customers c ON c.company_id = i.company_id AND c.id = i.customer_id AND ` + customer.VisibleC + `
		WHERE i.company_id = ? AND i.status = 'open'
		GROUP BY i.company_id, i.customer_id, c.plan_id, c.product_id`
)

// wrongDebtors counts the customers for which debtors and invoices disagree.
func wrongDebtors(ctx context.Context, querier sqldb.Querier, companyID int64) (int64, error) {
	wrong, err := wrongDebtorIDs(ctx, querier, companyID)
	return int64(len(wrong)), err
}

func wrongDebtorIDs(ctx context.Context, querier sqldb.Querier, companyID int64) ([]int64, error) {
	return sqldb.Values[int64](ctx, querier, `
		SELECT DISTINCT customer_id FROM (
			SELECT customer_id FROM (
				SELECT customer_id, since, plan_id, product_id FROM debtors WHERE company_id = ?
				UNION ALL SELECT customer_id, since, plan_id, product_id FROM (`+owing+`) AS owing
			) AS both_of_them GROUP BY customer_id, since, plan_id, product_id HAVING COUNT(*) <> 2
		) AS wrong`, companyID, companyID)
}

// mendDebtors touches those alone that are wrong: others may change meanwhile.
func mendDebtors(ctx context.Context, tx *sqldb.Tx, companyID int64) error {
	wrong, err := wrongDebtorIDs(ctx, tx, companyID)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `DELETE FROM debtors WHERE company_id = ? AND customer_id {in ?}`, companyID, wrong)
	if err != nil {
		return err
	}
	return tx.Do(ctx, `
		INSERT INTO debtors (company_id, customer_id, since, plan_id, product_id)
		SELECT company_id, customer_id, since, plan_id, product_id FROM (`+owing+`) AS owing
		WHERE company_id = ? AND customer_id {in ?} ON CONFLICT DO NOTHING`, companyID, companyID, wrong)
}

// CheckLedger compares what invoices say they received with their payments.
func (s *Service) CheckLedger(ctx context.Context) (checkup.Finding, error) {
	wrong, err := sqldb.Values[int64](sqldb.WithoutDeadline(ctx), s.db, `
		SELECT i.id FROM invoices i LEFT JOIN payments p
			ON p.company_id = i.company_id AND p.invoice_id = i.id AND p.status IN ('applied', 'partial', 'refunded')
		GROUP BY i.id, i.received_cents
		HAVING i.received_cents <> COALESCE(SUM(p.amount_cents - p.refunded_cents), 0)
		ORDER BY i.id LIMIT 100 /* every company_id */`)
	if err != nil || len(wrong) == 0 {
		return checkup.Good("invoices and payments agree"), err
	}
	return checkup.Bad("restore a backup from before it happened, or ask for help with these invoices",
		"%d invoices did not receive what their payments brought, the first are %v", len(wrong),
		wrong[:min(len(wrong), 5)]), nil
}
