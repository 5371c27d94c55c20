package catalog

import (
	"context"
	"slices"

	"carteira/internal/account"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/text"
)

// The columns of PlanFields and ProductFields.
var storedPlan, storedProduct = PlanFields.Stored(), ProductFields.Stored()

var planSelect = `SELECT p.id, COALESCE(p.product_id, 0), COALESCE(r.name, ''), p.created_at, ` + storedPlan.Columns("p.", "") + `
	FROM customer_plans p LEFT JOIN products r ON r.company_id = p.company_id AND r.id = p.product_id`

func scanPlan(row sqldb.Row) (plan Plan, err error) {
	err = row.Scan(append([]any{&plan.ID, &plan.Product.ID, &plan.Product.Name, (*civil.Instant)(&plan.CreatedAt)},
		storedPlan.Places(&plan)...)...)
	return plan, err
}

func planByID(ctx context.Context, querier sqldb.Querier, companyID, id int64) (Plan, error) {
	return sqldb.Find(ctx, querier, "customer plan", scanPlan, planSelect+` WHERE p.company_id = ? AND p.id = ?`, companyID, id)
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
	values := append([]any{
		tx.Company.ID, sqldb.RefTo(plan.Product.ID), text.Fold(plan.Name), tx.Now().UnixMicro(), tx.Now().UnixMicro(),
	}, storedPlan.Values(&plan)...)
	return sqldb.Value[int64](ctx, tx, `
		INSERT INTO customer_plans (company_id, product_id, search, created_at, updated_at, `+storedPlan.Columns("", "")+`)
		VALUES `+sqldb.Tuples(1, len(values))+` RETURNING id`, values...)
}

var productSelect = `SELECT p.id, p.created_at, ` + storedProduct.Columns("p.", "") + ` FROM products p`

func scanProduct(row sqldb.Row) (product Product, err error) {
	err = row.Scan(append([]any{&product.ID, (*civil.Instant)(&product.CreatedAt)}, storedProduct.Places(&product)...)...)
	return product, err
}

func productByID(ctx context.Context, querier sqldb.Querier, companyID, id int64) (Product, error) {
	return sqldb.Find(ctx, querier, "product", scanProduct, productSelect+` WHERE p.company_id = ? AND p.id = ?`, companyID, id)
}

func lockProduct(ctx context.Context, tx account.Tx, id int64) (Product, error) {
	return sqldb.Find(ctx, tx, "product", scanProduct, productSelect+` WHERE p.company_id = ? AND p.id = ? {for update}`,
		tx.Company.ID, id)
}

func products(
	ctx context.Context, querier sqldb.Querier, companyID int64, filter Filter, page input.Page,
) ([]Product, int64, error) {
	where := filter.where(companyID)
	return counted(ctx, querier, scanProduct, `SELECT count(*) FROM products p`+where.String(),
		productSelect+where.String()+` ORDER BY p.id DESC LIMIT ? OFFSET ?`, where.Args, page)
}

func insertProduct(ctx context.Context, tx account.Tx, product Product) (int64, error) {
	values := append([]any{tx.Company.ID, text.Fold(product.Name), tx.Now().UnixMicro(), tx.Now().UnixMicro()},
		storedProduct.Values(&product)...)
	return sqldb.Value[int64](ctx, tx, `
		INSERT INTO products (company_id, search, created_at, updated_at, `+storedProduct.Columns("", "")+`)
		VALUES `+sqldb.Tuples(1, len(values))+` RETURNING id`, values...)
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
