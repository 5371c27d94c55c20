package customer

import (
	"context"

	"carteira/internal/platform/civil"
	"carteira/internal/platform/sqldb"
)

// goods are the plans and products of the customers of a page.
type goods struct {
	companyID int64
	plans     map[int64]soldPlan
	products  map[int64]Product
}

// soldPlan is what a customer's record has of its plan.
type soldPlan struct {
	Plan
	period civil.Period
}

func goodsBeside(companyID int64) sqldb.Beside[Customer] {
	return &goods{companyID: companyID, plans: map[int64]soldPlan{}, products: map[int64]Product{}}
}

// mostGoods is how many plans, and how many products, are read with a page. Most
// companies have fewer; of one that has more, what a page misses is looked up.
const mostGoods = 50

// Statements read the newest goods of the company.
func (g *goods) Statements() []sqldb.Statement {
	return []sqldb.Statement{
		{
			Text: planColumns + ` ORDER BY id DESC LIMIT ?`,
			Args: []any{g.companyID, mostGoods}, Scan: g.addPlan,
		},
		{
			Text: productColumns + ` ORDER BY id DESC LIMIT ?`,
			Args: []any{g.companyID, mostGoods}, Scan: g.addProduct,
		},
	}
}

const (
	planColumns    = `SELECT id, name, value_cents, period_unit, period_count FROM customer_plans WHERE company_id = ?`
	productColumns = `SELECT id, name FROM products WHERE company_id = ?`
)

func (g *goods) addPlan(row sqldb.Row) error {
	var plan soldPlan
	err := row.Scan(&plan.ID, &plan.Name, (*int64)(&plan.Value), (*string)(&plan.period.Unit), &plan.period.Count)
	g.plans[plan.ID] = plan
	return err
}

func (g *goods) addProduct(row sqldb.Row) error {
	var product Product
	err := row.Scan(&product.ID, &product.Name)
	g.products[product.ID] = product
	return err
}

// Complete gives the customers their plans and products.
func (g *goods) Complete(ctx context.Context, querier sqldb.Querier, list []Customer) error {
	if missing := g.missing(list); len(missing) > 0 {
		if err := sqldb.Together(ctx, querier, missing...); err != nil {
			return err
		}
	}
	for i := range list {
		plan := g.plans[list[i].Plan.ID]
		list[i].Plan, list[i].period = plan.Plan, plan.period
		list[i].Product = g.products[list[i].Product.ID]
	}
	return nil
}

// missing are the statements that read what was not among the newest goods.
func (g *goods) missing(list []Customer) (statements []sqldb.Statement) {
	var planIDs, productIDs []int64
	for i := range list {
		if _, known := g.plans[list[i].Plan.ID]; !known && list[i].Plan.ID != 0 {
			planIDs = append(planIDs, list[i].Plan.ID)
		}
		if _, known := g.products[list[i].Product.ID]; !known && list[i].Product.ID != 0 {
			productIDs = append(productIDs, list[i].Product.ID)
		}
	}
	if planIDs != nil {
		statements = append(statements, sqldb.Statement{
			Text: planColumns + ` AND id {in ?}`, Args: []any{g.companyID, planIDs}, Scan: g.addPlan,
		})
	}
	if productIDs != nil {
		statements = append(statements, sqldb.Statement{
			Text: productColumns + ` AND id {in ?}`, Args: []any{g.companyID, productIDs}, Scan: g.addProduct,
		})
	}
	return statements
}
