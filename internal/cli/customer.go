package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"carteira/internal/account"
	"carteira/internal/app"
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
