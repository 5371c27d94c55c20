package customer

import (
	"context"
	"errors"
	"slices"
	"time"

	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/text"
)

// columns are those of a record; scanner reads them in this order.
var columns = `c.id, c.uuid, ` + stored.Columns("c.", "") + `, c.own_day,
	COALESCE(c.plan_id, 0), COALESCE(p.name, ''), COALESCE(p.value_cents, 0),
	COALESCE(p.period_unit, ''), COALESCE(p.period_count, 0),
	COALESCE(c.product_id, 0), COALESCE(r.name, ''), c.created_at, NULLIF(c.created_on, ''), c.created_offset, c.expiry_on, c.expired,
	COALESCE(c.cancelled_at, 0), c.updated_at, c.mrr_cents, c.mrr_month, c.mrr_start_cents, c.mrr_start_plan, c.mrr_start_product`

const joins = ` LEFT JOIN customer_plans p ON p.company_id = c.company_id AND p.id = c.plan_id
	LEFT JOIN products r ON r.company_id = c.company_id AND r.id = c.product_id`

func scan(r sqldb.Row) (Customer, error) { return scanner()(r) }

// scanner reads one row after the other with what it allocates once: a list of
// fifty makes a quarter less garbage.
func scanner() func(sqldb.Row) (Customer, error) {
	var c Customer
	var created, cancelled, updated int64
	places := slices.Concat([]any{&c.ID, &c.UUID}, stored.Places(&c), []any{
		&c.OwnDay, &c.Plan.ID, &c.Plan.Name, (*int64)(&c.Plan.Value), (*string)(&c.period.Unit), &c.period.Count,
		&c.Product.ID, &c.Product.Name,
		&created, &c.CreatedOn, &c.createdOffset, &c.expiry.on, &c.expiry.expired, &cancelled, &updated,
	}, c.recurring.places())
	return func(r sqldb.Row) (Customer, error) {
		err := r.Scan(places...)
		c.CreatedAt, c.UpdatedAt, c.CancelledAt = time.UnixMicro(created), time.UnixMicro(updated), time.Time{}
		if cancelled != 0 {
			c.CancelledAt = time.UnixMicro(cancelled)
		}
		return c, err
	}
}

func byID(ctx context.Context, q sqldb.Querier, companyID, id int64) (Customer, error) {
	c, err := sqldb.One(ctx, q, scan, `SELECT `+columns+` FROM customers c`+joins+` WHERE c.company_id = ?
		AND c.id = ? AND {visible c.id}`, companyID, id)
	return c, sqldb.Found(err, "customer")
}

func companyOf(ctx context.Context, q sqldb.Querier, id int64) (int64, error) {
	companyID, err := sqldb.Value[int64](ctx, q, `SELECT company_id FROM customers WHERE id = ? AND {visible id}`, id)
	return companyID, sqldb.Found(err, "customer")
}

// lock reads a customer for a change: until the commit nobody else changes it.
// The row is locked first and read after, so that what is read is the newest.
func lock(ctx context.Context, tx *sqldb.Tx, companyID, id int64) (Customer, error) {
	_, err := sqldb.Value[int64](ctx, tx, `SELECT id FROM customers WHERE company_id = ? AND id = ?
		AND {visible id} {for update}`, companyID, id)
	if err != nil {
		return Customer{}, sqldb.Found(err, "customer")
	}
	return byID(ctx, tx, companyID, id)
}

// rows reads the customers of a window, newest first. CROSS JOIN makes SQLite
// begin with the ids; left to itself it reads all customers of the company.
func rows(ctx context.Context, q sqldb.Querier, companyID int64, w sqldb.Window) ([]Customer, error) {
	page, args := w.IDs()
	return sqldb.All(ctx, q, scanner(), `WITH page AS MATERIALIZED (`+page+`)
		SELECT `+columns+` FROM page CROSS JOIN customers c`+joins+`
		WHERE c.id = page.id AND c.company_id = ? ORDER BY c.id DESC`, append(args, companyID)...)
}

func countRows(ctx context.Context, q sqldb.Querier, s sqldb.Source) (int64, error) {
	return sqldb.Value[int64](ctx, q, `SELECT count(*) FROM `+s.From+s.Where.String(), s.Where.Args...)
}

// insertInto names the columns of insertArgs. A customer whose id was reserved
// brings it along.
var insertInto = `INSERT INTO customers (` + insertColumns

var insertReserved = `INSERT INTO customers (id, ` + insertColumns

var insertColumns = `company_id, uuid, ` + stored.Columns("", "") + `,
	own_day, usuario_key, plan_id, product_id, search, created_at, created_on, created_offset, updated_at,
	expiry_on, expired, cancelled_at,
	mrr_cents, mrr_month, mrr_start_cents, mrr_start_plan, mrr_start_product) VALUES `

// insertArgs are the arguments of insertInto.
func insertArgs(companyID int64, c Customer) []any {
	return slices.Concat([]any{companyID, c.UUID}, stored.Values(&c), []any{
		c.OwnDay, text.Lower(c.Usuario), sqldb.RefTo(c.Plan.ID), sqldb.RefTo(c.Product.ID), searchText(c),
		c.CreatedAt.UnixMicro(), c.CreatedOn.String(), c.createdOffset, c.UpdatedAt.UnixMicro(), c.expiry.on, c.expiry.expired,
		cancelledAt(c),
	}, c.recurring.values())
}

// cancelledAt is the column's value; NULL: not cancelled.
func cancelledAt(c Customer) any {
	if !c.IsCancelled() {
		return nil
	}
	return c.CancelledAt.UnixMicro()
}

// insert returns 0 when another customer has the login or the key.
func insert(ctx context.Context, tx *sqldb.Tx, companyID int64, c Customer) (int64, error) {
	values := insertArgs(companyID, c)
	id, err := sqldb.Value[int64](ctx, tx, insertInto+sqldb.Tuples(1, len(values))+` ON CONFLICT DO NOTHING RETURNING id`, values...)
	if errors.Is(err, sqldb.ErrNotFound) {
		return 0, nil
	}
	return id, err
}

// insertMany returns the ids by uuid, since engines promise no order of what
// they return. A customer whose login or key another one has is not in them.
// Either all have a reserved id or none has.
func insertMany(ctx context.Context, tx *sqldb.Tx, companyID int64, customers []Customer) (map[string]int64, error) {
	ids := make(map[string]int64, len(customers))
	for piece := range sqldb.Pieces(customers) {
		into := insertInto
		var values []any
		for _, c := range piece {
			if c.ID != 0 {
				into = insertReserved
				values = append(values, c.ID)
			}
			values = append(values, insertArgs(companyID, c)...)
		}
		err := sqldb.Each(ctx, tx, into+sqldb.Tuples(len(piece), len(values)/len(piece))+` ON CONFLICT DO NOTHING RETURNING id, uuid`,
			values, func(r sqldb.Row) error {
				var id int64
				var uuid string
				err := r.Scan(&id, &uuid)
				ids[uuid] = id
				return err
			})
		if err != nil {
			return nil, err
		}
	}
	return ids, nil
}

var updateText = `UPDATE customers SET ` + stored.Columns("", " = ?") + `,
	own_day = ?, usuario_key = ?, plan_id = ?, product_id = ?, search = ?, updated_at = ?, expiry_on = ?, expired = ?, cancelled_at = ?,
	mrr_cents = ?, mrr_month = ?, mrr_start_cents = ?, mrr_start_plan = ?, mrr_start_product = ?
	WHERE company_id = ? AND id = ?`

func update(ctx context.Context, tx *sqldb.Tx, companyID int64, c Customer) error {
	_, err := tx.Exec(ctx, updateText, slices.Concat(stored.Values(&c), []any{
		c.OwnDay, text.Lower(c.Usuario), sqldb.RefTo(c.Plan.ID), sqldb.RefTo(c.Product.ID), searchText(c), c.UpdatedAt.UnixMicro(),
		c.expiry.on, c.expiry.expired, cancelledAt(c),
	}, c.recurring.values(), []any{companyID, c.ID})...)
	return err
}

func remove(ctx context.Context, tx *sqldb.Tx, companyID, id int64) error {
	_, err := tx.Exec(ctx, `DELETE FROM customers WHERE company_id = ? AND id = ?`, companyID, id)
	return err
}

// taken reports whether another customer has c's login or key, be it one that
// an import has staged. It takes one
// look: of a change between two, the second would see only half.
func taken(ctx context.Context, q sqldb.Querier, companyID int64, c Customer) (usuario, external bool, err error) {
	err = sqldb.Each(ctx, q, `SELECT
		(SELECT count(*) FROM customers WHERE company_id = ? AND usuario_key = ? AND usuario_key <> '' AND id <> ?),
		(SELECT count(*) FROM customers WHERE company_id = ? AND external_id = ? AND external_id <> '' AND id <> ?)`,
		[]any{companyID, text.Lower(c.Usuario), c.ID, companyID, c.ExternalID, c.ID}, func(r sqldb.Row) error {
			var logins, keys int64
			err := r.Scan(&logins, &keys)
			usuario, external = logins > 0, keys > 0
			return err
		})
	return usuario, external, err
}

// existing returns which of the values are already taken in a unique column, be
// it by a customer that an import has staged.
func existing(ctx context.Context, q sqldb.Querier, companyID int64, column string, values []string) (map[string]bool, error) {
	list, err := sqldb.Values[string](ctx, q, `
		SELECT `+column+` FROM customers WHERE company_id = ? AND `+column+` <> '' AND `+column+` {in ?}`, companyID, values)
	found := make(map[string]bool, len(list))
	for _, v := range list {
		found[v] = true
	}
	return found, err
}

// eachCustom reads the company's own fields of every customer that has some.
func eachCustom(ctx context.Context, q sqldb.Querier, companyID int64, visit func(Custom)) error {
	return sqldb.Each(ctx, q, `SELECT DISTINCT custom FROM customers WHERE company_id = ? AND custom <> ''
		AND {visible id}`, []any{companyID},
		func(r sqldb.Row) error {
			var custom string
			if err := r.Scan(&custom); err != nil {
				return err
			}
			visit(Custom(custom))
			return nil
		})
}
