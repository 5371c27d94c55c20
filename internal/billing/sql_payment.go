package billing

import (
	"context"
	"errors"

	"carteira/internal/account"
	"carteira/internal/customer"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/input"
	"carteira/internal/platform/listing"
	"carteira/internal/platform/money"
	"carteira/internal/platform/rows"
	"carteira/internal/platform/sqldb"
)

const paymentColumns = `id, COALESCE(charge_id, 0), provider, payment_id, paid_via, invoice_id, customer_id,
	customer_name, plan_id, product_id,
	amount_cents, currency, paid_at, COALESCE(paid_offset, 0), paid_on, status, refunded_cents, confirmed_by, note`

func scanPayment(row sqldb.Row) (payment Payment, err error) {
	var paidAt int64
	var offset int
	err = row.Scan(&payment.ID, &payment.ChargeID, &payment.Provider, &payment.PaymentID, &payment.Via,
		&payment.InvoiceID, &payment.CustomerID, &payment.CustomerName, &payment.PlanID, &payment.ProductID,
		(*int64)(&payment.Amount), &payment.Currency, &paidAt, &offset, &payment.PaidOn, (*string)(&payment.Status),
		(*int64)(&payment.Refunded), &payment.ConfirmedBy, &payment.Note)
	payment.PaidAt = instantAt(paidAt, offset)
	return payment, err
}

// insertPayment returns 0 when the payment is known.
func insertPayment(ctx context.Context, tx account.Tx, payment Payment) (int64, error) {
	args := []any{
		tx.Company.ID, sqldb.RefTo(payment.ChargeID), payment.Provider, payment.PaymentID, payment.Via,
		payment.InvoiceID, payment.CustomerID, payment.CustomerName, payment.PlanID,
		payment.ProductID,
		int64(payment.Amount), payment.Currency, payment.PaidAt.UnixMicro(),
		offsetOf(payment.PaidAt), payment.PaidOn, string(payment.Status), int64(payment.Refunded),
		payment.ConfirmedBy, payment.Note,
		tx.Now().UnixMicro(), tx.Actor.Batch,
	}
	id, err := sqldb.Value[int64](ctx, tx, `
		INSERT INTO payments (company_id, charge_id, provider, payment_id, paid_via, invoice_id, customer_id,
		customer_name, plan_id, product_id,
			amount_cents, currency, paid_at, paid_offset, paid_on, status, refunded_cents, confirmed_by, note, created_at, batch)
		VALUES `+sqldb.Tuples(1, len(args))+` ON CONFLICT DO NOTHING RETURNING id`, args...)
	if errors.Is(err, sqldb.ErrNotFound) {
		return 0, nil
	}
	return id, err
}

// updatePayment writes all of a payment that changes. The caller has locked the
// row.
func updatePayment(ctx context.Context, tx account.Tx, payment Payment) error {
	return tx.Do(ctx, `
		UPDATE payments SET payment_id = ?, invoice_id = ?, plan_id = ?, product_id = ?, paid_at = ?, paid_on = ?, paid_offset = ?, status = ?,
			refunded_cents = ?
		WHERE company_id = ? AND id = ?`,
		payment.PaymentID, payment.InvoiceID, payment.PlanID, payment.ProductID, payment.PaidAt.UnixMicro(), payment.PaidOn,
		offsetOf(payment.PaidAt), string(payment.Status), int64(payment.Refunded), tx.Company.ID,
		payment.ID)
}

func lockPayment(ctx context.Context, tx account.Tx, id int64) (Payment, error) {
	return sqldb.Find(ctx, tx, "payment", scanPayment, `
		SELECT `+paymentColumns+` FROM payments WHERE company_id = ? AND id = ? {for update}`,
		tx.Company.ID, id)
}

// lockPaymentsOf locks the payments of an invoice, oldest first.
func lockPaymentsOf(ctx context.Context, tx account.Tx, invoiceID int64) ([]Payment, error) {
	return sqldb.All(ctx, tx, scanPayment, `
		SELECT `+paymentColumns+` FROM payments WHERE company_id = ? AND invoice_id = ? ORDER BY id {for update}`,
		tx.Company.ID, invoiceID)
}

// lockPaymentsIn locks the payments that a piece of work registered for an invoice.
func lockPaymentsIn(ctx context.Context, tx account.Tx, invoiceID int64, batch string) ([]Payment, error) {
	return sqldb.All(ctx, tx, scanPayment, `
		SELECT `+paymentColumns+` FROM payments
		WHERE company_id = ? AND invoice_id = ? AND batch = ? AND batch <> '' ORDER BY id {for update}`, tx.Company.ID, invoiceID, batch)
}

func invoiceOfPayment(ctx context.Context, querier sqldb.Querier, companyID, paymentID int64) (int64, error) {
	id, err := sqldb.Value[int64](ctx, querier, `SELECT invoice_id FROM payments WHERE company_id = ? AND id = ?`,
		companyID, paymentID)
	return id, sqldb.Found(err, "payment")
}

func insertRefund(ctx context.Context, tx account.Tx, row refundRow) error {
	return tx.Do(ctx, `
		INSERT INTO payment_refunds (company_id, payment_id, refund_id, amount_cents, refunded_at, refunded_offset,
		refunded_on, reported_by, note, created_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		tx.Company.ID, row.payment, row.id, int64(row.amount), row.at.UnixMicro(), offsetOf(row.at),
		row.on, row.by, row.note, tx.Now().UnixMicro())
}

// refundsBefore are the refunds of a payment that begins to count. None is earlier
// than the payment, which may count on a later day than that on which it came.
func refundsBefore(ctx context.Context, tx account.Tx, payment Payment) ([]refundRow, error) {
	err := tx.Do(ctx, `
		UPDATE payment_refunds SET refunded_at = ?, refunded_offset = ?, refunded_on = ?
		WHERE company_id = ? AND payment_id = ? AND refunded_on < ?`, payment.PaidAt.UnixMicro(), offsetOf(payment.PaidAt),
		payment.PaidOn, tx.Company.ID, payment.ID, payment.PaidOn)
	if err != nil {
		return nil, err
	}
	return sqldb.All(ctx, tx, func(row sqldb.Row) (refund refundRow, err error) {
		err = row.Scan((*int64)(&refund.amount), &refund.on)
		return refund, err
	}, `SELECT amount_cents, refunded_on FROM payment_refunds WHERE company_id = ? AND payment_id = ? ORDER BY id`,
		tx.Company.ID, payment.ID)
}

func refundsOf(ctx context.Context, querier sqldb.Querier, companyID int64, payments []int64) (map[int64][]RefundRecord, error) {
	found := map[int64][]RefundRecord{}
	_, err := sqldb.All(ctx, querier, func(row sqldb.Row) (refund RefundRecord, err error) {
		var payment int64
		err = row.Scan(&payment, &refund.ID, (*int64)(&refund.Amount), &refund.On, &refund.By, &refund.Note)
		found[payment] = append(found[payment], refund)
		return refund, err
	}, `SELECT payment_id, id, amount_cents, refunded_on, reported_by, note FROM payment_refunds
		WHERE company_id = ? AND payment_id {in ?} ORDER BY id`, companyID, payments)
	return found, err
}

const (
	recordColumns = `p.id, COALESCE(p.charge_id, 0), p.provider, p.payment_id, p.paid_via, p.invoice_id, p.customer_id, p.customer_name,
		p.plan_id, p.product_id, p.amount_cents, p.currency, p.paid_at, COALESCE(p.paid_offset, 0), p.paid_on,
		p.status, p.refunded_cents, p.confirmed_by, p.note, p.created_at,
		COALESCE(c.uuid, ''), COALESCE(i.status, ''), COALESCE(i.amount_cents, 0)`
	recordJoins = ` LEFT JOIN customers c ON c.company_id = p.company_id AND c.id = p.customer_id
		LEFT JOIN invoices i ON i.company_id = p.company_id AND i.id = p.invoice_id`
)

var paymentTable = listing.Table[PaymentRecord]{
	From: "payments p", ID: "p.id", Owner: "p.company_id", Columns: recordColumns, Joins: recordJoins, Scan: scanRecord,
	RowID:  func(record PaymentRecord) int64 { return record.ID },
	Orders: map[string]listing.Order{input.ByPaidDay: {Column: "p.paid_on"}},
}

func scanRecord(row sqldb.Row) (record PaymentRecord, err error) {
	var paidAt int64
	var offset int
	payment := &record.Payment
	err = row.Scan(&payment.ID, &payment.ChargeID, &payment.Provider, &payment.PaymentID, &payment.Via,
		&payment.InvoiceID, &payment.CustomerID, &payment.CustomerName, &payment.PlanID, &payment.ProductID,
		(*int64)(&payment.Amount), &payment.Currency, &paidAt, &offset, &payment.PaidOn, (*string)(&payment.Status),
		(*int64)(&payment.Refunded), &payment.ConfirmedBy, &payment.Note, (*civil.Instant)(&record.ReceivedAt), &record.CustomerUUID,
		(*string)(&record.InvoiceStatus), (*int64)(&record.InvoiceAmount))
	payment.PaidAt = instantAt(paidAt, offset)
	return record, err
}

// where are the conditions of the filter. The expression keeps planners from the
// index of days unless that is the order: they would sort all that they find there.
func (f PaymentFilter) where(sort input.Sort) sqldb.Where {
	where, day := f.wherePayment(), "p.paid_on || ''"
	if sort.Field() == input.ByPaidDay {
		day = "p.paid_on"
	}
	span(&where, day, f.From, f.To)
	return where
}

// wherePayment are the conditions on a payment, whatever its day.
func (f PaymentFilter) wherePayment() (where sqldb.Where) {
	where.If(f.CustomerID != 0, "p.customer_id = ?", f.CustomerID)
	where.If(f.InvoiceID != 0, "p.invoice_id = ?", f.InvoiceID)
	where.If(f.Via != "", "p.paid_via = ?", f.Via)
	if f.Status != "" {
		where.And("p.status = ?", string(f.Status))
	} else if f.Came {
		where.And("p.status <> ?", string(PaymentDismissed))
	}
	where.If(!f.withCredit(), "p.paid_via <> ?", Credit)
	return where
}

// sumPayments adds up what came with a few payments.
func sumPayments(ctx context.Context, querier sqldb.Querier, companyID int64, where sqldb.Where) (money.Cents, error) {
	where.And("p.company_id = ?", companyID)
	cents, err := sqldb.Value[int64](ctx, querier, `
		SELECT CAST(COALESCE(SUM(CASE WHEN p.status IN ('applied', 'partial', 'refunded', 'credit')
			THEN p.amount_cents ELSE 0 END), 0) AS BIGINT) FROM payments p`+where.String(), where.Args...)
	return money.Cents(cents), err
}

func paymentRecord(ctx context.Context, querier sqldb.Querier, companyID, paymentID int64) (PaymentRecord, error) {
	return sqldb.Find(ctx, querier, "payment", scanRecord, `SELECT `+recordColumns+` FROM payments p`+recordJoins+`
		WHERE p.company_id = ? AND p.id = ?`, companyID, paymentID)
}

// payerOf reads what the events of a payment say of its customer; nil when that
// was deleted.
func payerOf(ctx context.Context, tx account.Tx, customerID int64) (*payer, error) {
	found, err := sqldb.One(ctx, tx, rows.Into(func(found *payer) []any {
		return []any{&found.ID, &found.UUID, &found.Name}
	}), `SELECT id, uuid, name FROM customers WHERE company_id = ? AND id = ? AND `+customer.Visible, tx.Company.ID, customerID)
	if errors.Is(err, sqldb.ErrNotFound) {
		return nil, nil
	}
	return &found, err
}
