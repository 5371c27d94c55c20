package customer

import (
	"context"
	"maps"

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

func goodsBeside(companyID int64) sqldb.Beside[Customer] { return newGoods(companyID) }

func newGoods(companyID int64) *goods {
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
	var missing []*Customer
	for i := range list {
		if !g.has(&list[i]) {
			missing = append(missing, &list[i])
			continue
		}
		g.give(&list[i])
	}
	if len(missing) == 0 {
		return nil
	}
	rest := newGoods(g.companyID)
	if err := sqldb.Together(ctx, querier, rest.named(missing)...); err != nil {
		return err
	}
	for _, customer := range missing {
		rest.give(customer)
	}
	return nil
}

// has reports whether the customer's plan and product are among the goods, or it has
// none.
func (g *goods) has(customer *Customer) bool {
	_, sold := g.plans[customer.Plan.ID]
	_, made := g.products[customer.Product.ID]
	return (sold || customer.Plan.ID == 0) && (made || customer.Product.ID == 0)
}

// give gives the customer its plan and product. One that is not among the goods has
// been deleted since.
func (g *goods) give(customer *Customer) {
	plan := g.plans[customer.Plan.ID]
	customer.Plan, customer.period = plan.Plan, plan.period
	customer.Product = g.products[customer.Product.ID]
}

// soldKey is under which the goods of customers who were read alone are remembered.
type soldKey struct{ companyID int64 }

// find is byID, without its joins where the customer's goods are remembered.
func find(ctx context.Context, querier sqldb.Querier, companyID, id int64) (Customer, error) {
	sold, known := sqldb.Recall[*goods](ctx, soldKey{companyID})
	if known {
		customer, err := sqldb.One(ctx, querier, scanAlone, aloneText, companyID, id)
		if err != nil {
			return Customer{}, sqldb.Found(err, "customer")
		}
		if sold.has(&customer) {
			sold.give(&customer)
			return customer, nil
		}
	} else {
		sold = newGoods(companyID)
	}
	customer, err := byID(ctx, querier, companyID, id)
	if err == nil && len(sold.plans)+len(sold.products) < mostGoods {
		sqldb.Remember(ctx, soldKey{companyID}, sold.with(customer))
	}
	return customer, err
}

// with are the goods, and those of a customer.
func (g *goods) with(customer Customer) *goods {
	all := &goods{companyID: g.companyID, plans: maps.Clone(g.plans), products: maps.Clone(g.products)}
	all.plans[customer.Plan.ID] = soldPlan{customer.Plan, customer.period}
	all.products[customer.Product.ID] = customer.Product
	return all
}

// named are the statements that read the goods of customers.
func (g *goods) named(customers []*Customer) []sqldb.Statement {
	var planIDs, productIDs []int64
	for _, customer := range customers {
		planIDs = append(planIDs, customer.Plan.ID)
		productIDs = append(productIDs, customer.Product.ID)
	}
	return []sqldb.Statement{
		{Text: planColumns + ` AND id {in ?}`, Args: []any{g.companyID, planIDs}, Scan: g.addPlan},
		{Text: productColumns + ` AND id {in ?}`, Args: []any{g.companyID, productIDs}, Scan: g.addProduct},
	}
}
