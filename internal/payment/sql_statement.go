package payment

import (
	"context"
	"strings"

	"carteira/internal/billing"
	"carteira/internal/payment/statement"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/sqldb"
)

// bookedLines are the lines that were booked for some days, and were not undone.
func bookedLines(
	ctx context.Context, querier sqldb.Querier, companyID int64, first, last civil.Date,
) ([]bookedLine, error) {
	return sqldb.All(ctx, querier, func(row sqldb.Row) (line bookedLine, err error) {
		err = row.Scan(&line.on, (*int64)(&line.amount), &line.account, &line.bankID, &line.paymentID, &line.note)
		return line, err
	}, `SELECT l.line_on, l.amount_cents, l.account, l.bank_id, p.payment_id, p.note
		FROM statement_lines l JOIN payments p ON p.company_id = l.company_id AND p.id = l.payment_id
		WHERE l.company_id = ? AND l.line_on >= ? AND l.line_on <= ? AND p.status <> 'dismissed'
		ORDER BY l.line_on, l.amount_cents, l.occurrence`, companyID, first, last)
}

// nextOccurrence is the number that the next booked line of a day and amount has.
func nextOccurrence(ctx context.Context, tx *sqldb.Tx, companyID int64, line statement.Line) (int64, error) {
	return sqldb.Value[int64](ctx, tx, `
		SELECT 1 + COUNT(*) FROM statement_lines WHERE company_id = ? AND line_on = ? AND amount_cents = ?`,
		companyID, line.On, int64(line.Amount))
}

// insertBookedLine writes that a line was booked as a payment; false: another
// transaction has just booked one of the same occurrence.
func insertBookedLine(
	ctx context.Context, tx *sqldb.Tx, companyID int64, line statedLine, payment Payment,
) (first bool, err error) {
	written, err := tx.Exec(ctx, `
		INSERT INTO statement_lines (company_id, line_on, amount_cents, occurrence, account, bank_id, payment_id, created_at)
		SELECT p.company_id, CAST(? AS TEXT), p.amount_cents, CAST(? AS BIGINT), CAST(? AS TEXT), CAST(? AS TEXT), p.id,
			CAST(? AS BIGINT)
		FROM payments p WHERE p.company_id = ? AND p.provider = ? AND p.payment_id = ?
		ON CONFLICT DO NOTHING`,
		line.On, line.occurrence, line.Account, line.ID, tx.Now().UnixMicro(), companyID, billing.Hand, payment.ID)
	return written == 1, err
}

// recordedIDs are those of some end-to-end ids that a payment has which was not
// dismissed.
func recordedIDs(
	ctx context.Context, querier sqldb.Querier, companyID int64, providers, ids []string,
) (map[string]bool, error) {
	recorded := map[string]bool{}
	if len(ids) == 0 {
		return recorded, nil
	}
	list, err := sqldb.Values[string](ctx, querier, `
		SELECT payment_id FROM payments
		WHERE company_id = ? AND provider {in ?} AND payment_id {in ?} AND status <> 'dismissed'`, companyID, providers, ids)
	for _, id := range list {
		recorded[id] = true
	}
	return recorded, err
}

// chargesByTxID finds the charges of some txids. A static code has the beginning of
// the reference, and banks change the case of letters.
func chargesByTxID(
	ctx context.Context, querier sqldb.Querier, companyID int64, txids []string,
) (map[string]statementCharge, error) {
	charges := map[string]statementCharge{}
	if len(txids) == 0 {
		return charges, nil
	}
	list, err := sqldb.All(ctx, querier, func(row sqldb.Row) (charge statementCharge, err error) {
		err = row.Scan(&charge.txid, &charge.reference, &charge.invoiceID, (*int64)(&charge.amount))
		return charge, err
	}, `SELECT gateway_ref, reference, invoice_id, amount_cents FROM charges
		WHERE company_id = ? AND (lower(gateway_ref) {in ?} OR lower(reference) {in ?}) ORDER BY id`, companyID, txids, txids)
	for _, charge := range list {
		charges[strings.ToLower(charge.txid)] = charge
		charges[strings.ToLower(charge.reference)] = charge
	}
	return charges, err
}

// unstatedPayments are the payments of some days that count and that no line of a
// statement was booked as.
func unstatedPayments(
	ctx context.Context, querier sqldb.Querier, companyID int64, first, last civil.Date,
) ([]statementPayment, error) {
	return sqldb.All(ctx, querier, func(row sqldb.Row) (paid statementPayment, err error) {
		err = row.Scan(&paid.id, &paid.customerID, &paid.customerName, (*int64)(&paid.amount), &paid.paidOn)
		return paid, err
	}, `SELECT p.id, p.customer_id, p.customer_name, p.amount_cents, p.paid_on FROM payments p
		WHERE p.company_id = ? AND p.paid_on >= ? AND p.paid_on <= ? AND p.status <> 'dismissed' AND NOT EXISTS (
			SELECT 1 FROM statement_lines l WHERE l.company_id = p.company_id AND l.payment_id = p.id)
		ORDER BY p.paid_on, p.id`, companyID, first, last)
}
