package billing

import (
	"context"

	"carteira/internal/platform/checkup"
	"carteira/internal/platform/sqldb"
	"carteira/internal/tally"
)

// Recounts count invoices, payments, money and debtors anew, as count.go and
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
			return tally.Records{
				SQL:    paidRecords,
				Args:   []any{scope.CompanyID},
				States: []string{onTime, late},
			}
		}},
		{Counter: debtors, Records: of(debtorRecords), Rows: &tally.Derived{Wrong: wrongDebtors, Mend: mendDebtors}},
	}
}

const (
	invoiceRecords = `SELECT id / 4096 AS bucket, due_on AS day, COALESCE(plan_id, 0) AS plan_id, COALESCE(product_id, 0) AS product_id,
		status AS state, 1 AS n,
		CASE WHEN status <> 'open' THEN amount_cents WHEN amount_cents > received_cents THEN amount_cents - received_cents ELSE 0 END AS cents
		FROM invoices WHERE company_id = ?`
	receiptRecords = `SELECT 0 AS bucket, paid_on AS day, plan_id, product_id, paid_via AS state, 1 AS n, amount_cents AS cents
		FROM payments WHERE company_id = ? AND status IN ('applied', 'partial', 'refunded')
		UNION ALL
		SELECT 0 AS bucket, r.refunded_on AS day, p.plan_id, p.product_id, p.paid_via AS state, 0 AS n, -r.amount_cents AS cents
		FROM payment_refunds r JOIN payments p ON p.company_id = r.company_id AND p.id = r.payment_id WHERE r.company_id = ?`
	paidRecords = `SELECT 0 AS bucket, paid_on AS day, COALESCE(plan_id, 0) AS plan_id, COALESCE(product_id, 0) AS product_id,
		CASE WHEN paid_on > due_on THEN 'late' ELSE 'on_time' END AS state, 1 AS n, received_cents AS cents
		FROM invoices WHERE company_id = ? AND status = 'paid'`
	paymentRecordsText = `SELECT id / 4096 AS bucket, paid_on AS day, 0 AS plan_id, 0 AS product_id, status || '/' || paid_via AS state,
		1 AS n, 0 AS cents
		FROM payments WHERE company_id = ?`
	debtorRecords = `SELECT 0 AS bucket, since AS day, plan_id, product_id, '' AS state, 1 AS n, 0 AS cents
		FROM debtors WHERE company_id = ?`
	// owing are the debtors as the invoices have them.
	owing = `SELECT i.company_id, i.customer_id, MIN(i.due_on) AS since, COALESCE(c.plan_id, 0) AS plan_id,
		COALESCE(c.product_id, 0) AS product_id
		FROM invoices i JOIN customers c ON c.company_id = i.company_id AND c.id = i.customer_id AND {visible c.id}
		WHERE i.company_id = ? AND i.status = 'open'
		GROUP BY i.company_id, i.customer_id, c.plan_id, c.product_id`
)

// wrongDebtors counts the customers whom the debtors have and the invoices do
// not, or the other way round, or otherwise.
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
	_, err = tx.Exec(ctx, `
		INSERT INTO debtors (company_id, customer_id, since, plan_id, product_id)
		SELECT company_id, customer_id, since, plan_id, product_id FROM (`+owing+`) AS owing
		WHERE company_id = ? AND customer_id {in ?} ON CONFLICT DO NOTHING`, companyID, companyID, wrong)
	return err
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
	return checkup.Bad(
		"restore a backup from before it happened, or ask for help with these invoices",
		"%d invoices did not receive what their payments brought, the first are %v", len(wrong),
		wrong[:min(len(wrong), 5)]), nil
}
