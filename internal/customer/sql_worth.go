package customer

import (
	"context"

	"carteira/internal/catalog"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/sqldb"
)

// places are where the columns of recurring revenue are scanned to.
func (r *recurring) places() []any {
	return []any{
		(*int64)(&r.amount), &r.month, (*int64)(&r.start.amount), &r.start.planID,
		&r.start.productID,
	}
}

// values are the columns of recurring revenue.
func (r recurring) values() []any {
	return []any{int64(r.amount), r.month, int64(r.start.amount), r.start.planID, r.start.productID}
}

// planMembers are the customers in force of a plan with ids of a span.
type planMembers struct {
	plan  catalog.Plan // as it is now
	today civil.Date
	on    civil.Date // the day in whose month a change counts
	ids   span
}

func (m planMembers) where(companyID int64) (where sqldb.Where) {
	where.And("company_id = ?", companyID)
	where.And("plan_id = ?", m.plan.ID)
	where.And("cancelled_at IS NULL")
	where.And("{visible id}")
	where.And("id BETWEEN ? AND ?", m.ids.from, m.ids.to)
	where.And("(due_on IS NULL OR due_on >= ?)", m.today.String())
	return where
}

// lockAlike locks the members of a plan and returns them in groups.
func lockAlike(
	ctx context.Context,
	tx *sqldb.Tx,
	companyID int64,
	of planMembers,
) ([]alike, error) {
	where := of.where(companyID)
	_, err := sqldb.Value[int64](ctx, tx, `
		SELECT count(*) FROM (SELECT id FROM customers`+where.String()+` ORDER BY id {for update}) AS locked`, where.Args...)
	if err != nil {
		return nil, err
	}
	const columns = `price_cents, COALESCE(product_id, 0), mrr_cents, mrr_month, mrr_start_cents, mrr_start_plan, mrr_start_product`
	return sqldb.All(ctx, tx, func(row sqldb.Row) (alike alike, err error) {
		places := append([]any{&alike.OwnPrice, &alike.Product.ID}, alike.recurring.places()...)
		err = row.Scan(append(places, &alike.n)...)
		return alike, err
	}, `SELECT `+columns+`, count(*) FROM customers`+where.String()+` GROUP BY `+columns,
		where.Args...)
}

// updateWorth writes what members of a plan with one price are worth, and begins
// their month.
func updateWorth(
	ctx context.Context,
	tx *sqldb.Tx,
	companyID int64,
	of planMembers,
	after Customer,
) error {
	where := of.where(companyID)
	if after.OwnPrice.Own {
		where.And("price_cents = ?", int64(after.OwnPrice.Amount))
	} else {
		where.And("price_cents IS NULL")
	}
	amount, month := int64(after.monthly(of.today)), monthOf(of.on)
	where.And("mrr_cents <> ?", amount)
	_, err := tx.Exec(ctx, `
		UPDATE customers SET
			mrr_start_cents = CASE WHEN mrr_month < ? THEN mrr_cents ELSE mrr_start_cents END,
			mrr_start_plan = CASE WHEN mrr_month < ? THEN plan_id ELSE mrr_start_plan END,
			mrr_start_product = CASE WHEN mrr_month < ? THEN COALESCE(product_id, 0) ELSE mrr_start_product END,
			mrr_month = CASE WHEN mrr_month < ? THEN ? ELSE mrr_month END, mrr_cents = ?`+where.String(),
		append([]any{month, month, month, month, month, amount}, where.Args...)...)
	return err
}
