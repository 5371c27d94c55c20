package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"carteira/internal/app"
	"carteira/internal/billing"
	"carteira/internal/platform/fault"
)

func invoiceCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "invoice", Short: "Invoices: create", Args: cobra.NoArgs}
	create := &cobra.Command{
		Use:   "create",
		Short: "Issue an extra invoice, beside those that due dates bring",
		Long:  "Create issues an invoice that belongs to no due date. Paying it renews nothing.",
		Example: `  carteira invoice create --customer 12 --amount 50.00 --description "Visita técnica"
  carteira invoice create --customer 12 --due 2027-01-31`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withApp(cmd, func(ctx context.Context, a *app.App) error {
				id, err := cmd.Flags().GetInt64("customer")
				if err != nil {
					return err
				}
				companyID, err := a.Customers.CompanyOf(ctx, id)
				if fault.KindOf(err) == fault.KindNotFound {
					return fmt.Errorf("there is no customer %d", id)
				}
				if err != nil {
					return err
				}
				actor, err := a.Accounts.Actor(ctx, companyID)
				if err != nil {
					return err
				}
				i, err := a.Billing.CreateExtra(ctx, actor, id, billing.ReadExtra(form(cmd)))
				if err != nil {
					return err
				}
				return printJSON(cmd, map[string]any{
					"id": i.ID, "customer_id": i.Customer.ID, "status": i.Status, "total_amount": i.Amount, "due_date": i.DueOn,
				})
			})
		},
	}
	create.Flags().Int64("customer", 0, "id of the customer")
	create.Flags().String("amount", "", "what is owed, such as 50.00 (default: the value of the customer's plan)")
	create.Flags().String("due", "", "due date, YYYY-MM-DD (default: today)")
	create.Flags().String("description", "", "what it is for")
	must(create.MarkFlagRequired("customer"))
	cmd.AddCommand(create)
	return cmd
}
