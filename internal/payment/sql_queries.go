package payment

import (
	"context"
	"time"

	"carteira/internal/platform/sqldb"
)

func setupNamed(
	ctx context.Context,
	querier sqldb.Querier,
	companyID int64,
	provider string,
) (Setup, error) {
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
func liveCharges(
	ctx context.Context,
	querier sqldb.Querier,
	setup Setup,
	now time.Time,
) (Live, error) {
	return sqldb.One(ctx, querier, func(row sqldb.Row) (live Live, err error) {
		err = row.Scan(&live.Charges, (*int64)(&live.Amount))
		return live, err
	}, `SELECT COUNT(*), CAST(COALESCE(SUM(amount_cents), 0) AS BIGINT) FROM charges
		WHERE company_id = ? AND state IN ('reserved', 'pending') AND gateway_id = ? AND expires_at > ?`,
		setup.CompanyID, setup.ID, now.UnixMicro())
}

func newestCharges(
	ctx context.Context,
	querier sqldb.Querier,
	companyID, invoiceID int64,
) ([]charge, error) {
	return sqldb.All(ctx, querier, scanCharge, `
		SELECT `+chargeColumns+` FROM charges WHERE company_id = ? AND invoice_id = ? ORDER BY id DESC LIMIT ?`,
		companyID, invoiceID, maxAttempts)
}

// window is a part of the list of payments.
type window struct {
	before int64 // only those before this number; 0: no bound
	limit  int64
}

func paymentsNumbered(
	ctx context.Context,
	querier sqldb.Querier,
	companyID int64,
	numbers []int64,
) ([]Payment, error) {
	return sqldb.All(ctx, querier, scanPayment, `
		SELECT `+paymentColumns+` FROM payments p WHERE p.company_id = ? AND p.id {in ?} ORDER BY p.id DESC`, companyID, numbers)
}

// newestPayments counts nothing, so the oldest page costs what the newest does.
func newestPayments(
	ctx context.Context,
	querier sqldb.Querier,
	companyID int64,
	part window,
) ([]Payment, error) {
	var where sqldb.Where
	where.And(`p.company_id = ?`, companyID)
	if part.before > 0 {
		where.And(`p.id < ?`, part.before)
	}
	return sqldb.All(ctx, querier, scanPayment, `
		SELECT `+paymentColumns+` FROM payments p`+where.String()+` ORDER BY p.id DESC LIMIT ?`, append(where.Args, part.limit)...)
}
