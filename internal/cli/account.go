package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"carteira/internal/account"
	"carteira/internal/app"
	"carteira/internal/platform/input"
)

func companyCommand() *cobra.Command {
	all := addJSON(&cobra.Command{
		Use:   "list",
		Short: "List all companies",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withApp(cmd, func(ctx context.Context, a *app.App) error {
				companies, err := a.Accounts.Companies(ctx)
				if err != nil {
					return err
				}
				return printList(cmd, companies, []string{"ID", "NAME", "LEVEL", "TIMEZONE", "CREATED AT", "PARENT"}, func(c account.Company) []any {
					return []any{c.ID, c.Name, c.Level, c.Zone.String(), when(c.CreatedAt, c.Zone), c.ParentID}
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
	}, func(ctx context.Context, a *app.App, actor account.Actor, in *input.Form) (any, error) {
		c, err := a.Accounts.SetCompany(ctx, actor, account.ReadCompanyDraft(in))
		if err != nil {
			return nil, err
		}
		return map[string]any{
			"id": c.ID, "name": c.Name, "whatsapp": c.Whatsapp, "level": c.Level, "timezone": c.Zone.String(), "renew_from": c.Settings.RenewFrom,
			"renew_on_payment": c.Settings.RenewOnPayment, "lead_days": c.Settings.LeadDays, "renew_invoice": c.Settings.RenewInvoice,
			"late_fee_percent": c.Settings.LateFeePercent.String(), "late_interest_percent": c.Settings.LateInterestPercent.String(),
			"discount_percent": c.Settings.DiscountPercent.String(), "discount_amount": c.Settings.DiscountAmount,
		}, nil
	})
	set.Flags().String("name", "", "name")
	set.Flags().String("whatsapp", "", "number that its resellers see")
	set.Flags().String("level", "", "user, reseller, master or ultra_master")
	set.Flags().String("timezone", "", "time zone that decides its days")
	set.Flags().String("renew-from", "", "what an expired customer's renewal counts from: due_date or today")
	set.Flags().Bool("renew-on-payment", false, "whether a paid invoice renews its customer")
	set.Flags().String("renew-invoice", "", "what becomes of the open invoice of a renewal by hand: keep, paid or cancelled")
	set.Flags().Int("lead-days", 0, "how many days before the due date an invoice is issued")
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
			return withApp(cmd, func(ctx context.Context, a *app.App) error {
				company, owner, err := a.Accounts.CreateCompany(ctx, account.ReadNewCompany(form(cmd)))
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
			return withCompany(cmd, func(ctx context.Context, a *app.App, actor account.Actor) error {
				_, plain, err := a.Accounts.CreateToken(ctx, actor, account.ReadNewToken(form(cmd)))
				if err != nil {
					return err
				}
				fmt.Fprintln(cmd.OutOrStdout(), plain)
				return nil
			})
		},
	})
	create.Flags().String("name", "", "what the token is for; one per integration can be revoked by itself")
	must(create.MarkFlagRequired("name"))

	del := addID(act(&cobra.Command{
		Use:   "delete",
		Short: "Delete a token; the next call with it fails",
	}, func(ctx context.Context, a *app.App, actor account.Actor, in *input.Form) (any, error) {
		id := in.ID("id").Value
		return map[string]any{"id": id, "deleted": true}, a.Accounts.DeleteToken(ctx, actor, id)
	}), "token")

	cmd := &cobra.Command{Use: "token", Short: "API tokens: create, list, delete", Args: cobra.NoArgs}
	cmd.AddCommand(create, del, list("List a company's tokens", []string{"ID", "NAME", "CREATED AT", "LAST USED AT"},
		func(ctx context.Context, a *app.App, actor account.Actor) ([]account.Token, error) {
			return a.Accounts.Tokens(ctx, actor)
		},
		func(actor account.Actor, t account.Token) []any {
			return []any{t.ID, t.Name, when(t.CreatedAt, actor.Company.Zone), when(t.LastUsedAt, actor.Company.Zone)}
		}))
	return cmd
}

// when prints a time for people, "" for never.
func when(t time.Time, zone *time.Location) string {
	if t.IsZero() {
		return ""
	}
	return t.In(zone).Format("2006-01-02 15:04:05 -07:00")
}
