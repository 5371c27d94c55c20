package billing

import (
	"context"

	"carteira/internal/platform/sqldb"
)

// dayTable is a table whose rows may lack the offsets of their days.
type dayTable struct {
	find  string // id, company_id, created_at, created_on, paid_at and paid_on of some rows
	write func(ctx context.Context, tx *sqldb.Tx, o offsets, ids []int64) error
}

var dayTables = []dayTable{
	{`SELECT id, company_id, created_at, created_on, COALESCE(paid_at, 0), COALESCE(paid_on, created_on) FROM invoices
		WHERE created_offset IS NULL ORDER BY id LIMIT ? /* every company_id */`, fillInvoices},
	{`SELECT id, company_id, 0, paid_on, paid_at, paid_on FROM payments
		WHERE paid_offset IS NULL ORDER BY id LIMIT ? /* every company_id */`, fillPayments},
	{`SELECT id, company_id, 0, refunded_on, refunded_at, refunded_on FROM payment_refunds
		WHERE refunded_offset IS NULL ORDER BY id LIMIT ? /* every company_id */`, fillRefunds},
}

func (t dayTable) unfilled(ctx context.Context, tx *sqldb.Tx, limit int) ([]unfilledDays, error) {
	return sqldb.All(ctx, tx, func(row sqldb.Row) (days unfilledDays, err error) {
		err = row.Scan(&days.id, &days.company, &days.created.micros, &days.created.on, &days.paid.micros, &days.paid.on)
		return days, err
	}, t.find+` {for update}`, limit)
}

func fillInvoices(ctx context.Context, tx *sqldb.Tx, offsets offsets, ids []int64) error {
	var paid any
	if offsets.isPaid {
		paid = offsets.paid
	}
	_, err := tx.Exec(ctx,
		`UPDATE invoices SET created_offset = ?, paid_offset = ? WHERE company_id = ? AND id {in ?}`,
		offsets.created, paid, offsets.company, ids)
	return err
}

func fillPayments(ctx context.Context, tx *sqldb.Tx, offsets offsets, ids []int64) error {
	_, err := tx.Exec(
		ctx,
		`UPDATE payments SET paid_offset = ? WHERE company_id = ? AND id {in ?}`,
		offsets.paid,
		offsets.company,
		ids,
	)
	return err
}

func fillRefunds(ctx context.Context, tx *sqldb.Tx, offsets offsets, ids []int64) error {
	_, err := tx.Exec(
		ctx,
		`UPDATE payment_refunds SET refunded_offset = ? WHERE company_id = ? AND id {in ?}`,
		offsets.paid,
		offsets.company,
		ids,
	)
	return err
}
