package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"carteira/internal/account"
	"carteira/internal/app"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/input"
)

func companyCommand() *cobra.Command {
	all := addJSON(&cobra.Command{
		Use:   "list",
		Short: "List all companies",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withApp(cmd, func(ctx context.Context, program *app.App) error {
				companies, err := program.Accounts.Companies(ctx)
				if err != nil {
					return err
				}
				return printList(cmd, companies,
					[]string{
						"ID", "NAME", "LEVEL", "TIMEZONE", "CREATED AT", "PARENT",
					}, func(company account.Company) []any {
						return []any{
							company.ID, company.Name, company.Level, company.Zone.String(),
							when(company.CreatedAt, company.Zone), company.ParentID,
						}
					})
			})
		},
	})
	cmd := &cobra.Command{Use: "company", Short: "Companies: create, list, set", Args: cobra.NoArgs}
	cmd.AddCommand(companyCreate(), all, companySet())
	return cmd
}

func companySet() *cobra.Command {
	set := act(&cobra.Command{
		Use:     "set",
		Short:   "Change a company and its settings; what is not given stays",
		Example: "  carteira company set --company 1 --timezone America/Manaus --renew-from today",
	}, func(ctx context.Context, program *app.App, actor account.Actor, in *input.Form) (any, error) {
		company, err := program.Accounts.SetCompany(ctx, actor, account.ReadCompanyDraft(in))
		if err != nil {
			return nil, err
		}
		return map[string]any{
			"id": company.ID, "name": company.Name, "whatsapp": company.Whatsapp,
			"level": company.Level, "timezone": company.Zone.String(),
			"renew_from":            company.Settings.RenewFrom,
			"renew_on_payment":      company.Settings.RenewOnPayment,
			"lead_days":             company.Settings.LeadDays,
			"renew_invoice":         company.Settings.RenewInvoice,
			"books_closed_through":  company.Settings.ClosedThrough,
			"late_fee_percent":      company.Settings.LateFeePercent.String(),
			"late_interest_percent": company.Settings.LateInterestPercent.String(),
			"discount_percent":      company.Settings.DiscountPercent.String(),
			"discount_amount":       company.Settings.DiscountAmount,
		}, nil
	})
	set.Flags().String("name", "", "name")
	set.Flags().String("whatsapp", "", "number that its resellers see")
	set.Flags().String("level", "", "user, reseller, master or ultra_master")
	set.Flags().String("timezone", "", "time zone that decides its days")
	set.Flags().String("renew-from", "", "what an expired customer's renewal counts from: due_date or today")
	set.Flags().Bool("renew-on-payment", false, "whether a paid invoice renews its customer")
	set.Flags().String(
		"renew-invoice",
		"",
		"what becomes of the open invoice of a renewal by hand: keep, paid or cancelled",
	)
	set.Flags().Int("lead-days", 0, "how many days before the due date an invoice is issued")
	set.Flags().String("books-closed-through", "", "the last day of the books that are closed; empty opens them again")
	set.Flags().String("late-fee-percent", "", "what a late invoice costs more, once, such as 2.00")
	set.Flags().String("late-interest-percent", "", "what it costs more a month, by the day, such as 1.00")
	set.Flags().String("discount-percent", "", "what an invoice costs less until its due date, such as 5.00")
	set.Flags().String("discount-amount", "", "the same as an amount in reais, in place of a percentage")
	return set
}

func companyCreate() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "create",
		Short: "Make a company and its owner",
		Example: `  carteira company create --name "Ana Internet" --email ana@example.com
  carteira company create --name "Noronha Net" --email n@example.com --timezone America/Noronha`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withApp(cmd, func(ctx context.Context, program *app.App) error {
				company, owner, err := program.Accounts.CreateCompany(ctx, account.ReadNewCompany(form(cmd)))
				if err != nil {
					return err
				}
				return printJSON(cmd, map[string]int64{"company_id": company.ID, "user_id": owner.ID})
			})
		},
	}
	cmd.Flags().String("name", "", "name of the company")
	cmd.Flags().String("email", "", "the owner's e-mail address, for signing in")
	cmd.Flags().String("user-name", "", "the owner's name (default: from the e-mail address)")
	cmd.Flags().String("password", "", "the owner's password, at least 8 characters (default: none, no sign-in)")
	cmd.Flags().String("level", string(account.LevelUltraMaster), "user, reseller, master or ultra_master")
	cmd.Flags().String("timezone", account.DefaultTimezone, "time zone that decides its days")
	must(cmd.MarkFlagRequired("name"))
	must(cmd.MarkFlagRequired("email"))
	return cmd
}

func tokenCommand() *cobra.Command {
	create := addCompany(&cobra.Command{
		Use:     "create",
		Short:   "Make a token and print it; it cannot be shown again",
		Example: "  carteira token create --company 1 --name n8n",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withCompany(cmd, func(ctx context.Context, program *app.App, actor account.Actor) error {
				_, plain, err := program.Accounts.CreateToken(ctx, actor, account.ReadNewToken(form(cmd)))
				if err != nil {
					return err
				}
				fmt.Fprintln(cmd.OutOrStdout(), plain)
				return nil
			})
		},
	})
	create.Flags().String("name", "", "what the token is for; one per integration can be revoked by itself")
	create.Flags().String("scope", string(account.ScopeFull), "full, or read: a token that can change nothing")
	create.Flags().String("expires", "", "last day on which it works, YYYY-MM-DD; never when it is not given")
	must(create.MarkFlagRequired("name"))

	del := addID(act(&cobra.Command{
		Use:   "delete",
		Short: "Delete a token; the next call with it fails",
	}, func(ctx context.Context, program *app.App, actor account.Actor, in *input.Form) (any, error) {
		id := in.ID("id").Value
		return map[string]any{"id": id, "deleted": true}, program.Accounts.DeleteToken(ctx, actor, id)
	}), "token")

	cmd := &cobra.Command{Use: "token", Short: "API tokens: create, list, delete", Args: cobra.NoArgs}
	cmd.AddCommand(create, del, list("List a company's tokens",
		[]string{"ID", "NAME", "CREATED AT", "LAST USED AT", "SCOPE", "EXPIRES AT", "MADE BY"},
		func(ctx context.Context, program *app.App, actor account.Actor) ([]account.Token, error) {
			return program.Accounts.Tokens(ctx, actor)
		},
		func(actor account.Actor, token account.Token) []any {
			return []any{
				token.ID, token.Name, when(token.CreatedAt, actor.Company.Zone),
				when(token.LastUsedAt, actor.Company.Zone), string(token.Scope),
				when(token.ExpiresAt, actor.Company.Zone), token.Maker,
			}
		}))
	return cmd
}

// moment is a time in a list: for people in a table, as the API writes it in JSON.
type moment struct{ at time.Time }

func when(at time.Time, zone *time.Location) moment {
	if at.IsZero() {
		return moment{}
	}
	return moment{at.In(zone)}
}

// String is the time for people, "" for never.
func (m moment) String() string {
	if m.at.IsZero() {
		return ""
	}
	return m.at.Format("2006-01-02 15:04:05 -07:00")
}

// MarshalJSON implements json.Marshaler; never is null.
func (m moment) MarshalJSON() ([]byte, error) {
	if m.at.IsZero() {
		return []byte("null"), nil
	}
	return json.Marshal(civil.Timestamp(m.at, m.at.Location()))
}

// userCommand is the way back in for a company if its only owner has lost the
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

	remove := addID(act(&cobra.Command{
		Use:   "remove",
		Short: "Remove a user, and the API tokens that the user made",
	}, func(ctx context.Context, program *app.App, actor account.Actor, in *input.Form) (any, error) {
		id, keep := in.ID("id").Value, in.Bool("keep_tokens").Value
		return map[string]any{"id": id, "removed": true}, program.Accounts.RemoveUser(ctx, actor, id, keep)
	}), "user")
	remove.Flags().Bool("keep-tokens", false, "leave the tokens that the user made as they are")

	cmd := &cobra.Command{Use: "user", Short: "Users of the panel: list, link, nofactor, remove", Args: cobra.NoArgs}
	cmd.AddCommand(link, factor, remove, list("List a company's users",
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
