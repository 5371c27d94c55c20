package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"carteira/internal/account"
)

func companyCommand() *cobra.Command {
	return group("company", "Companies: create, list, set",
		opened(command{
			use: "create", short: "Make a company and its owner",
			example: `  carteira company create --name "Ana Internet" --email ana@example.com
  carteira company create --name "Noronha Net" --email n@example.com --timezone America/Noronha`,
			flags: `
				name!      name of the company
				email!     the owner's e-mail address, for signing in
				user-name  the owner's name (default: from the e-mail address)
				password   the owner's password, at least 8 characters (default: none, no sign-in)
				level=` + string(account.LevelUltraMaster) + ` user, reseller, master or ultra_master
				timezone=` + account.DefaultTimezone + ` time zone that decides its days`,
		}, func(ctx context.Context, c call) error {
			company, owner, err := c.Accounts.CreateCompany(ctx, account.ReadNewCompany(c.in))
			if err != nil {
				return err
			}
			return printJSON(c.cmd, map[string]int64{"company_id": company.ID, "user_id": owner.ID})
		}),
		opened(command{use: "list", short: "List all companies", flags: jsonFlag}, func(ctx context.Context, c call) error {
			companies, err := c.Accounts.Companies(ctx)
			if err != nil {
				return err
			}
			return printList(c.cmd, companies, "ID,NAME,LEVEL,TIMEZONE,CREATED AT,PARENT", func(company account.Company) []any {
				return []any{
					company.ID, company.Name, company.Level, company.Zone.String(),
					when(company.CreatedAt, company.Zone), reference(company.ParentID),
				}
			})
		}),
		companySet())
}

func companySet() *cobra.Command {
	return act(command{
		use: "set", short: "Change a company and its settings; what is not given stays",
		example: "  carteira company set --company 1 --timezone America/Manaus --renew-from today",
		flags:   companyFlags(),
	}, func(ctx context.Context, c call) (any, error) {
		company, err := c.Accounts.SetCompany(ctx, c.actor, account.ReadCompanyDraft(c.in))
		if err != nil {
			return nil, err
		}
		record := map[string]any{"id": company.ID}
		for _, field := range account.CompanyFields {
			if field.Flag != "" {
				record[field.Name] = field.Of(&company)
			}
		}
		return record, nil
	})
}

// companyFlags are the flags of the fields of a company that have one.
func companyFlags() (lines string) {
	blank := account.Company{Zone: time.UTC}
	for _, field := range account.CompanyFields {
		flag := "\n" + strings.ReplaceAll(field.Name, "_", "-")
		switch value := field.Of(&blank); {
		case field.Flag == "":
			continue
		case value == false:
			flag += ":bool"
		case value == 0:
			flag += ":int"
		}
		lines += flag + " " + field.Flag
	}
	return lines
}

func tokenCommand() *cobra.Command {
	return group("token", "API tokens: create, list, delete",
		forCompany(command{
			use: "create", short: "Make a token and print it; it cannot be shown again",
			example: "  carteira token create --company 1 --name n8n",
			flags: `
				name!       what the token is for; one per integration can be revoked by itself
				scope=full  full, or read: a token that can change nothing
				expires     last day on which it works, YYYY-MM-DD; never when it is not given`,
		}, func(ctx context.Context, c call) error {
			_, plain, err := c.Accounts.CreateToken(ctx, c.actor, account.ReadNewToken(c.in))
			if err == nil {
				fmt.Fprintln(c.cmd.OutOrStdout(), plain)
			}
			return err
		}),
		act(command{use: "delete", short: "Delete a token; the next call with it fails", flags: "id!:int id of the token"},
			func(ctx context.Context, c call) (any, error) {
				return c.done("deleted", c.Accounts.DeleteToken(ctx, c.actor, c.id()))
			}),
		listOf(command{short: "List a company's tokens"}, account.TokenFields,
			func(ctx context.Context, c call) ([]account.Token, error) { return c.Accounts.Tokens(ctx, c.actor) }))
}

// userCommand is the way back in for a company if its only owner has lost the
// password or the phone.
func userCommand() *cobra.Command {
	const idFlag = "\nid!:int id of the user"
	return group("user", "Users of the panel: list, link, nofactor, remove",
		act(command{
			use: "link", short: "Make a link by which a user sets a password, once", flags: idFlag,
			example: "  carteira user link --company 1 --id 1",
		}, func(ctx context.Context, c call) (any, error) {
			user, link, err := c.Accounts.NewPasswordLink(ctx, c.actor, c.id())
			return map[string]any{"id": user.ID, "email": user.Email, "link": c.Config.PublicURL + "/password/" + link}, err
		}),
		act(command{
			use: "nofactor", short: "Switch a user's second factor off", flags: idFlag,
			long: "Nofactor is for users who have lost both the app and the recovery codes.",
		}, func(ctx context.Context, c call) (any, error) {
			user, err := c.Accounts.RemoveSecondFactor(ctx, c.actor, c.id())
			return map[string]any{"id": user.ID, "email": user.Email, "second_factor": false}, err
		}),
		act(command{
			use: "remove", short: "Remove a user, and the API tokens that the user made",
			flags: "keep-tokens:bool leave the tokens that the user made as they are" + idFlag,
		}, func(ctx context.Context, c call) (any, error) {
			return c.done("removed", c.Accounts.RemoveUser(ctx, c.actor, c.id(), c.in.Bool("keep_tokens").Value))
		}),
		list(command{short: "List a company's users"}, columns(account.UserFields)+",SECOND FACTOR,CREATED AT",
			func(ctx context.Context, c call) ([]account.Person, error) { return c.Accounts.Users(ctx, c.actor) },
			func(c call, person account.Person) []any {
				return append(row(c, account.UserFields, &person.User), person.SecondFactor,
					when(person.CreatedAt, c.actor.Company.Zone))
			}))
}
