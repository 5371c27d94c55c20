package billing

import (
	"context"
	"errors"

	"carteira/internal/account"
	"carteira/internal/customer"
	"carteira/internal/platform/sqldb"
)

var columns = `i.id, i.customer_id, c.uuid, c.name, i.generated, ` + stored.Columns("i.", "") + `,
	COALESCE(i.plan_id, 0), COALESCE(p.name, ''), COALESCE(p.value_cents, 0), COALESCE(i.product_id, 0), COALESCE(r.name, ''),
	COALESCE(i.paid_at, 0), COALESCE(i.paid_offset, 0), i.renewed_from, i.renewed_to, i.renewed_day, i.renewed_on,
	COALESCE(i.period_unit, ''), COALESCE(i.period_count, 0), i.created_at, COALESCE(i.created_offset, 0)`

const joins = ` LEFT JOIN customers c ON c.company_id = i.company_id AND c.id = i.customer_id
	LEFT JOIN customer_plans p ON p.company_id = i.company_id AND p.id = i.plan_id
	LEFT JOIN products r ON r.company_id = i.company_id AND r.id = i.product_id`

func scan(r sqldb.Row) (i Invoice, err error) {
	var paid, created int64
	var paidOffset, createdOffset int
	places := append([]any{&i.ID, &i.Customer.ID, &i.Customer.UUID, &i.Customer.Name, &i.Generated}, stored.Places(&i)...)
	err = r.Scan(append(places, &i.Plan.ID, &i.Plan.Name, (*int64)(&i.Plan.Value), &i.Product.ID, &i.Product.Name,
		&paid, &paidOffset, &i.renewal.from, &i.renewal.to, &i.renewal.ownDay, &i.renewal.on,
		(*string)(&i.Period.Unit), &i.Period.Count, &created, &createdOffset)...)
	i.PaidAt, i.CreatedAt = instantAt(paid, paidOffset), instantAt(created, createdOffset)
	return i, err
}

func byID(ctx context.Context, q sqldb.Querier, companyID, id int64) (Invoice, error) {
	i, err := sqldb.One(ctx, q, scan, `SELECT `+columns+` FROM invoices i`+joins+` WHERE i.company_id = ? AND i.id = ?`, companyID, id)
	return i, sqldb.Found(err, "invoice")
}

// lock reads an invoice and its customer for a change. The customer is locked
// first, as in every transaction that changes both.
func lock(ctx context.Context, tx *sqldb.Tx, a account.Actor, id int64) (Invoice, customer.Customer, error) {
	customerID, err := sqldb.Value[int64](ctx, tx, `SELECT customer_id FROM invoices WHERE company_id = ? AND id = ?`, a.Company.ID, id)
	if err != nil {
		return Invoice{}, customer.Customer{}, sqldb.Found(err, "invoice")
	}
	owner, err := customer.LockTx(ctx, tx, a, customerID)
	if err != nil {
		return Invoice{}, owner, sqldb.Found(sqldb.ErrNotFound, "invoice") // deleted with its customer meanwhile
	}
	_, err = sqldb.Value[int64](ctx, tx, `SELECT id FROM invoices WHERE company_id = ? AND id = ? {for update}`, a.Company.ID, id)
	if err != nil {
		return Invoice{}, owner, sqldb.Found(err, "invoice")
	}
	i, err := byID(ctx, tx, a.Company.ID, id)
	return i, owner, err
}

// rows reads the invoices of a window, newest first.
func rows(ctx context.Context, q sqldb.Querier, companyID int64, w sqldb.Window) ([]Invoice, error) {
	page, args := w.IDs()
	return sqldb.All(ctx, q, scan, `WITH page AS MATERIALIZED (`+page+`)
		SELECT `+columns+` FROM page CROSS JOIN invoices i`+joins+`
		WHERE i.id = page.id AND i.company_id = ? ORDER BY i.id DESC`, append(args, companyID)...)
}

func countRows(ctx context.Context, q sqldb.Querier, s sqldb.Source) (int64, error) {
	return sqldb.Value[int64](ctx, q, `SELECT count(*) FROM `+s.From+s.Where.String(), s.Where.Args...)
}

func ofCustomer(ctx context.Context, q sqldb.Querier, companyID, customerID int64) ([]Invoice, error) {
	return sqldb.All(ctx, q, scan, `SELECT `+columns+` FROM invoices i`+joins+`
		WHERE i.company_id = ? AND i.customer_id = ? ORDER BY i.id DESC`, companyID, customerID)
}

// generatedFor reads the invoice that was issued for a due date of a customer.
func generatedFor(ctx context.Context, q sqldb.Querier, c customer.Customer, companyID int64) (i Invoice, found bool, err error) {
	i, err = sqldb.One(ctx, q, scan, `SELECT `+columns+` FROM invoices i`+joins+`
		WHERE i.company_id = ? AND i.customer_id = ? AND i.issued_for = ? AND i.generated AND NOT i.superseded`, companyID, c.ID, c.DueOn)
	if errors.Is(err, sqldb.ErrNotFound) {
		return i, false, nil
	}
	return i, err == nil, err
}

// latest numbers the invoices of each customer, so that one statement finds
// the newest few of many.
func latest(ctx context.Context, q sqldb.Querier, companyID int64, customerIDs []int64, limit int64) ([]Invoice, error) {
	if len(customerIDs) == 0 {
		return nil, nil
	}
	args := []any{companyID, customerIDs, companyID}
	const numbered = `SELECT id, row_number() OVER (PARTITION BY customer_id ORDER BY id DESC) AS place FROM invoices
		WHERE company_id = ? AND customer_id {in ?}`
	where := ""
	if limit > 0 {
		where = ` AND page.place <= ?`
		args = append(args, limit)
	}
	return sqldb.All(ctx, q, scan, `WITH page AS MATERIALIZED (`+numbered+`)
		SELECT `+columns+` FROM page CROSS JOIN invoices i`+joins+`
		WHERE i.id = page.id AND i.company_id = ?`+where+` ORDER BY i.id DESC`, args...)
}

// What the statements have of the table of fields, made once.
var (
	fieldNames = stored.Columns("", "")
	fieldsSet  = stored.Columns("", " = ?")
)

// insert returns 0 when the customer has a generated invoice for the due date.
func insert(ctx context.Context, tx *sqldb.Tx, a account.Actor, i Invoice) (int64, error) {
	args := append([]any{a.Company.ID, i.Customer.ID, i.Generated}, stored.Values(&i)...)
	args = append(args, otherValues(i)...)
	args = append(args, i.CreatedAt.UnixMicro(), a.Today(i.CreatedAt), offsetOf(i.CreatedAt), i.CreatedAt.UnixMicro())
	id, err := sqldb.Value[int64](ctx, tx, `
		INSERT INTO invoices (company_id, customer_id, generated, `+fieldNames+`, plan_id, product_id,
			paid_at, paid_offset, renewed_from, renewed_to, renewed_day, renewed_on, period_unit, period_count,
			created_at, created_on, created_offset, updated_at)
		VALUES `+sqldb.Tuples(1, len(args))+` ON CONFLICT DO NOTHING RETURNING id`, args...)
	if errors.Is(err, sqldb.ErrNotFound) {
		return 0, nil
	}
	return id, err
}

func update(ctx context.Context, tx *sqldb.Tx, companyID int64, i Invoice) error {
	args := append(stored.Values(&i), otherValues(i)...)
	_, err := tx.Exec(ctx, `
		UPDATE invoices SET `+fieldsSet+`, plan_id = ?, product_id = ?,
			paid_at = ?, paid_offset = ?, renewed_from = ?, renewed_to = ?, renewed_day = ?, renewed_on = ?,
			period_unit = ?, period_count = ?, updated_at = ?
		WHERE company_id = ? AND id = ?`, append(args, tx.Now().UnixMicro(), companyID, i.ID)...)
	return err
}

// otherValues are what the table of fields does not store: what it is for, the
// instant of the payment, what that renewed, and the period by which it does.
func otherValues(i Invoice) []any {
	var paid, offset any
	if !i.PaidAt.IsZero() {
		paid, offset = i.PaidAt.UnixMicro(), offsetOf(i.PaidAt)
	}
	var unit any
	if i.Period.Unit != "" {
		unit = string(i.Period.Unit)
	}
	return []any{
		sqldb.RefTo(i.Plan.ID), sqldb.RefTo(i.Product.ID),
		paid, offset, i.renewal.from, i.renewal.to, i.renewal.ownDay, i.renewal.on, unit, sqldb.RefTo(int64(i.Period.Count)),
	}
}

func remove(ctx context.Context, tx *sqldb.Tx, companyID int64, ids []int64) error {
	_, err := tx.Exec(ctx, `DELETE FROM invoices WHERE company_id = ? AND id {in ?}`, companyID, ids)
	return err
}
