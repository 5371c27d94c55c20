package billing

import (
	"context"
	"errors"
	"slices"
	"strings"

	"carteira/internal/account"
	"carteira/internal/customer"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/money"
	"carteira/internal/platform/rows"
	"carteira/internal/platform/sqldb"
)

var columns = `i.id, i.customer_id, c.uuid, c.name, c.whatsapp, c.email, c.external_id, i.generated, ` + stored.Columns("i.", "") + `,
	COALESCE(i.plan_id, 0), COALESCE(p.name, ''), COALESCE(p.value_cents, 0), COALESCE(i.product_id, 0), COALESCE(r.name, ''),
	COALESCE(i.paid_at, 0), COALESCE(i.paid_offset, 0), i.renewed_from, i.renewed_to, i.renewed_day, i.renewed_on,
	COALESCE(i.period_unit, ''), COALESCE(i.period_count, 0), i.created_at, COALESCE(i.created_offset, 0), i.updated_at`

const joins = ` LEFT JOIN customers c ON c.company_id = i.company_id AND c.id = i.customer_id
	LEFT JOIN customer_plans p ON p.company_id = i.company_id AND p.id = i.plan_id
	LEFT JOIN products r ON r.company_id = i.company_id AND r.id = i.product_id`

func scan(row sqldb.Row) (invoice Invoice, err error) {
	var paid, created int64
	var paidOffset, createdOffset int
	places := append(
		[]any{
			&invoice.ID, &invoice.Customer.ID, &invoice.Customer.UUID, &invoice.Customer.Name,
			&invoice.Customer.Whatsapp, &invoice.Customer.Email, &invoice.Customer.ExternalID, &invoice.Generated,
		},
		stored.Places(&invoice)...,
	)
	err = row.Scan(append(places, &invoice.Plan.ID, &invoice.Plan.Name, (*int64)(&invoice.Plan.Value),
		&invoice.Product.ID, &invoice.Product.Name, &paid, &paidOffset, &invoice.renewal.from, &invoice.renewal.to,
		&invoice.renewal.ownDay, &invoice.renewal.on, (*string)(&invoice.Period.Unit), &invoice.Period.Count, &created,
		&createdOffset, (*civil.Instant)(&invoice.UpdatedAt))...)
	invoice.PaidAt, invoice.CreatedAt = instantAt(paid, paidOffset), instantAt(created, createdOffset)
	return invoice, err
}

func byID(ctx context.Context, querier sqldb.Querier, companyID, id int64) (Invoice, error) {
	return sqldb.Find(ctx, querier, "invoice", scan,
		`SELECT `+columns+` FROM invoices i`+joins+` WHERE i.company_id = ? AND i.id = ?`, companyID, id)
}

// lock reads an invoice and its customer for a change. The customer is locked
// first, as in every transaction that changes both.
func lock(ctx context.Context, tx account.Tx, id int64) (Invoice, customer.Customer, error) {
	customerID, err := sqldb.Value[int64](ctx, tx, `SELECT customer_id FROM invoices WHERE company_id = ? AND id = ?`,
		tx.Company.ID, id)
	if err != nil {
		return Invoice{}, customer.Customer{}, sqldb.Found(err, "invoice")
	}
	owner, err := customer.LockTx(ctx, tx, customerID)
	if err != nil {
		return Invoice{}, owner, sqldb.Found(sqldb.ErrNotFound, "invoice") // deleted with its customer meanwhile
	}
	_, err = sqldb.Value[int64](ctx, tx, `SELECT id FROM invoices WHERE company_id = ? AND id = ? {for update}`,
		tx.Company.ID, id)
	if err != nil {
		return Invoice{}, owner, sqldb.Found(err, "invoice")
	}
	invoice, err := byID(ctx, tx, tx.Company.ID, id)
	return invoice, owner, err
}

func ofCustomer(ctx context.Context, querier sqldb.Querier, companyID, customerID int64) ([]Invoice, error) {
	return sqldb.All(ctx, querier, scan, `SELECT `+columns+` FROM invoices i`+joins+`
		WHERE i.company_id = ? AND i.customer_id = ? ORDER BY i.id DESC`, companyID, customerID)
}

// generatedFor reads the invoice that was issued for a due date of a customer.
func generatedFor(
	ctx context.Context, querier sqldb.Querier, record customer.Customer, companyID int64,
) (invoice Invoice, found bool, err error) {
	invoice, err = sqldb.One(ctx, querier, scan, `SELECT `+columns+` FROM invoices i`+joins+`
		WHERE i.company_id = ? AND i.customer_id = ? AND i.issued_for = ? AND i.generated AND NOT i.superseded`,
		companyID, record.ID, record.DueOn)
	if errors.Is(err, sqldb.ErrNotFound) {
		return invoice, false, nil
	}
	return invoice, err == nil, err
}

// latest numbers the invoices of each customer, so that one statement finds
// the newest few of many.
func latest(
	ctx context.Context, querier sqldb.Querier, companyID int64, customerIDs []int64, limit int64,
) ([]Invoice, error) {
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
	return sqldb.All(ctx, querier, scan, `WITH page AS MATERIALIZED (`+numbered+`)
		SELECT `+columns+` FROM page CROSS JOIN invoices i`+joins+`
		WHERE i.id = page.id AND i.company_id = ?`+where+` ORDER BY i.id DESC`, args...)
}

// What the statements have of the table of fields, made once: an invoice would else
// put its own together in the writer's turn.
var (
	fieldNames = stored.Columns("", "")
	fieldsSet  = stored.Columns("", " = ?")

	insertColumns = `company_id, customer_id, generated, ` + fieldNames + `, plan_id, product_id,
		paid_at, paid_offset, renewed_from, renewed_to, renewed_day, renewed_on, period_unit, period_count,
		created_at, created_on, created_offset, updated_at`
	insertOne = `INSERT INTO invoices (` + insertColumns + `) VALUES ` +
		sqldb.Tuples(1, strings.Count(insertColumns, ",")+1) + ` ON CONFLICT DO NOTHING`
)

// insert returns 0 when the customer has a generated invoice for the due date.
func insert(ctx context.Context, tx account.Tx, invoice Invoice) (int64, error) {
	return sqldb.InsertID(ctx, tx.Tx, insertOne, slices.Concat(
		[]any{tx.Company.ID, invoice.Customer.ID, invoice.Generated},
		stored.Values(&invoice),
		otherValues(invoice),
		[]any{
			invoice.CreatedAt.UnixMicro(), tx.Today(invoice.CreatedAt), offsetOf(invoice.CreatedAt),
			invoice.UpdatedAt.UnixMicro(),
		},
	)...)
}

// updateRow writes an invoice that changes. Two that change the due dates that they
// renew leave each other room on the way: no date has two invoices.
func updateRow(ctx context.Context, tx account.Tx, change Change) error {
	const move = `UPDATE invoices SET issued_for = ? WHERE company_id = ? AND id = ?`
	if change.turnOf == 0 {
		return update(ctx, tx, change.After)
	}
	if _, err := tx.Exec(ctx, move, nil, tx.Company.ID, change.turnOf); err != nil {
		return err
	}
	if err := update(ctx, tx, change.After); err != nil {
		return err
	}
	return tx.Do(ctx, move, change.Before.IssuedFor, tx.Company.ID, change.turnOf)
}

func update(ctx context.Context, tx account.Tx, invoice Invoice) error {
	args := append(stored.Values(&invoice), otherValues(invoice)...)
	return tx.Do(ctx, `
		UPDATE invoices SET `+fieldsSet+`, plan_id = ?, product_id = ?,
			paid_at = ?, paid_offset = ?, renewed_from = ?, renewed_to = ?, renewed_day = ?, renewed_on = ?,
			period_unit = ?, period_count = ?, updated_at = ?
		WHERE company_id = ? AND id = ?`, append(args, invoice.UpdatedAt.UnixMicro(), tx.Company.ID, invoice.ID)...)
}

// otherValues are what the table of fields does not store: what it is for, the
// instant of the payment, what that renewed, and the period by which it does.
func otherValues(invoice Invoice) []any {
	var paid, offset any
	if !invoice.PaidAt.IsZero() {
		paid, offset = invoice.PaidAt.UnixMicro(), offsetOf(invoice.PaidAt)
	}
	var unit any
	if invoice.Period.Unit != "" {
		unit = string(invoice.Period.Unit)
	}
	return []any{
		sqldb.RefTo(invoice.Plan.ID), sqldb.RefTo(invoice.Product.ID),
		paid, offset, invoice.renewal.from, invoice.renewal.to, invoice.renewal.ownDay,
		invoice.renewal.on, unit, sqldb.RefTo(int64(invoice.Period.Count)),
	}
}

// monthColumns are what the figures of past months need of an invoice.
const monthColumns = `company_id, id, plan_id, status, amount_cents, created_on, due_on, paid_on, paid_via, late_fee_cents,
	late_interest_cents, discount_cents, given_cents, taken_off_cents, written_off_cents, written_off_on`

// remove deletes invoices, but for what months that have passed are made of.
func remove(ctx context.Context, tx account.Tx, ids []int64) error {
	err := tx.Do(ctx, `INSERT INTO deleted_invoices (`+monthColumns+`, deleted_on)
		SELECT `+monthColumns+`, CAST(? AS TEXT) FROM invoices WHERE company_id = ? AND id {in ?}`, tx.Today(tx.Now()), tx.Company.ID, ids)
	if err != nil {
		return err
	}
	return tx.Do(ctx, `DELETE FROM invoices WHERE company_id = ? AND id {in ?}`, tx.Company.ID, ids)
}

func insertScheduled(ctx context.Context, tx account.Tx, customers []customer.Customer) error {
	for piece := range sqldb.Pieces(customers) {
		var values []any
		for _, record := range piece {
			values = append(values, tx.Company.ID, record.ID, record.DueOn)
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

// insertRepriced puts the due dates of a plan's customers on the schedule,
// except of those who have a price of their own.
func insertRepriced(ctx context.Context, tx *sqldb.Tx, of customer.Repriced) error {
	return tx.Do(ctx, `
		INSERT INTO invoice_schedule (company_id, customer_id, due_on)
		SELECT company_id, id, due_on FROM customers
		WHERE company_id = ? AND plan_id = ? AND id BETWEEN ? AND ? AND due_on IS NOT NULL AND cancelled_at IS NULL
			AND price_cents IS NULL AND `+customer.Visible+`
		ON CONFLICT (company_id, customer_id) DO UPDATE SET due_on = excluded.due_on`,
		of.Actor.Company.ID, of.PlanID, of.From, of.To)
}

func unschedule(ctx context.Context, tx account.Tx, customerID int64) error {
	return tx.Do(ctx, `DELETE FROM invoice_schedule WHERE company_id = ? AND customer_id = ?`, tx.Company.ID, customerID)
}

// The order keeps PostgreSQL from the table even where it expects many.
const anyScheduledText = `SELECT count(*) FROM (
	SELECT customer_id FROM invoice_schedule WHERE company_id = ? AND due_on <= ? ORDER BY due_on, customer_id LIMIT 1) AS due`

const withScheduledText = `SELECT DISTINCT company_id FROM invoice_schedule
	WHERE company_id {in ?} AND due_on <= ? /* every company_id */`

// scheduled locks customers who are to be billed, and skips those that another
// transaction is billing or changing. The rows of the schedule are not locked:
// who writes one has locked its customer, and two locks taken in one statement
// would leave the first behind where the second is not to be had.
func scheduled(ctx context.Context, tx account.Tx, until civil.Date, limit int) ([]int64, error) {
	return sqldb.Values[int64](ctx, tx, scheduledText, tx.Company.ID, until, limit)
}

const scheduledText = `SELECT s.customer_id FROM invoice_schedule s CROSS JOIN customers c
	WHERE s.company_id = ? AND s.due_on <= ? AND c.company_id = s.company_id AND c.id = s.customer_id
	ORDER BY s.due_on, s.customer_id LIMIT ? {for update of c skip locked}`

// addDebtor adds a customer to the debtors; added is false when it is one.
func addDebtor(
	ctx context.Context, tx account.Tx, customerID int64, since civil.Date,
) (debtor debtor, added bool, err error) {
	debtor, err = sqldb.One(ctx, tx, scanDebtor, `
		INSERT INTO debtors (company_id, customer_id, since, plan_id, product_id)
		SELECT company_id, id, ?, COALESCE(plan_id, 0), COALESCE(product_id, 0) FROM customers
		WHERE company_id = ? AND id = ? AND `+customer.Visible+`
		ON CONFLICT DO NOTHING RETURNING since, plan_id, product_id`, since.String(), tx.Company.ID,
		customerID)
	if errors.Is(err, sqldb.ErrNotFound) {
		return debtor, false, nil
	}
	return debtor, err == nil, err
}

func appendDebtor(ctx context.Context, tx account.Tx, customerID int64, first debtor) error {
	return tx.Queue(ctx, `INSERT INTO debtors (company_id, customer_id, since, plan_id, product_id) VALUES (?, ?, ?, ?, ?)`,
		tx.Company.ID, customerID, first.since.String(), first.planID, first.productID)
}

func scanDebtor(row sqldb.Row) (debtor debtor, err error) {
	err = row.Scan(&debtor.since, &debtor.planID, &debtor.productID)
	return debtor, err
}

// debtorByID returns the zero debtor for a customer who is none.
func debtorByID(ctx context.Context, tx account.Tx, customerID int64) (debtor, error) {
	d, err := sqldb.One(ctx, tx, scanDebtor, `
		SELECT since, plan_id, product_id FROM debtors WHERE company_id = ? AND customer_id = ? {for update}`,
		tx.Company.ID, customerID)
	if errors.Is(err, sqldb.ErrNotFound) {
		return debtor{}, nil
	}
	return d, err
}

func updateDebtor(ctx context.Context, tx account.Tx, customerID int64, debtor debtor) error {
	return tx.Do(ctx,
		`UPDATE debtors SET since = ?, plan_id = ?, product_id = ? WHERE company_id = ? AND customer_id = ?`,
		debtor.since.String(), debtor.planID, debtor.productID, tx.Company.ID, customerID)
}

func removeDebtor(ctx context.Context, tx account.Tx, customerID int64) error {
	return tx.Do(ctx, `DELETE FROM debtors WHERE company_id = ? AND customer_id = ?`, tx.Company.ID, customerID)
}

// sumRows adds up what invoices are worth, as the counter of invoices does.
func sumRows(ctx context.Context, querier sqldb.Querier, companyID int64, where sqldb.Where) (int64, error) {
	where.And("i.company_id = ?", companyID)
	return sqldb.Value[int64](ctx, querier, `SELECT COALESCE(SUM(CASE WHEN i.status <> 'open' THEN i.amount_cents
		WHEN i.amount_cents > i.received_cents THEN i.amount_cents - i.received_cents ELSE 0 END), 0)
		FROM invoices i`+where.String(), where.Args...)
}

// overdueText goes by the customers. Status and day are written as expressions,
// or SQLite would read all that the company's customers owe for those of a page.
const overdueText = `SELECT customer_id, CAST(SUM(amount_cents - received_cents) AS BIGINT) FROM invoices
	WHERE company_id = ? AND customer_id {in ?} AND status || '' = 'open' AND due_on || '' < ? AND amount_cents > received_cents
	GROUP BY customer_id`

// overdueOf adds up, by customer, what is open past its day.
func overdueOf(
	ctx context.Context, querier sqldb.Querier, companyID int64, customerIDs []int64, today civil.Date,
) (map[int64]money.Cents, error) {
	type debt struct{ customer, cents int64 }
	list, err := sqldb.All(ctx, querier, rows.Into(func(owed *debt) []any {
		return []any{&owed.customer, &owed.cents}
	}), overdueText, companyID, customerIDs, today.String())
	owed := make(map[int64]money.Cents, len(list))
	for _, debt := range list {
		owed[debt.customer] = money.Cents(debt.cents)
	}
	return owed, err
}
