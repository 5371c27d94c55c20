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

func resellerCommand() *cobra.Command {
	renew := resellerAct("renew",
		"Pay for more of a reseller's subscription with the company's credits",
		reading(reseller.ReadRenewRequest, (*reseller.Service).Renew), paidJSON)
	renew.Flags().Int64("plan-id", 0, "another subscription plan (default: the present one)")
	renew.Flags().Int("periods", 1, "how many periods are paid for")
	level := resellerAct("level",
		"Change the level of a reseller, as far as the company's own allows it",
		reading(reseller.ReadLevelRequest, (*reseller.Service).SetLevel), resellerJSON)
	level.Flags().String("level", "", "user, reseller, master or ultra_master")
	must(level.MarkFlagRequired("level"))
	set := resellerAct("set", "Change a reseller; what is not given stays",
		reading(reseller.ReadChanges, (*reseller.Service).Update), resellerJSON)
	set.Flags().String("name", "", "name of the reseller")
	set.Flags().String("email", "", "the owner's e-mail address")
	set.Flags().String("whatsapp", "", "phone")
	suspend := resellerAct("suspend", "Stop a reseller: it can sign in and read, and nothing else",
		withoutInput((*reseller.Service).Suspend), resellerJSON)
	resume := resellerAct("resume", "Take a suspension back", withoutInput((*reseller.Service).Resume), resellerJSON)

	cmd := &cobra.Command{
		Use:   "reseller",
		Short: "Resellers: create, list, set, level, renew, suspend, resume, invite",
		Args:  cobra.NoArgs,
	}
	cmd.AddCommand(resellerCreate(), resellerList(), set, level, renew, suspend, resume, resellerInvite())
	return cmd
}

func resellerCreate() *cobra.Command {
	create := act(&cobra.Command{
		Use:   "create",
		Short: "Make a reseller below a company: a trial, or a subscriber for credits",
		Example: `  carteira reseller create --company 1 --name "Loja do Beto" --email beto@example.com
  carteira reseller create --company 1 --name Norte --email n@example.com --type subscriber --plan-id 1 --periods 3`,
	}, func(ctx context.Context, program *app.App, actor account.Actor, in *input.Form) (any, error) {
		paid, err := program.Resellers.Create(ctx, actor, reseller.ReadNewReseller(in))
		return paidJSON(program, paid), err
	})
	create.Flags().String("name", "", "name of the reseller")
	create.Flags().String("email", "", "the owner's e-mail address, for signing in")
	create.Flags().String("whatsapp", "", "phone")
	create.Flags().String(
		"password",
		"",
		"the owner's password, at least 8 characters (default: none, an invitation link is printed)",
	)
	create.Flags().String("type", string(account.Trial), "trial or subscriber")
	create.Flags().Int64("plan-id", 0, "subscription plan (default for a trial: the oldest active one)")
	create.Flags().Int("periods", 1, "how many periods a subscriber pays for")
	return create
}

func resellerInvite() *cobra.Command {
	return addID(act(&cobra.Command{
		Use:   "invite",
		Short: "Print a new invitation link for an owner without a password; the old one stops working",
	}, func(ctx context.Context, program *app.App, actor account.Actor, in *input.Form) (any, error) {
		id := in.ID("id").Value
		link, err := program.Resellers.Invite(ctx, actor, id)
		return map[string]any{"id": id, "invitation_link": link}, err
	}), "reseller")
}

func resellerList() *cobra.Command {
	return list("List the resellers directly below a company",
		[]string{
			"ID", "NAME", "EMAIL", "LEVEL", "STATUS", "CREDITS", "PLAN", "EXPIRES AT", "CUSTOMERS",
		},
		func(ctx context.Context, program *app.App, actor account.Actor) ([]listedReseller, error) {
			resellers, _, err := program.Resellers.List(ctx, actor, reseller.Filter{}, all)
			records := make([]listedReseller, len(resellers))
			for i, seller := range resellers {
				records[i] = listedReseller{seller, seller.Standing(program.DB.Now())}
			}
			return records, err
		},
		func(_ account.Actor, listedReseller listedReseller) []any {
			return []any{
				listedReseller.ID, listedReseller.Name, listedReseller.Email, listedReseller.Level,
				listedReseller.standing, listedReseller.Credits, listedReseller.Plan.Name,
				listedReseller.Subscription.ExpiresOn, listedReseller.Customers,
			}
		})
}

type listedReseller struct {
	reseller.Reseller
	standing account.Standing
}

type resellerUse[T any] func(service *reseller.Service, ctx context.Context, actor account.Actor, id int64, in *input.Form) (T, error)

// reading is a use case with input from the flags.
func reading[In, T any](
	read func(*input.Form) In, do func(*reseller.Service, context.Context, account.Actor, int64, In) (T, error),
) resellerUse[T] {
	return func(service *reseller.Service, ctx context.Context, actor account.Actor, id int64, in *input.Form) (T, error) {
		return do(service, ctx, actor, id, read(in))
	}
}

// withoutInput is a use case that needs no more than the id.
func withoutInput[T any](do func(*reseller.Service, context.Context, account.Actor, int64) (T, error)) resellerUse[T] {
	return func(service *reseller.Service, ctx context.Context, actor account.Actor, id int64, _ *input.Form) (T, error) {
		return do(service, ctx, actor, id)
	}
}

// resellerAct makes a command that does something about the reseller of --id.
func resellerAct[T any](use, short string, do resellerUse[T], show func(*app.App, T) map[string]any) *cobra.Command {
	return addID(act(&cobra.Command{Use: use, Short: short},
		func(ctx context.Context, program *app.App, actor account.Actor, in *input.Form) (any, error) {
			id := in.ID("id").Value
			r, err := do(program.Resellers, ctx, actor, id, in)
			return show(program, r), err
		}), "reseller")
}

func resellerJSON(program *app.App, seller reseller.Reseller) map[string]any {
	if seller.Zone == nil { // there is none: an error is being reported
		return nil
	}
	return map[string]any{
		"id": seller.ID, "name": seller.Name, "email": seller.Email, "level": seller.Level,
		"status": seller.Standing(program.DB.Now()), "credits": seller.Credits,
		"plan_id": seller.Plan.ID, "expires_at": seller.Subscription.ExpiresOn.String(),
	}
}

func paidJSON(program *app.App, paid reseller.Paid) map[string]any {
	record := resellerJSON(program, paid.Reseller)
	if record == nil {
		return nil
	}
	record["credits_spent"], record["credits_balance"] = paid.CreditsSpent, paid.CreditsBalance
	if paid.InvitationLink != "" {
		record["invitation_link"] = paid.InvitationLink
	}
	return record
}

func subscriptionPlanCommand() *cobra.Command {
	create := act(subscriptionPlanFlags(&cobra.Command{
		Use:     "create",
		Short:   "Make a subscription plan, with a signup link",
		Example: `  carteira subscription-plan create --company 1 --name Revenda --value 49.90 --credits 1 --period 1month`,
	}), func(ctx context.Context, program *app.App, actor account.Actor, in *input.Form) (any, error) {
		plan, err := program.Resellers.CreatePlan(ctx, actor, reseller.ReadNewPlan(planList(in)))
		return subscriptionPlanJSON(program, plan), err
	})
	set := act(subscriptionPlanFlags(&cobra.Command{
		Use:     "set",
		Short:   "Change a subscription plan; what is not given stays, and functions are only added",
		Example: `  carteira subscription-plan set --company 1 --id 2 --functions webhooks,payments`,
	}), func(ctx context.Context, program *app.App, actor account.Actor, in *input.Form) (any, error) {
		id := in.ID("id").Value
		plan, err := program.Resellers.UpdatePlan(ctx, actor, id, reseller.ReadPlanChanges(planList(in)))
		return subscriptionPlanJSON(program, plan), err
	})
	set.Flags().Bool("active", true, "whether it can be chosen for resellers")
	addID(set, "subscription plan")
	renew := addID(act(&cobra.Command{
		Use:   "renew-link",
		Short: "Give a plan another signup link; the old one stops working",
	}, func(ctx context.Context, program *app.App, actor account.Actor, in *input.Form) (any, error) {
		id := in.ID("id").Value
		plan, err := program.Resellers.RenewSignupLink(ctx, actor, id)
		return subscriptionPlanJSON(program, plan), err
	}), "subscription plan")
	cmd := &cobra.Command{
		Use:   "subscription-plan",
		Short: "Plans sold to resellers: create, list, set, renew-link",
		Args:  cobra.NoArgs,
	}
	cmd.AddCommand(create, set, renew, list("List a company's subscription plans",
		[]string{
			"ID", "NAME", "VALUE", "CREDITS", "PERIOD", "TRIAL DAYS", "FUNCTIONS", "ACTIVE",
			"SIGNUP LINK",
		},
		func(ctx context.Context, program *app.App, actor account.Actor) ([]listedPlan, error) {
			plans, _, err := program.Resellers.Plans(ctx, actor, reseller.PlanFilter{}, all)
			records := make([]listedPlan, len(plans))
			for i, plan := range plans {
				records[i] = listedPlan{plan, program.Resellers.SignupLink(plan)}
			}
			return records, err
		},
		func(_ account.Actor, plan listedPlan) []any {
			return []any{
				plan.ID, plan.Name, plan.Value, plan.Credits, plan.Period.String(), plan.TrialDays,
				plan.Functions.Names(), plan.Active, plan.link,
			}
		}))
	return cmd
}

type listedPlan struct {
	reseller.Plan
	link string
}

func subscriptionPlanFlags(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().String("name", "", "name of the plan")
	cmd.Flags().String("value", "", "what a reseller pays for a period, such as 49.90")
	cmd.Flags().Int64("credits", 0, "what a period costs the company in credits")
	cmd.Flags().String("period", "", "what is paid for, such as 1month, 7days or 1year (default: 1month)")
	cmd.Flags().Int("trial-days", 0, "how long a trial lasts, 0 for none (default: 7)")
	cmd.Flags().String("functions", "", "what it switches on, with commas between (default: all that the company has)")
	return cmd
}

// planList gives the functions of a flag, which come with commas between, the
// form of a list.
func planList(in *input.Form) *input.Form {
	in.Split("functions")
	return in
}

func subscriptionPlanJSON(program *app.App, plan reseller.Plan) any {
	return map[string]any{
		"id": plan.ID, "name": plan.Name, "value": plan.Value, "credits": plan.Credits,
		"period": plan.Period.String(), "trial_days": plan.TrialDays,
		"functions": plan.Functions.Names(), "active": plan.Active,
		"signup_link": program.Resellers.SignupLink(plan),
	}
}

func creditsCommand() *cobra.Command {
	grant := amountFlags(act(&cobra.Command{
		Use:     "grant",
		Short:   "Make credits for a company at the top of the tree",
		Example: `  carteira credits grant --company 1 --amount 100 --note "PIX of January"`,
	}, func(ctx context.Context, program *app.App, actor account.Actor, in *input.Form) (any, error) {
		balance, err := program.Resellers.Grant(ctx, actor, reseller.ReadCreditRequest(in))
		return map[string]any{"company_id": actor.Company.ID, "balance": balance}, err
	}))
	cmd := &cobra.Command{Use: "credits", Short: "Credits: grant, transfer, take-back, statement", Args: cobra.NoArgs}
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
