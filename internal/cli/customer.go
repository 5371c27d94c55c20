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

func customerCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "customer", Short: "What a customer may ask about their own data"}
	file := &cobra.Command{
		Use:     "file",
		Short:   "Print everything that is kept about a customer, as JSON",
		Example: `  carteira customer file --company 1 --id 12 > cliente.json`,
		Args:    cobra.NoArgs,
		RunE: aboutCustomer(func(cmd *cobra.Command, program *app.App, actor account.Actor, id int64) error {
			content, err := program.Privacy.CustomerFile(cmd.Context(), actor, id)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), string(content))
			return err
		}),
	}
	erase := &cobra.Command{
		Use:     "erase",
		Short:   "Delete a customer and everything that is kept about them, but for what the law makes one keep",
		Example: `  carteira customer erase --company 1 --id 12`,
		Args:    cobra.NoArgs,
		RunE: aboutCustomer(func(cmd *cobra.Command, program *app.App, actor account.Actor, id int64) error {
			return program.Privacy.Erase(cmd.Context(), actor, id)
		}),
	}
	for _, sub := range []*cobra.Command{file, erase} {
		sub.Flags().Int64("company", 0, "the company's id")
		must(sub.MarkFlagRequired("company"))
		addID(sub, "customer")
	}
	cmd.AddCommand(file, erase)
	return cmd
}

// aboutCustomer runs a command about the customer of --id.
func aboutCustomer(
	do func(cmd *cobra.Command, program *app.App, actor account.Actor, id int64) error,
) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, _ []string) error {
		return withCompany(cmd, func(_ context.Context, program *app.App, actor account.Actor) error {
			id, err := cmd.Flags().GetInt64("id")
			if err != nil {
				return err
			}
			return do(cmd, program, actor, id)
		})
	}
}

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
