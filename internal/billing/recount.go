package billing

import (
	"context"

	"carteira/internal/platform/checkup"
	"carteira/internal/platform/sqldb"
	"carteira/internal/tally"
)

// Recounts count invoices and money anew, as count.go does.
func Recounts() []tally.Recount {
	return []tally.Recount{
		{Counter: counter, Records: func(companyID int64) tally.Records {
			return tally.Records{SQL: invoiceRecords, Args: []any{companyID}}
		}},
		{Counter: receipts, Records: func(companyID int64) tally.Records {
			return tally.Records{SQL: receiptRecords, Args: []any{companyID, companyID}}
		}},
		// Paid invoices that were deleted since are counted under other states.
		{Counter: paid, Records: func(companyID int64) tally.Records {
			return tally.Records{
				SQL:    paidRecords,
				Args:   []any{companyID},
				States: []string{onTime, late},
			}
		}},
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
)

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
