package cli

import (
	"context"

	"github.com/spf13/cobra"

	"carteira/internal/account"
	"carteira/internal/app"
	"carteira/internal/platform/input"
)

// userCommand is the way back in for a company whose only owner has lost the
// password or the phone.
func userCommand() *cobra.Command {
	link := addID(act(&cobra.Command{
		Use:     "link",
		Short:   "Make a link by which a user sets a password, once",
		Example: "  carteira user link --company 1 --id 1",
	}, func(ctx context.Context, program *app.App, actor account.Actor, in *input.Form) (any, error) {
		id := in.ID("id").Value
		user, link, err := program.Accounts.NewPasswordLink(ctx, actor, id)
		return map[string]any{"id": user.ID, "email": user.Email, "link": program.Config.PublicURL + "/password/" + link}, err
	}), "user")

	factor := addID(act(&cobra.Command{
		Use:   "nofactor",
		Short: "Switch a user's second factor off",
		Long:  "Nofactor is for users who have lost both the app and the recovery codes.",
	}, func(ctx context.Context, program *app.App, actor account.Actor, in *input.Form) (any, error) {
		id := in.ID("id").Value
		user, err := program.Accounts.RemoveSecondFactor(ctx, actor, id)
		return map[string]any{"id": user.ID, "email": user.Email, "second_factor": false}, err
	}), "user")

	cmd := &cobra.Command{
		Use:   "user",
		Short: "Users of the panel: list, link, nofactor",
		Args:  cobra.NoArgs,
	}
	cmd.AddCommand(link, factor, list("List a company's users",
		[]string{"ID", "NAME", "EMAIL", "ROLE", "SECOND FACTOR", "CREATED AT"},
		func(ctx context.Context, program *app.App, actor account.Actor) ([]account.Person, error) {
			return program.Accounts.Users(ctx, actor)
		},
		func(actor account.Actor, person account.Person) []any {
			return []any{
				person.ID, person.Name, person.Email, person.Role, person.SecondFactor,
				when(person.CreatedAt, actor.Company.Zone),
			}
		}))
	return cmd
}
