package cli

import (
	"context"

	"github.com/spf13/cobra"

	"carteira/internal/catalog"
	"carteira/internal/platform/input"
)

// all is a page with every plan or product that a company may have.
var all = input.Page{Number: 1, Size: 1 << 20}

const (
	planColumns = "ID,NAME,VALUE,PERIOD,ACTIVE"
	planFlags   = `
		name            name of the plan
		value           what it costs, such as 35.00
		period          what it pays for, such as 1month, 7days, 2weeks or 1year
		product-id:int  product it belongs to`
	productColumns = "ID,NAME,DESCRIPTION,ACTIVE"
	productFlags   = `
		name         name of the product
		description  what it is`
	activeFlag = "\nactive:bool=true whether it can be chosen for customers"
)

func planCommand() *cobra.Command {
	return group("plan", "Plans sold to customers: create, list, set",
		act(command{
			use: "create", short: "Make a plan", flags: planFlags,
			example: `  carteira plan create --company 1 --name Mensal --value 35.00 --period 1month`,
		}, func(ctx context.Context, c call) (any, error) {
			return showPlan(c.Catalog.CreatePlan(ctx, c.actor, catalog.ReadNewPlan(c.in)))
		}),
		act(command{
			use: "set", short: "Change a plan; what is not given stays",
			flags:   planFlags + activeFlag + "\nid!:int id of the plan",
			example: `  carteira plan set --company 1 --id 3 --active=false`,
		}, func(ctx context.Context, c call) (any, error) {
			return showPlan(c.Catalog.UpdatePlan(ctx, c.actor, c.id(), catalog.ReadPlanChanges(c.in)))
		}),
		list(command{short: "List a company's plans"}, planColumns,
			func(ctx context.Context, c call) ([]catalog.Plan, error) {
				plans, _, err := c.Catalog.Plans(ctx, c.actor, catalog.Filter{}, all)
				return plans, err
			},
			func(_ call, plan catalog.Plan) []any { return planRow(plan) }))
}

func planRow(plan catalog.Plan) []any {
	return []any{plan.ID, plan.Name, plan.Value, plan.Period.String(), plan.Active}
}

func showPlan(plan catalog.Plan, err error) (any, error) {
	return object(planColumns, planRow(plan)), err
}

func productCommand() *cobra.Command {
	return group("product", "Products: create, list, set",
		act(command{
			use: "create", short: "Make a product", flags: productFlags,
			example: `  carteira product create --company 1 --name "Fibra 500"`,
		}, func(ctx context.Context, c call) (any, error) {
			return showProduct(c.Catalog.CreateProduct(ctx, c.actor, catalog.ReadNewProduct(c.in)))
		}),
		act(command{
			use: "set", short: "Change a product; what is not given stays",
			flags: productFlags + activeFlag + "\nid!:int id of the product",
		}, func(ctx context.Context, c call) (any, error) {
			return showProduct(c.Catalog.UpdateProduct(ctx, c.actor, c.id(), catalog.ReadProductChanges(c.in)))
		}),
		list(command{short: "List a company's products"}, productColumns,
			func(ctx context.Context, c call) ([]catalog.Product, error) {
				products, _, err := c.Catalog.Products(ctx, c.actor, catalog.Filter{}, all)
				return products, err
			},
			func(_ call, product catalog.Product) []any { return productRow(product) }))
}

func productRow(product catalog.Product) []any {
	return []any{product.ID, product.Name, product.Description, product.Active}
}

func showProduct(product catalog.Product, err error) (any, error) {
	return object(productColumns, productRow(product)), err
}
