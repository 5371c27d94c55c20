package payment

import (
	"context"
	"time"

	"carteira/internal/platform/sqldb"
)

func setupNamed(ctx context.Context, querier sqldb.Querier, companyID int64, provider string) (Setup, error) {
	return sqldb.One(
		ctx,
		querier,
		scanSetup,
		`SELECT `+setupColumns+` FROM gateways WHERE company_id = ? AND provider = ?`,
		companyID,
		provider,
	)
}

// liveCharges reads only those that are open, which have an index of their own.
func liveCharges(ctx context.Context, querier sqldb.Querier, setup Setup, now time.Time) (Live, error) {
	return sqldb.One(ctx, querier, func(row sqldb.Row) (live Live, err error) {
		err = row.Scan(&live.Charges, (*int64)(&live.Amount))
		return live, err
	}, `SELECT COUNT(*), CAST(COALESCE(SUM(amount_cents), 0) AS BIGINT) FROM charges
		WHERE company_id = ? AND state IN ('reserved', 'pending') AND gateway_id = ? AND expires_at > ?`,
		setup.CompanyID, setup.ID, now.UnixMicro())
}

func newestCharges(ctx context.Context, querier sqldb.Querier, companyID, invoiceID int64) ([]charge, error) {
	return sqldb.All(ctx, querier, scanCharge, `
		SELECT `+chargeColumns+` FROM charges WHERE company_id = ? AND invoice_id = ? ORDER BY id DESC LIMIT ?`,
		companyID, invoiceID, maxAttempts)
}

func paymentsNumbered(ctx context.Context, querier sqldb.Querier, companyID int64, numbers []int64) ([]Payment, error) {
	return sqldb.All(ctx, querier, scanPayment, `
		SELECT `+paymentColumns+` FROM payments p WHERE p.company_id = ? AND p.id {in ?} ORDER BY p.id DESC`, companyID, numbers)
}

// chargesSince counts the charges of a page's invoice that were made since an
// instant.
func chargesSince(ctx context.Context, querier sqldb.Querier, page Page, since time.Time) (int64, error) {
	return sqldb.Value[int64](ctx, querier, `SELECT COUNT(*) FROM charges
		WHERE company_id = ? AND invoice_id = ? AND created_at > ?`,
		page.Company.ID, page.Invoice.ID, since.UnixMicro())
}
