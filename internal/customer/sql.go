package customer

import (
	"context"
	"errors"
	"time"

	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/text"
)

const columns = `c.id, c.uuid, c.name, c.whatsapp, c.email, c.usuario, c.due_on, c.own_day,
	COALESCE(c.plan_id, 0), COALESCE(p.name, ''), COALESCE(p.value_cents, 0),
	COALESCE(c.product_id, 0), COALESCE(r.name, ''),
	c.notes, c.external_id, c.created_at, c.updated_at`

const joins = ` LEFT JOIN customer_plans p ON p.company_id = c.company_id AND p.id = c.plan_id
	LEFT JOIN products r ON r.company_id = c.company_id AND r.id = c.product_id`

func scan(r sqldb.Row) (c Customer, err error) {
	var created, updated int64
	err = r.Scan(&c.ID, &c.UUID, &c.Name, &c.Whatsapp, &c.Email, &c.Usuario, &c.DueOn, &c.OwnDay,
		&c.Plan.ID, &c.Plan.Name, (*int64)(&c.Plan.Value), &c.Product.ID, &c.Product.Name,
		&c.Notes, &c.ExternalID, &created, &updated)
	c.CreatedAt, c.UpdatedAt = time.UnixMicro(created), time.UnixMicro(updated)
	return c, err
}

func byID(ctx context.Context, q sqldb.Querier, companyID, id int64) (Customer, error) {
	c, err := sqldb.One(ctx, q, scan, `SELECT `+columns+` FROM customers c`+joins+` WHERE c.company_id = ? AND c.id = ?`, companyID, id)
	return c, sqldb.Found(err, "customer")
}

// lock reads a customer for a change: until the commit nobody else changes it.
// The row is locked first and read after, so that what is read is the newest.
func lock(ctx context.Context, tx *sqldb.Tx, companyID, id int64) (Customer, error) {
	_, err := sqldb.Value[int64](ctx, tx, `SELECT id FROM customers WHERE company_id = ? AND id = ? {for update}`, companyID, id)
	if err != nil {
		return Customer{}, sqldb.Found(err, "customer")
	}
	return byID(ctx, tx, companyID, id)
}

// rows reads the customers of a window, newest first. CROSS JOIN makes SQLite
// begin with the ids; left to itself it reads all customers of the company.
func rows(ctx context.Context, q sqldb.Querier, companyID int64, w window) ([]Customer, error) {
	direction := " DESC"
	if !w.descending {
		direction = " ASC"
	}
	args := append(append([]any{}, w.Where.Args...), w.limit, w.offset, companyID)
	return sqldb.All(ctx, q, scan, `
		WITH page AS MATERIALIZED (
			SELECT c.id FROM `+w.From+w.Where.String()+` ORDER BY `+w.Order+direction+` LIMIT CAST(? AS BIGINT) OFFSET CAST(? AS BIGINT)
		)
		SELECT `+columns+` FROM page CROSS JOIN customers c`+joins+`
		WHERE c.id = page.id AND c.company_id = ? ORDER BY c.id DESC`, args...)
}

func countRows(ctx context.Context, q sqldb.Querier, s sqldb.Source) (int64, error) {
	return sqldb.Value[int64](ctx, q, `SELECT count(*) FROM `+s.From+s.Where.String(), s.Where.Args...)
}

// insert returns 0 when another customer has the login or the key.
func insert(ctx context.Context, tx *sqldb.Tx, companyID int64, c Customer) (int64, error) {
	id, err := sqldb.Value[int64](ctx, tx, `
		INSERT INTO customers (company_id, uuid, name, whatsapp, email, usuario, usuario_key, external_id,
			due_on, own_day, plan_id, product_id, notes, search, created_at, updated_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING id`,
		companyID, c.UUID, c.Name, c.Whatsapp, c.Email, c.Usuario, text.Lower(c.Usuario), c.ExternalID,
		c.DueOn, c.OwnDay, sqldb.RefTo(c.Plan.ID), sqldb.RefTo(c.Product.ID), c.Notes, searchText(c),
		c.CreatedAt.UnixMicro(), c.UpdatedAt.UnixMicro())
	if errors.Is(err, sqldb.ErrNotFound) {
		return 0, nil
	}
	return id, err
}

func update(ctx context.Context, tx *sqldb.Tx, companyID int64, c Customer) error {
	_, err := tx.Exec(ctx, `
		UPDATE customers SET name = ?, whatsapp = ?, email = ?, usuario = ?, usuario_key = ?, external_id = ?,
			due_on = ?, own_day = ?, plan_id = ?, product_id = ?, notes = ?, search = ?, updated_at = ?
		WHERE company_id = ? AND id = ?`,
		c.Name, c.Whatsapp, c.Email, c.Usuario, text.Lower(c.Usuario), c.ExternalID,
		c.DueOn, c.OwnDay, sqldb.RefTo(c.Plan.ID), sqldb.RefTo(c.Product.ID), c.Notes, searchText(c), c.UpdatedAt.UnixMicro(),
		companyID, c.ID)
	return err
}

func remove(ctx context.Context, tx *sqldb.Tx, companyID, id int64) error {
	_, err := tx.Exec(ctx, `DELETE FROM customers WHERE company_id = ? AND id = ?`, companyID, id)
	return err
}

// taken reports whether another customer has c's login or key.
func taken(ctx context.Context, q sqldb.Querier, companyID int64, c Customer) (usuario, external bool, err error) {
	has := func(column, value string) (bool, error) {
		if value == "" {
			return false, nil
		}
		n, err := sqldb.Value[int64](ctx, q, `
			SELECT count(*) FROM customers WHERE company_id = ? AND `+column+` = ? AND `+column+` <> '' AND id <> ?`,
			companyID, value, c.ID)
		return n > 0, err
	}
	if usuario, err = has("usuario_key", text.Lower(c.Usuario)); err != nil {
		return false, false, err
	}
	external, err = has("external_id", c.ExternalID)
	return usuario, external, err
}
