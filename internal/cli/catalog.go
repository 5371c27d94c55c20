package cli

import (
	"context"

	"github.com/spf13/cobra"

	"carteira/internal/account"
	"carteira/internal/app"
	"carteira/internal/catalog"
	"carteira/internal/platform/input"
)

// all is a page that holds every plan or product a company may have.
var all = input.Page{Number: 1, Size: 1 << 20}

func planCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "plan", Short: "Plans sold to customers: create, list, set", Args: cobra.NoArgs}
	flags := func(c *cobra.Command) *cobra.Command {
		c.Flags().String("name", "", "name of the plan")
		c.Flags().String("value", "", "what it costs, such as 35.00")
		c.Flags().String("period", "", "what it pays for, such as 1month, 7days, 2weeks or 1year")
		c.Flags().Int64("product-id", 0, "product it belongs to")
		return addCompany(c)
	}
	create := flags(&cobra.Command{
		Use:     "create",
		Short:   "Make a plan",
		Example: `  carteira plan create --company 1 --name Mensal --value 35.00 --period 1month`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withCompany(cmd, func(ctx context.Context, a *app.App, actor account.Actor) error {
				p, err := a.Catalog.CreatePlan(ctx, actor, form(cmd))
				if err != nil {
					return err
				}
				return printJSON(cmd, planJSON(p))
			})
		},
	})
	set := flags(&cobra.Command{
		Use:     "set",
		Short:   "Change a plan; what is not given stays",
		Example: `  carteira plan set --company 1 --id 3 --active=false`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withCompany(cmd, func(ctx context.Context, a *app.App, actor account.Actor) error {
				id, err := cmd.Flags().GetInt64("id")
				if err != nil {
					return err
				}
				p, err := a.Catalog.UpdatePlan(ctx, actor, id, form(cmd))
				if err != nil {
					return err
				}
				return printJSON(cmd, planJSON(p))
			})
		},
	})
	addID(set, "plan")
	list := addJSON(addCompany(&cobra.Command{
		Use:   "list",
		Short: "List a company's plans",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withCompany(cmd, func(ctx context.Context, a *app.App, actor account.Actor) error {
				plans, _, err := a.Catalog.Plans(ctx, actor, catalog.Filter{}, all)
				if err != nil {
					return err
				}
				return printList(cmd, plans, []string{"ID", "NAME", "VALUE", "PERIOD", "ACTIVE"}, func(p catalog.Plan) []any {
					return []any{p.ID, p.Name, p.Value, p.Period.String(), p.Active}
				})
			})
		},
	}))
	cmd.AddCommand(create, list, set)
	return cmd
}

func productCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "product", Short: "Products: create, list, set", Args: cobra.NoArgs}
	flags := func(c *cobra.Command) *cobra.Command {
		c.Flags().String("name", "", "name of the product")
		c.Flags().String("description", "", "what it is")
		return addCompany(c)
	}
	create := flags(&cobra.Command{
		Use:     "create",
		Short:   "Make a product",
		Example: `  carteira product create --company 1 --name "Fibra 500"`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withCompany(cmd, func(ctx context.Context, a *app.App, actor account.Actor) error {
				p, err := a.Catalog.CreateProduct(ctx, actor, form(cmd))
				if err != nil {
					return err
				}
				return printJSON(cmd, productJSON(p))
			})
		},
	})
	set := flags(&cobra.Command{
		Use:   "set",
		Short: "Change a product; what is not given stays",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withCompany(cmd, func(ctx context.Context, a *app.App, actor account.Actor) error {
				id, err := cmd.Flags().GetInt64("id")
				if err != nil {
					return err
				}
				p, err := a.Catalog.UpdateProduct(ctx, actor, id, form(cmd))
				if err != nil {
					return err
				}
				return printJSON(cmd, productJSON(p))
			})
		},
	})
	addID(set, "product")
	list := addJSON(addCompany(&cobra.Command{
		Use:   "list",
		Short: "List a company's products",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withCompany(cmd, func(ctx context.Context, a *app.App, actor account.Actor) error {
				products, _, err := a.Catalog.Products(ctx, actor, catalog.Filter{}, all)
				if err != nil {
					return err
				}
				return printList(cmd, products, []string{"ID", "NAME", "DESCRIPTION", "ACTIVE"}, func(p catalog.Product) []any {
					return []any{p.ID, p.Name, p.Description, p.Active}
				})
			})
		},
	}))
	cmd.AddCommand(create, list, set)
	return cmd
}

func addID(cmd *cobra.Command, what string) {
	cmd.Flags().Int64("id", 0, "id of the "+what)
	cmd.Flags().Bool("active", true, "whether it can be chosen for customers")
	must(cmd.MarkFlagRequired("id"))
}

func planJSON(p catalog.Plan) map[string]any {
	return map[string]any{"id": p.ID, "name": p.Name, "value": p.Value, "period": p.Period.String(), "active": p.Active}
}

func productJSON(p catalog.Product) map[string]any {
	return map[string]any{"id": p.ID, "name": p.Name, "description": p.Description, "active": p.Active}
}
