package billing

import (
	"context"
	"time"

	"carteira/internal/platform/input"
	"carteira/internal/platform/listing"
	"carteira/internal/platform/money"
	"carteira/internal/platform/sqldb"
)

const (
	recordColumns = `p.id, COALESCE(p.charge_id, 0), p.provider, p.payment_id, p.paid_via, p.invoice_id, p.customer_id, p.customer_name,
		p.plan_id, p.product_id, p.amount_cents, p.currency, p.paid_at, p.paid_on, p.status, p.refunded_cents, p.confirmed_by, p.note,
		p.created_at, COALESCE(c.uuid, ''), COALESCE(i.status, ''), COALESCE(i.amount_cents, 0)`
	recordJoins = ` LEFT JOIN customers c ON c.company_id = p.company_id AND c.id = p.customer_id
		LEFT JOIN invoices i ON i.company_id = p.company_id AND i.id = p.invoice_id`
)

var paymentTable = listing.Table[PaymentRecord]{
	From: "payments p", ID: "p.id", Owner: "p.company_id", Columns: recordColumns, Joins: recordJoins, Scan: scanRecord,
	RowID:  func(record PaymentRecord) int64 { return record.ID },
	Orders: map[string]listing.Order{input.ByPaidDay: {Column: "p.paid_on"}},
}

func scanRecord(row sqldb.Row) (record PaymentRecord, err error) {
	var paidAt, received int64
	payment := &record.Payment
	err = row.Scan(&payment.ID, &payment.ChargeID, &payment.Provider, &payment.PaymentID,
		&payment.Via, &payment.InvoiceID, &payment.CustomerID, &payment.CustomerName,
		&payment.PlanID, &payment.ProductID, (*int64)(&payment.Amount), &payment.Currency, &paidAt,
		&payment.PaidOn, (*string)(&payment.Status), (*int64)(&payment.Refunded),
		&payment.ConfirmedBy, &payment.Note, &received, &record.CustomerUUID,
		(*string)(&record.InvoiceStatus), (*int64)(&record.InvoiceAmount))
	payment.PaidAt, record.ReceivedAt = time.UnixMicro(paidAt), time.UnixMicro(received)
	return record, err
}

// where are the conditions of the filter. The expression keeps planners from the
// index of days unless that is the order: they would sort all that they find there.
func (f PaymentFilter) where(sort input.Sort) (where sqldb.Where) {
	if f.CustomerID != 0 {
		where.And("p.customer_id = ?", f.CustomerID)
	}
	if f.InvoiceID != 0 {
		where.And("p.invoice_id = ?", f.InvoiceID)
	}
	if f.Via != "" {
		where.And("p.paid_via = ?", f.Via)
	}
	if f.Status != "" {
		where.And("p.status = ?", string(f.Status))
	} else if f.Came {
		where.And("p.status <> ?", string(PaymentDismissed))
	}
	day := "p.paid_on || ''"
	if sort.Field() == input.ByPaidDay {
		day = "p.paid_on"
	}
	span(&where, day, f.From, f.To)
	return where
}

// sumPayments adds up what counts of a few payments.
func sumPayments(ctx context.Context, querier sqldb.Querier, companyID int64, filter PaymentFilter) (money.Cents, error) {
	where := filter.where("")
	where.And("p.company_id = ?", companyID)
	cents, err := sqldb.Value[int64](ctx, querier, `
		SELECT CAST(COALESCE(SUM(CASE WHEN p.status IN ('applied', 'partial', 'refunded')
			THEN p.amount_cents - p.refunded_cents ELSE 0 END), 0) AS BIGINT) FROM payments p`+where.String(), where.Args...)
	return money.Cents(cents), err
}

func paymentRecord(ctx context.Context, querier sqldb.Querier, companyID, paymentID int64) (PaymentRecord, error) {
	record, err := sqldb.One(ctx, querier, scanRecord, `SELECT `+recordColumns+` FROM payments p`+recordJoins+`
		WHERE p.company_id = ? AND p.id = ?`, companyID, paymentID)
	return record, sqldb.Found(err, "payment")
}
