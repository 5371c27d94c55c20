package billing

import (
	"context"
	"errors"
	"time"

	"carteira/internal/account"
	"carteira/internal/customer"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/sqldb"
)

const columns = `i.id, i.customer_id, c.uuid, c.name, i.generated, i.status, i.amount_cents, i.description, i.due_on,
	COALESCE(i.plan_id, 0), COALESCE(p.name, ''), COALESCE(p.value_cents, 0), COALESCE(i.product_id, 0), COALESCE(r.name, ''),
	COALESCE(i.paid_at, 0), i.paid_on, i.paid_via, i.note, i.renewed_from, i.renewed_to, i.renewed_day, i.created_at`

const joins = ` LEFT JOIN customers c ON c.company_id = i.company_id AND c.id = i.customer_id
	LEFT JOIN customer_plans p ON p.company_id = i.company_id AND p.id = i.plan_id
	LEFT JOIN products r ON r.company_id = i.company_id AND r.id = i.product_id`

func scan(r sqldb.Row) (i Invoice, err error) {
	var paid, created int64
	err = r.Scan(&i.ID, &i.Customer.ID, &i.Customer.UUID, &i.Customer.Name, &i.Generated, (*string)(&i.Status), (*int64)(&i.Amount), &i.Description, &i.DueOn,
		&i.Plan.ID, &i.Plan.Name, (*int64)(&i.Plan.Value), &i.Product.ID, &i.Product.Name,
		&paid, &i.PaidOn, &i.PaidVia, &i.Note, &i.renewal.from, &i.renewal.to, &i.renewal.ownDay, &created)
	if paid != 0 {
		i.PaidAt = time.UnixMicro(paid)
	}
	i.CreatedAt = time.UnixMicro(created)
	return i, err
}

func byID(ctx context.Context, q sqldb.Querier, companyID, id int64) (Invoice, error) {
	i, err := sqldb.One(ctx, q, scan, `SELECT `+columns+` FROM invoices i`+joins+` WHERE i.company_id = ? AND i.id = ?`, companyID, id)
	return i, sqldb.Found(err, "invoice")
}

// lock reads an invoice and its customer for a change. The customer is locked
// first, as everybody does who changes both.
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

// insert returns 0 when the customer has a generated invoice for the due date.
func insert(ctx context.Context, tx *sqldb.Tx, a account.Actor, i Invoice) (int64, error) {
	id, err := sqldb.Value[int64](ctx, tx, `
		INSERT INTO invoices (company_id, customer_id, generated, status, amount_cents, description, due_on, plan_id, product_id,
			paid_via, note, renewed_day, created_at, created_on, updated_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, '', '', 0, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING id`,
		a.Company.ID, i.Customer.ID, i.Generated, string(i.Status), int64(i.Amount), i.Description, i.DueOn,
		sqldb.RefTo(i.Plan.ID), sqldb.RefTo(i.Product.ID), i.CreatedAt.UnixMicro(), a.Today(i.CreatedAt), i.CreatedAt.UnixMicro())
	if errors.Is(err, sqldb.ErrNotFound) {
		return 0, nil
	}
	return id, err
}

func update(ctx context.Context, tx *sqldb.Tx, companyID int64, i Invoice) error {
	var paid sqldb.Ref
	if !i.PaidAt.IsZero() {
		paid = sqldb.RefTo(i.PaidAt.UnixMicro())
	}
	_, err := tx.Exec(ctx, `
		UPDATE invoices SET status = ?, paid_at = ?, paid_on = ?, paid_via = ?, note = ?,
			renewed_from = ?, renewed_to = ?, renewed_day = ?, updated_at = ?
		WHERE company_id = ? AND id = ?`,
		string(i.Status), paid, i.PaidOn, i.PaidVia, i.Note,
		i.renewal.from, i.renewal.to, i.renewal.ownDay, tx.Now().UnixMicro(), companyID, i.ID)
	return err
}

func removeOf(ctx context.Context, tx *sqldb.Tx, companyID, customerID int64) error {
	_, err := tx.Exec(ctx, `DELETE FROM invoices WHERE company_id = ? AND customer_id = ?`, companyID, customerID)
	return err
}

func schedule(ctx context.Context, tx *sqldb.Tx, companyID int64, customers ...customer.Customer) error {
	for piece := range sqldb.Pieces(customers) {
		var values []any
		for _, c := range piece {
			values = append(values, companyID, c.ID, c.DueOn)
		}
		_, err := tx.Exec(ctx, `
			INSERT INTO invoice_schedule (company_id, customer_id, due_on) VALUES `+sqldb.Tuples(len(piece), len(values)/len(piece))+`
			ON CONFLICT (company_id, customer_id) DO UPDATE SET due_on = excluded.due_on`, values...)
		if err != nil {
			return err
		}
	}
	return nil
}

func unschedule(ctx context.Context, tx *sqldb.Tx, companyID, customerID int64) error {
	_, err := tx.Exec(ctx, `DELETE FROM invoice_schedule WHERE company_id = ? AND customer_id = ?`, companyID, customerID)
	return err
}

// anyScheduled keeps a run with nothing due away from the writer.
func anyScheduled(ctx context.Context, q sqldb.Querier, companyID int64, until civil.Date) (bool, error) {
	n, err := sqldb.Value[int64](ctx, q, anyScheduledText, companyID, until)
	return n > 0, err
}

// The order keeps PostgreSQL from the table even where it expects many.
const anyScheduledText = `SELECT count(*) FROM (
	SELECT customer_id FROM invoice_schedule WHERE company_id = ? AND due_on <= ? ORDER BY due_on, customer_id LIMIT 1) AS due`

// scheduled locks customers who are to be billed, passing over those that
// another process is billing or that somebody is changing. Locking the schedule
// alone would wait for a change that waits for the schedule.
func scheduled(ctx context.Context, tx *sqldb.Tx, companyID int64, until civil.Date, limit int) ([]int64, error) {
	return sqldb.Values[int64](ctx, tx, scheduledText, companyID, until, limit)
}

const scheduledText = `SELECT s.customer_id FROM invoice_schedule s CROSS JOIN customers c
	WHERE s.company_id = ? AND s.due_on <= ? AND c.company_id = s.company_id AND c.id = s.customer_id
	ORDER BY s.due_on, s.customer_id LIMIT ? {for update skip locked}`
