package billing

import (
	"context"
	"time"

	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
)

const (
	recordColumns = `p.id, COALESCE(p.charge_id, 0), p.provider, p.payment_id, p.paid_via, p.invoice_id, p.customer_id, p.customer_name,
		p.plan_id, p.product_id, p.amount_cents, p.currency, p.paid_at, p.paid_on, p.status, p.refunded_cents, p.confirmed_by, p.note,
		p.created_at, COALESCE(c.uuid, ''), COALESCE(i.status, ''), COALESCE(i.amount_cents, 0)`
	recordJoins = ` LEFT JOIN customers c ON c.company_id = p.company_id AND c.id = p.customer_id
		LEFT JOIN invoices i ON i.company_id = p.company_id AND i.id = p.invoice_id`
)

func scanRecord(row sqldb.Row) (r PaymentRecord, err error) {
	var paidAt, received int64
	p := &r.Payment
	err = row.Scan(&p.ID, &p.ChargeID, &p.Provider, &p.PaymentID, &p.Via, &p.InvoiceID, &p.CustomerID, &p.CustomerName,
		&p.PlanID, &p.ProductID, (*int64)(&p.Amount), &p.Currency, &paidAt, &p.PaidOn, (*string)(&p.Status), (*int64)(&p.Refunded),
		&p.ConfirmedBy, &p.Note, &received, &r.CustomerUUID, (*string)(&r.InvoiceStatus), (*int64)(&r.InvoiceAmount))
	p.PaidAt, r.ReceivedAt = time.UnixMicro(paidAt), time.UnixMicro(received)
	return r, err
}

// where are the conditions of the filter. Each has an index that ends in the id.
func (f PaymentFilter) where(companyID int64) (w sqldb.Where) {
	w.And("p.company_id = ?", companyID)
	if f.CustomerID != 0 {
		w.And("p.customer_id = ?", f.CustomerID)
	}
	if f.InvoiceID != 0 {
		w.And("p.invoice_id = ?", f.InvoiceID)
	}
	if f.Via != "" {
		w.And("p.paid_via = ?", f.Via)
	}
	if f.Status != "" {
		w.And("p.status = ?", string(f.Status))
	}
	span(&w, "p.paid_on", f.From, f.To)
	return w
}

// paymentQuery is a page of a company's payments.
type paymentQuery struct {
	companyID int64
	filter    PaymentFilter
	page      input.Page
}

func countPayments(ctx context.Context, q sqldb.Querier, query paymentQuery) (int64, error) {
	w := query.filter.where(query.companyID)
	return sqldb.Value[int64](ctx, q, `SELECT count(*) FROM payments p`+w.String(), w.Args...)
}

func paymentRecords(ctx context.Context, q sqldb.Querier, query paymentQuery) ([]PaymentRecord, error) {
	w := query.filter.where(query.companyID)
	return sqldb.All(ctx, q, scanRecord, `SELECT `+recordColumns+` FROM payments p`+recordJoins+w.String()+`
		ORDER BY p.id DESC LIMIT ? OFFSET ?`, append(w.Args, query.page.Size, query.page.Offset())...)
}

func paymentRecord(ctx context.Context, q sqldb.Querier, companyID, paymentID int64) (PaymentRecord, error) {
	r, err := sqldb.One(ctx, q, scanRecord, `SELECT `+recordColumns+` FROM payments p`+recordJoins+`
		WHERE p.company_id = ? AND p.id = ?`, companyID, paymentID)
	return r, sqldb.Found(err, "payment")
}
