package customer

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"carteira/internal/account"
	"carteira/internal/figures"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/money"
	"carteira/internal/platform/rows"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/text"
)

// Visible and VisibleC are the condition on a column id, or c.id, that a customer
// is none that an import on SQLite has staged. It is no range that an index could
// be searched by, so no plan changes with it; all indexes hold the id. On
// PostgreSQL an import is one transaction.
const (
	Visible  = "{id" + notStaged + " | TRUE}"
	VisibleC = "{c.id" + notStaged + " | TRUE}"

	notStaged = " NOT BETWEEN (SELECT hidden_from FROM customer_staging WHERE id = 1)" +
		" AND (SELECT hidden_to FROM customer_staging WHERE id = 1)"
)

// visible is the same condition on any column.
func visible(id string) string { return "{" + id + notStaged + " | TRUE}" }

// listColumns are those of a record with its plan and its product, and columns are
// also those that only changes need: a list without them costs an eighth less.
var (
	listColumns = `c.id, c.uuid, ` + stored.Columns("c.", "") + `, c.own_day, c.plan_id, c.product_id,
	c.created_at, c.created_offset, c.cancelled_at, c.updated_at, c.autopay, c.credit_cents, c.expiry_on,
	COALESCE(p.name, ''), COALESCE(p.value_cents, 0), COALESCE(p.period_unit, ''), COALESCE(p.period_count, 0), COALESCE(r.name, '')`
	columns = listColumns + `, c.expired, c.mrr_cents, c.mrr_month, c.mrr_start_cents, c.mrr_start_plan, c.mrr_start_product`
)

const joins = ` LEFT JOIN customer_plans p ON p.company_id = c.company_id AND p.id = c.plan_id
	LEFT JOIN products r ON r.company_id = c.company_id AND r.id = c.product_id`

// scanListed reads one row of listColumns, and scanJoined one of columns.
var scanListed, scanJoined = pooled(Customer{listed: true}), pooled(Customer{})

// pooled reads one row into a copy of blank, with what others have allocated.
func pooled(blank Customer) func(sqldb.Row) (Customer, error) {
	idle := sync.Pool{New: func() any { return scanner(blank) }}
	return func(row sqldb.Row) (customer Customer, err error) {
		read := idle.Get().(func(sqldb.Row, *Customer) error) // only scanners
		defer idle.Put(read)
		err = read(row, &customer)
		return customer, err
	}
}

// times are the instants of a record as they are stored.
type times struct{ created, cancelled, updated int64 }

// scanner reads one row after the other with what it allocates once: a list of
// fifty makes a quarter less garbage.
func scanner(customer Customer) func(sqldb.Row, *Customer) error {
	var times times
	places := places(&customer, &times)
	if !customer.listed {
		places = append(append(places, &customer.expiry.expired), customer.recurring.places()...)
	}
	return func(row sqldb.Row, into *Customer) error {
		err := row.Scan(places...)
		customer.CreatedAt, customer.UpdatedAt = time.UnixMicro(times.created), time.UnixMicro(times.updated)
		customer.CancelledAt = time.Time{}
		if times.cancelled != 0 {
			customer.CancelledAt = time.UnixMicro(times.cancelled)
		}
		*into = customer
		return err
	}
}

// places are where the values of listColumns go.
func places(customer *Customer, times *times) []any {
	return slices.Concat([]any{&customer.ID, &customer.UUID}, stored.Places(customer), []any{
		&customer.OwnDay, (*sqldb.OrZero)(&customer.Plan.ID), (*sqldb.OrZero)(&customer.Product.ID),
		&times.created, &customer.createdOffset, (*sqldb.OrZero)(&times.cancelled), &times.updated,
		(*string)(&customer.Autopay), (*int64)(&customer.Credit), &customer.expiry.on,
		&customer.Plan.Name, (*int64)(&customer.Plan.Value), (*string)(&customer.period.Unit), &customer.period.Count,
		&customer.Product.Name,
	})
}

func byID(ctx context.Context, querier sqldb.Querier, companyID, id int64) (Customer, error) {
	customer, err := sqldb.One(ctx, querier, scanJoined, byIDText, companyID, id)
	return customer, sqldb.Found(err, "customer")
}

var byIDText = `SELECT ` + columns + ` FROM customers c` + joins + ` WHERE c.company_id = ? AND c.id = ? AND ` + VisibleC

// LockTx reads a customer for a change: until the commit no other transaction
// changes it, or the plan that decides what it is worth. The rows are locked
// first and read after, so that what is read is the newest. A change of a plan
// locks the plan before its customers, and so does this.
func LockTx(ctx context.Context, tx account.Tx, id int64) (Customer, error) {
	planID, err := holdPlanOf(ctx, tx, id)
	if err != nil {
		return Customer{}, err
	}
	_, err = sqldb.Value[int64](ctx, tx, `SELECT id FROM customers WHERE company_id = ? AND id = ?
		AND `+Visible+` {for update}`, tx.Company.ID, id)
	if err != nil {
		return Customer{}, sqldb.Found(err, "customer")
	}
	customer, err := byID(ctx, tx, tx.Company.ID, id)
	if err != nil || tx.Engine() == sqldb.SQLite || customer.Plan.ID == planID || customer.Plan.ID == 0 {
		return customer, err
	}
	// It moved to another plan before it was locked.
	if _, err := holdPlanOf(ctx, tx, id); err != nil {
		return Customer{}, err
	}
	return byID(ctx, tx, tx.Company.ID, id)
}

// holdPlanOf keeps the plan of a customer from being changed, and returns its
// id; 0 where it has none. SQLite has one writer.
func holdPlanOf(ctx context.Context, tx account.Tx, id int64) (int64, error) {
	if tx.Engine() == sqldb.SQLite {
		return 0, nil
	}
	planID, err := sqldb.Value[int64](ctx, tx, `
		SELECT p.id FROM customer_plans p WHERE p.company_id = ? AND p.id = (
			SELECT c.plan_id FROM customers c WHERE c.company_id = ? AND c.id = ? AND `+VisibleC+`) {for key share of p}`,
		tx.Company.ID, tx.Company.ID, id)
	if errors.Is(err, sqldb.ErrNotFound) {
		return 0, nil
	}
	return planID, err
}

// monthlyOf is what customers pay together a month, whatever their periods.
func monthlyOf(ctx context.Context, querier sqldb.Querier, companyID int64, ids []int64) (amount money.Cents, err error) {
	err = sqldb.Each(ctx, querier, `
		SELECT COALESCE(c.price_cents, p.value_cents), p.period_unit, p.period_count, count(*) FROM customers c
		JOIN customer_plans p ON p.company_id = c.company_id AND p.id = c.plan_id
		WHERE c.company_id = ? AND c.id {in ?} AND `+VisibleC+`
		GROUP BY COALESCE(c.price_cents, p.value_cents), p.period_unit, p.period_count`, []any{companyID, ids},
		func(row sqldb.Row) error {
			var price money.Cents
			var period civil.Period
			var customers int64
			err := row.Scan((*int64)(&price), (*string)(&period.Unit), &period.Count, &customers)
			amount += figures.Monthly(price, period) * money.Cents(customers)
			return err
		})
	return amount, err
}

// changing are the columns that every change writes, besides the stored fields, as
// changingValues has them.
const changing = `own_day, usuario_key, plan_id, product_id, name_key, updated_at, expiry_on, expired, cancelled_at, autopay, credit_cents,
	mrr_cents, mrr_month, mrr_start_cents, mrr_start_plan, mrr_start_product`

func changingValues(customer Customer) []any {
	return append(append(stored.Values(&customer), customer.OwnDay, text.Lower(customer.Usuario),
		sqldb.RefTo(customer.Plan.ID), sqldb.RefTo(customer.Product.ID), FoldedName(customer.Name),
		customer.UpdatedAt.UnixMicro(), customer.expiry.on, customer.expiry.expired, cancelledAt(customer),
		string(customer.Autopay), int64(customer.Credit)), customer.recurring.values()...)
}

var (
	insertColumns = stored.Columns("", "") + `, ` + changing + `, company_id, uuid, created_at, created_on, created_offset) VALUES `
	// A reserved id comes first.
	insertInto, insertReserved = `INSERT INTO customers (` + insertColumns, `INSERT INTO customers (id, ` + insertColumns
	// insertOne is made once: a create would else put it together in the writer's turn.
	insertOne = insertInto + sqldb.Tuples(1, strings.Count(insertColumns, ",")+1) + ` ON CONFLICT DO NOTHING`
	updateRow = `UPDATE customers SET ` + stored.Columns("", " = ?") + `, ` + strings.ReplaceAll(changing, ",", " = ?,") + ` = ?
		WHERE company_id = ? AND id = ?`
)

// insertArgs are the arguments of insertInto.
func insertArgs(companyID int64, customer Customer) []any {
	return append(changingValues(customer), companyID, customer.UUID,
		customer.CreatedAt.UnixMicro(), customer.CreatedOn().String(), customer.createdOffset)
}

// cancelledAt is the column's value; NULL: not cancelled.
func cancelledAt(customer Customer) any {
	if !customer.IsCancelled() {
		return nil
	}
	return customer.CancelledAt.UnixMicro()
}

// insert returns 0 when another customer has the login or the key.
func insert(ctx context.Context, tx account.Tx, customer Customer) (int64, error) {
	id, err := sqldb.InsertID(ctx, tx.Tx, insertOne, insertArgs(tx.Company.ID, customer)...)
	if err != nil || id == 0 {
		return 0, err
	}
	_, err = tx.Exec(ctx, insertText+sqldb.Tuples(1, textColumns), tx.Company.ID, id, searchText(customer))
	return id, err
}

// insertText names the columns of a customer's text, which searches read.
const (
	insertText  = `INSERT INTO customer_texts (company_id, id, text) VALUES `
	textColumns = 3
)

// insertMany returns the ids by uuid, since engines promise no order of what
// they return. A customer with a login or key that another one has is not in
// them. Either all have a reserved id or none has.
func insertMany(ctx context.Context, tx account.Tx, customers []Customer) (map[string]int64, error) {
	ids := make(map[string]int64, len(customers))
	for piece := range sqldb.Pieces(customers) {
		into := insertInto
		var values []any
		for _, customer := range piece {
			if customer.ID != 0 {
				into = insertReserved
				values = append(values, customer.ID)
			}
			values = append(values, insertArgs(tx.Company.ID, customer)...)
		}
		err := sqldb.Each(ctx, tx,
			into+sqldb.Tuples(len(piece), len(values)/len(piece))+` ON CONFLICT DO NOTHING RETURNING id, uuid`,
			values, func(row sqldb.Row) error {
				var id int64
				var uuid string
				err := row.Scan(&id, &uuid)
				ids[uuid] = id
				return err
			})
		if err == nil {
			err = insertTexts(ctx, tx, piece, ids)
		}
		if err != nil {
			return nil, err
		}
	}
	return ids, nil
}

// insertTexts writes the texts of customers who have been inserted.
func insertTexts(ctx context.Context, tx account.Tx, customers []Customer, ids map[string]int64) error {
	var values []any
	for _, customer := range customers {
		if id := ids[customer.UUID]; id != 0 {
			values = append(values, tx.Company.ID, id, searchText(customer))
		}
	}
	if len(values) == 0 {
		return nil
	}
	_, err := tx.Exec(ctx, insertText+sqldb.Tuples(len(values)/textColumns, textColumns), values...)
	return err
}

func update(ctx context.Context, tx account.Tx, customer Customer) error {
	_, err := tx.Exec(ctx, updateRow, append(changingValues(customer), tx.Company.ID, customer.ID)...)
	if err != nil {
		return err
	}
	found := searchText(customer)
	_, err = tx.Exec(ctx, `UPDATE customer_texts SET text = ? WHERE company_id = ? AND id = ? AND text <> ?`,
		found, tx.Company.ID, customer.ID, found)
	return err
}

func remove(ctx context.Context, tx account.Tx, id int64) error {
	_, err := tx.Exec(ctx, `DELETE FROM customers WHERE company_id = ? AND id = ?`, tx.Company.ID, id)
	return err
}

// refuseTaken refuses a login or key that another customer has, be it one that
// an import has staged. It takes one look: of a change between two, the second
// would see only half.
func refuseTaken(ctx context.Context, querier sqldb.Querier, companyID int64, customer Customer, refused *fault.Fields) error {
	return sqldb.Each(ctx, querier, `SELECT
		(SELECT count(*) FROM customers WHERE company_id = ? AND usuario_key = ? AND usuario_key <> '' AND id <> ?),
		(SELECT count(*) FROM customers WHERE company_id = ? AND external_id = ? AND external_id <> '' AND id <> ?)`,
		[]any{companyID, text.Lower(customer.Usuario), customer.ID, companyID, customer.ExternalID, customer.ID},
		func(row sqldb.Row) error {
			var logins, keys int64
			err := row.Scan(&logins, &keys)
			if logins > 0 {
				refused.Add("usuario", "is taken by another customer")
			}
			if keys > 0 {
				refused.Add("external_id", "is taken by another customer")
			}
			return err
		})
}

// NamesIn reads the names of customers for another room's list, by their ids.
// Those that are deleted are left out.
func NamesIn(ctx context.Context, querier sqldb.Querier, actor account.Actor, ids []int64) (map[int64]string, error) {
	if len(ids) == 0 {
		return map[int64]string{}, nil
	}
	return rows.Map[int64, string](ctx, querier,
		`SELECT id, name FROM customers WHERE company_id = ? AND id {in ?} AND `+Visible, actor.Company.ID, ids)
}
