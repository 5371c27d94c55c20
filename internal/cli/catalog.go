package cli

import (
	"context"

	"github.com/spf13/cobra"

	"carteira/internal/account"
	"carteira/internal/app"
	"carteira/internal/catalog"
	"carteira/internal/platform/input"
)

// all is a page with every plan or product that a company may have.
var all = input.Page{Number: 1, Size: 1 << 20}

func planCommand() *cobra.Command {
	create := act(planFlags(&cobra.Command{
		Use:     "create",
		Short:   "Make a plan",
		Example: `  carteira plan create --company 1 --name Mensal --value 35.00 --period 1month`,
	}), func(ctx context.Context, program *app.App, actor account.Actor, in *input.Form) (any, error) {
		plan, err := program.Catalog.CreatePlan(ctx, actor, catalog.ReadNewPlan(in))
		return planJSON(plan), err
	})
	set := act(planFlags(&cobra.Command{
		Use:     "set",
		Short:   "Change a plan; what is not given stays",
		Example: `  carteira plan set --company 1 --id 3 --active=false`,
	}), func(ctx context.Context, program *app.App, actor account.Actor, in *input.Form) (any, error) {
		id := in.ID("id").Value
		plan, err := program.Catalog.UpdatePlan(ctx, actor, id, catalog.ReadPlanChanges(in))
		return planJSON(plan), err
	})
	addActive(addID(set, "plan"))
	cmd := &cobra.Command{Use: "plan", Short: "Plans sold to customers: create, list, set", Args: cobra.NoArgs}
	cmd.AddCommand(create, set, list("List a company's plans",
		[]string{"ID", "NAME", "VALUE", "PERIOD", "ACTIVE"},
		func(ctx context.Context, program *app.App, actor account.Actor) ([]catalog.Plan, error) {
			plans, _, err := program.Catalog.Plans(ctx, actor, catalog.Filter{}, all)
			return plans, err
		},
		func(_ account.Actor, plan catalog.Plan) []any {
			return []any{plan.ID, plan.Name, plan.Value, plan.Period.String(), plan.Active}
		}))
	return cmd
}

func planFlags(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().String("name", "", "name of the plan")
	cmd.Flags().String("value", "", "what it costs, such as 35.00")
	cmd.Flags().String("period", "", "what it pays for, such as 1month, 7days, 2weeks or 1year")
	cmd.Flags().Int64("product-id", 0, "product it belongs to")
	return cmd
}

func planJSON(plan catalog.Plan) any {
	return map[string]any{
		"id": plan.ID, "name": plan.Name, "value": plan.Value, "period": plan.Period.String(),
		"active": plan.Active,
	}
}

func productCommand() *cobra.Command {
	create := act(productFlags(&cobra.Command{
		Use:     "create",
		Short:   "Make a product",
		Example: `  carteira product create --company 1 --name "Fibra 500"`,
	}), func(ctx context.Context, program *app.App, actor account.Actor, in *input.Form) (any, error) {
		product, err := program.Catalog.CreateProduct(ctx, actor, catalog.ReadNewProduct(in))
		return productJSON(product), err
	})
	set := act(productFlags(&cobra.Command{
		Use:   "set",
		Short: "Change a product; what is not given stays",
	}), func(ctx context.Context, program *app.App, actor account.Actor, in *input.Form) (any, error) {
		id := in.ID("id").Value
		product, err := program.Catalog.UpdateProduct(ctx, actor, id, catalog.ReadProductChanges(in))
		return productJSON(product), err
	})
	addActive(addID(set, "product"))
	cmd := &cobra.Command{Use: "product", Short: "Products: create, list, set", Args: cobra.NoArgs}
	cmd.AddCommand(create, set, list("List a company's products",
		[]string{"ID", "NAME", "DESCRIPTION", "ACTIVE"},
		func(ctx context.Context, program *app.App, actor account.Actor) ([]catalog.Product, error) {
			products, _, err := program.Catalog.Products(ctx, actor, catalog.Filter{}, all)
			return products, err
		},
		func(_ account.Actor, product catalog.Product) []any {
			return []any{product.ID, product.Name, product.Description, product.Active}
		}))
	return cmd
}

func productFlags(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().String("name", "", "name of the product")
	cmd.Flags().String("description", "", "what it is")
	return cmd
}

func productJSON(product catalog.Product) any {
	return map[string]any{
		"id": product.ID, "name": product.Name, "description": product.Description,
		"active": product.Active,
	}
}

func addID(cmd *cobra.Command, what string) *cobra.Command {
	cmd.Flags().Int64("id", 0, "id of the "+what)
	must(cmd.MarkFlagRequired("id"))
	return cmd
}

func addActive(cmd *cobra.Command) {
	cmd.Flags().Bool("active", true, "whether it can be chosen for customers")
}
