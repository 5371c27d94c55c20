package catalog

import (
	"context"
	"slices"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/text"
)

const planSelect = `SELECT p.id, p.name, p.value_cents, p.period_unit, p.period_count,
	COALESCE(p.product_id, 0), COALESCE(r.name, ''), p.active, p.created_at
	FROM customer_plans p LEFT JOIN products r ON r.company_id = p.company_id AND r.id = p.product_id`

func scanPlan(row sqldb.Row) (plan Plan, err error) {
	var created int64
	err = row.Scan(&plan.ID, &plan.Name, (*int64)(&plan.Value), (*string)(&plan.Period.Unit), &plan.Period.Count,
		&plan.Product.ID, &plan.Product.Name, &plan.Active, &created)
	plan.CreatedAt = time.UnixMicro(created)
	return plan, err
}

func planByID(ctx context.Context, querier sqldb.Querier, companyID, id int64) (Plan, error) {
	plan, err := sqldb.One(ctx, querier, scanPlan, planSelect+` WHERE p.company_id = ? AND p.id = ?`, companyID, id)
	return plan, sqldb.Found(err, "customer plan")
}

// lockPlan keeps two changes of one plan from undoing each other.
func lockPlan(ctx context.Context, tx account.Tx, id int64) (Plan, error) {
	_, err := sqldb.Value[int64](ctx, tx, `SELECT id FROM customer_plans WHERE company_id = ? AND id = ? {for update}`,
		tx.Company.ID, id)
	if err != nil {
		return Plan{}, sqldb.Found(err, "customer plan")
	}
	return planByID(ctx, tx, tx.Company.ID, id)
}

// counted reads a page by a statement that ends with LIMIT and OFFSET, and how many rows
// there are by another of the same arguments.
func counted[T any](
	ctx context.Context, querier sqldb.Querier, scan func(sqldb.Row) (T, error), count, rows string, args []any,
	page input.Page,
) (list []T, total int64, err error) {
	err = sqldb.Together(ctx, querier,
		sqldb.Statement{Text: count, Args: args, Scan: func(row sqldb.Row) error { return row.Scan(&total) }},
		sqldb.Listing(&list, scan, rows, slices.Concat(args, []any{page.Size, page.Offset()})...))
	return list, total, err
}

func plans(
	ctx context.Context, querier sqldb.Querier, companyID int64, filter Filter, page input.Page,
) ([]Plan, int64, error) {
	where := filter.where(companyID)
	return counted(ctx, querier, scanPlan, `SELECT count(*) FROM customer_plans p`+where.String(),
		planSelect+where.String()+` ORDER BY p.id DESC LIMIT ? OFFSET ?`, where.Args, page)
}

func insertPlan(ctx context.Context, tx account.Tx, plan Plan) (int64, error) {
	return sqldb.Value[int64](ctx, tx, `
		INSERT INTO customer_plans (company_id, name, value_cents, period_unit, period_count, product_id, active, search, created_at, updated_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`,
		tx.Company.ID, plan.Name, int64(plan.Value), string(plan.Period.Unit), plan.Period.Count,
		sqldb.RefTo(plan.Product.ID),
		plan.Active, text.Fold(plan.Name), tx.Now().UnixMicro(), tx.Now().UnixMicro())
}

func updatePlan(ctx context.Context, tx account.Tx, plan Plan) error {
	return tx.Do(ctx, `
		UPDATE customer_plans SET name = ?, value_cents = ?, period_unit = ?, period_count = ?, product_id = ?,
			active = ?, search = ?, updated_at = ?
		WHERE company_id = ? AND id = ?`,
		plan.Name, int64(plan.Value), string(plan.Period.Unit), plan.Period.Count,
		sqldb.RefTo(plan.Product.ID),
		plan.Active, text.Fold(plan.Name), tx.Now().UnixMicro(), tx.Company.ID, plan.ID)
}

const productSelect = `SELECT p.id, p.name, p.description, p.active, p.created_at FROM products p`

func scanProduct(row sqldb.Row) (product Product, err error) {
	var created int64
	err = row.Scan(&product.ID, &product.Name, &product.Description, &product.Active, &created)
	product.CreatedAt = time.UnixMicro(created)
	return product, err
}

func productByID(ctx context.Context, querier sqldb.Querier, companyID, id int64) (Product, error) {
	product, err := sqldb.One(ctx, querier, scanProduct, productSelect+` WHERE p.company_id = ? AND p.id = ?`, companyID, id)
	return product, sqldb.Found(err, "product")
}

func lockProduct(ctx context.Context, tx account.Tx, id int64) (Product, error) {
	product, err := sqldb.One(ctx, tx, scanProduct, productSelect+` WHERE p.company_id = ? AND p.id = ? {for update}`,
		tx.Company.ID, id)
	return product, sqldb.Found(err, "product")
}

func products(
	ctx context.Context, querier sqldb.Querier, companyID int64, filter Filter, page input.Page,
) ([]Product, int64, error) {
	where := filter.where(companyID)
	return counted(ctx, querier, scanProduct, `SELECT count(*) FROM products p`+where.String(),
		productSelect+where.String()+` ORDER BY p.id DESC LIMIT ? OFFSET ?`, where.Args, page)
}

func insertProduct(ctx context.Context, tx account.Tx, product Product) (int64, error) {
	return sqldb.Value[int64](ctx, tx, `
		INSERT INTO products (company_id, name, description, active, search, created_at, updated_at)
		VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING id`,
		tx.Company.ID, product.Name, product.Description, product.Active, text.Fold(product.Name),
		tx.Now().UnixMicro(), tx.Now().UnixMicro())
}

func updateProduct(ctx context.Context, tx account.Tx, product Product) error {
	return tx.Do(ctx, `
		UPDATE products SET name = ?, description = ?, active = ?, search = ?, updated_at = ? WHERE company_id = ? AND id = ?`,
		product.Name, product.Description, product.Active, text.Fold(product.Name),
		tx.Now().UnixMicro(), tx.Company.ID, product.ID)
}

// where fits both tables: a company has few plans and products, so its rows are
// read without an index.
func (f Filter) where(companyID int64) sqldb.Where {
	var where sqldb.Where
	where.And("p.company_id = ?", companyID)
	if f.OnlyActive != nil {
		where.And("p.active = ?", *f.OnlyActive)
	}
	if term := text.Fold(f.Search); term != "" {
		where.And("{position}(p.search, ?) > 0", term)
	}
	return where
}

func deletePlan(ctx context.Context, tx account.Tx, id int64) error {
	return tx.Do(ctx, `DELETE FROM customer_plans WHERE company_id = ? AND id = ?`, tx.Company.ID, id)
}

func deleteProduct(ctx context.Context, tx account.Tx, id int64) error {
	return tx.Do(ctx, `DELETE FROM products WHERE company_id = ? AND id = ?`, tx.Company.ID, id)
}
