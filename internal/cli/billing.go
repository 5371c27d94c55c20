package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"carteira/internal/account"
	"carteira/internal/app"
	"carteira/internal/billing"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
)

func invoiceCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "invoice", Short: "Invoices: create, set", Args: cobra.NoArgs}
	create := &cobra.Command{
		Use:   "create",
		Short: "Issue an extra invoice, beside those that due dates bring",
		Long:  "Create issues an invoice that belongs to no due date. Paying it renews nothing.",
		Example: `  carteira invoice create --customer 12 --amount 50.00 --description "Visita técnica"
  carteira invoice create --customer 12 --due 2027-01-31`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withApp(cmd, func(ctx context.Context, program *app.App) error {
				id, err := cmd.Flags().GetInt64("customer")
				if err != nil {
					return err
				}
				companyID, err := program.Customers.CompanyOf(ctx, id)
				if fault.KindOf(err) == fault.KindNotFound {
					return fmt.Errorf("there is no customer %d", id)
				}
				if err != nil {
					return err
				}
				actor, err := program.Accounts.Actor(ctx, companyID)
				if err != nil {
					return err
				}
				invoice, err := program.Billing.Create(ctx, actor, id, billing.ReadExtra(form(cmd)))
				if err != nil {
					return err
				}
				return printJSON(cmd, invoiceJSON(invoice))
			})
		},
	}
	create.Flags().Int64("customer", 0, "id of the customer")
	create.Flags().String("amount", "", "what is owed, such as 50.00 (default: the customer's price)")
	create.Flags().String("due", "", "due date, YYYY-MM-DD (default: today)")
	create.Flags().String("description", "", "what it is for")
	must(create.MarkFlagRequired("customer"))
	create.Flags().Bool(
		"renews",
		false,
		"issue the invoice of the customer's due date, again if it was cancelled or renewed nothing",
	)
	cmd.AddCommand(create, invoiceSet())
	return cmd
}

func invoiceSet() *cobra.Command {
	cmd := addID(act(&cobra.Command{
		Use:     "set",
		Short:   "Change an open invoice; what is not given stays",
		Example: "  carteira invoice set --company 1 --id 12 --due 2027-02-05 --discount 2.00",
	}, func(ctx context.Context, program *app.App, actor account.Actor, in *input.Form) (any, error) {
		id := in.ID("id").Value
		invoice, err := program.Billing.Edit(ctx, actor, id, billing.ReadEdit(in))
		return invoiceJSON(invoice), err
	}), "invoice")
	cmd.Flags().String("amount", "", "what is owed, such as 50.00")
	cmd.Flags().String("due", "", "due date, YYYY-MM-DD")
	cmd.Flags().String("description", "", "what it is for")
	cmd.Flags().String("discount", "", "taken off until the due date, in place of the company's; empty brings that back")
	return cmd
}

// invoiceJSON is what the commands print of an invoice.
func invoiceJSON(invoice billing.Invoice) map[string]any {
	return map[string]any{
		"id": invoice.ID, "customer_id": invoice.Customer.ID, "status": invoice.Status,
		"total_amount": invoice.Amount, "due_date": invoice.DueOn,
	}
}
