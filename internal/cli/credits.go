package cli

import (
	"context"
	"math"

	"github.com/spf13/cobra"

	"carteira/internal/account"
	"carteira/internal/app"
	"carteira/internal/platform/input"
	"carteira/internal/reseller"
)

func creditsCommand() *cobra.Command {
	grant := amountFlags(act(&cobra.Command{
		Use:     "grant",
		Short:   "Make credits for a company at the top of the tree",
		Example: `  carteira credits grant --company 1 --amount 100 --note "PIX of January"`,
	}, func(ctx context.Context, program *app.App, actor account.Actor, in *input.Form) (any, error) {
		balance, err := program.Resellers.Grant(ctx, actor, reseller.ReadCreditRequest(in))
		return map[string]any{"company_id": actor.Company.ID, "balance": balance}, err
	}))
	cmd := &cobra.Command{
		Use:   "credits",
		Short: "Credits: grant, transfer, take-back, statement",
		Args:  cobra.NoArgs,
	}
	cmd.AddCommand(grant,
		move("transfer", "to", "Hand credits on to a reseller", (*reseller.Service).Transfer),
		move("take-back", "from", "Take back what a reseller has not spent", (*reseller.Service).TakeBack),
		statement())
	return cmd
}

type mover func(
	service *reseller.Service,
	ctx context.Context,
	actor account.Actor,
	id int64,
	request reseller.CreditRequest,
) (reseller.Moved, error)

func move(use, other, short string, do mover) *cobra.Command {
	cmd := amountFlags(act(&cobra.Command{Use: use, Short: short},
		func(ctx context.Context, program *app.App, actor account.Actor, in *input.Form) (any, error) {
			id := in.ID(other).Value
			moved, err := do(program.Resellers, ctx, actor, id, reseller.ReadCreditRequest(in))
			return map[string]any{
				"company_id": actor.Company.ID, "balance": moved.Balance, "reseller_id": id,
				"reseller_balance": moved.ResellerBalance,
			}, err
		}))
	cmd.Flags().Int64(other, 0, "id of the reseller")
	must(cmd.MarkFlagRequired(other))
	return cmd
}

func amountFlags(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().Int64("amount", 0, "how many credits")
	cmd.Flags().String("note", "", "what for, for the statement")
	must(cmd.MarkFlagRequired("amount"))
	return cmd
}

func statement() *cobra.Command {
	cmd := list("List what became of a company's credits, newest first",
		[]string{
			"ID", "AT", "KIND", "AMOUNT", "BALANCE", "RESELLER", "PLAN", "PERIODS", "BY", "NOTE",
		},
		func(ctx context.Context, program *app.App, actor account.Actor) ([]reseller.Entry, error) {
			return program.Resellers.Statement(ctx, actor, 0, math.MaxInt32)
		},
		func(actor account.Actor, entry reseller.Entry) []any {
			return []any{
				entry.ID, when(entry.CreatedAt, actor.Company.Zone), entry.Kind, entry.Amount,
				entry.Balance, entry.Reseller.Name, entry.Plan.Name, entry.Periods, entry.By,
				entry.Note,
			}
		})
	cmd.Use = "statement"
	return cmd
}
