package payment

import (
	"context"
	"time"

	"carteira/internal/platform/sqldb"
)

func setupNamed(ctx context.Context, q sqldb.Querier, companyID int64, provider string) (Setup, error) {
	return sqldb.One(ctx, q, scanSetup, `SELECT `+setupColumns+` FROM gateways WHERE company_id = ? AND provider = ?`, companyID, provider)
}

// liveCharges reads only those that are open, which have an index of their own.
func liveCharges(ctx context.Context, q sqldb.Querier, setup Setup, now time.Time) (Live, error) {
	return sqldb.One(ctx, q, func(r sqldb.Row) (l Live, err error) {
		err = r.Scan(&l.Charges, (*int64)(&l.Amount))
		return l, err
	}, `SELECT COUNT(*), CAST(COALESCE(SUM(amount_cents), 0) AS BIGINT) FROM charges
		WHERE company_id = ? AND state IN ('reserved', 'pending') AND gateway_id = ? AND expires_at > ?`, setup.CompanyID, setup.ID, now.UnixMicro())
}

func newestCharges(ctx context.Context, q sqldb.Querier, companyID, invoiceID int64) ([]charge, error) {
	return sqldb.All(ctx, q, scanCharge, `
		SELECT `+chargeColumns+` FROM charges WHERE company_id = ? AND invoice_id = ? ORDER BY id DESC LIMIT ?`,
		companyID, invoiceID, maxAttempts)
}

// window is a part of the list of payments.
type window struct {
	before int64 // only those before this number; 0: no bound
	limit  int64
}

// newestPayments counts nothing, so the oldest page costs what the newest does.
func newestPayments(ctx context.Context, q sqldb.Querier, companyID int64, part window) ([]Payment, error) {
	var w sqldb.Where
	w.And(`p.company_id = ?`, companyID)
	if part.before > 0 {
		w.And(`p.id < ?`, part.before)
	}
	return sqldb.All(ctx, q, scanPayment, `
		SELECT `+paymentColumns+` FROM payments p`+w.String()+` ORDER BY p.id DESC LIMIT ?`, append(w.Args, part.limit)...)
}
