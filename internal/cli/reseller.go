package cli

import (
	"context"

	"github.com/spf13/cobra"

	"carteira/internal/account"
	"carteira/internal/app"
	"carteira/internal/platform/input"
	"carteira/internal/reseller"
)

func resellerCommand() *cobra.Command {
	renew := resellerAct("renew", "Pay for more of a reseller's subscription with the company's credits",
		reading(reseller.ReadRenewRequest, (*reseller.Service).Renew), paidJSON)
	renew.Flags().Int64("plan-id", 0, "another subscription plan (default: the present one)")
	renew.Flags().Int("periods", 1, "how many periods are paid for")
	level := resellerAct("level", "Change the level of a reseller, as far as the company's own allows it",
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

	cmd := &cobra.Command{Use: "reseller", Short: "Resellers: create, list, set, level, renew, suspend, resume, invite", Args: cobra.NoArgs}
	cmd.AddCommand(resellerCreate(), resellerList(), set, level, renew, suspend, resume, resellerInvite())
	return cmd
}

func resellerCreate() *cobra.Command {
	create := act(&cobra.Command{
		Use:   "create",
		Short: "Make a reseller below a company: a trial, or a subscriber for credits",
		Example: `  carteira reseller create --company 1 --name "Loja do Beto" --email beto@example.com
  carteira reseller create --company 1 --name Norte --email n@example.com --type subscriber --plan-id 1 --periods 3`,
	}, func(ctx context.Context, a *app.App, actor account.Actor, in *input.Form) (any, error) {
		p, err := a.Resellers.Create(ctx, actor, reseller.ReadNewReseller(in))
		return paidJSON(a, p), err
	})
	create.Flags().String("name", "", "name of the reseller")
	create.Flags().String("email", "", "the owner's e-mail address, for signing in")
	create.Flags().String("whatsapp", "", "phone")
	create.Flags().String("password", "", "the owner's password, at least 8 characters (default: none, an invitation link is printed)")
	create.Flags().String("type", string(account.Trial), "trial or subscriber")
	create.Flags().Int64("plan-id", 0, "subscription plan (default for a trial: the oldest active one)")
	create.Flags().Int("periods", 1, "how many periods a subscriber pays for")
	return create
}

func resellerInvite() *cobra.Command {
	return addID(act(&cobra.Command{
		Use:   "invite",
		Short: "Print a new invitation link for an owner without a password; the old one stops working",
	}, func(ctx context.Context, a *app.App, actor account.Actor, in *input.Form) (any, error) {
		id := in.ID("id").Value
		link, err := a.Resellers.Invite(ctx, actor, id)
		return map[string]any{"id": id, "invitation_link": link}, err
	}), "reseller")
}

func resellerList() *cobra.Command {
	return list("List the resellers directly below a company",
		[]string{"ID", "NAME", "EMAIL", "LEVEL", "STATUS", "CREDITS", "PLAN", "EXPIRES AT", "CUSTOMERS"},
		func(ctx context.Context, a *app.App, actor account.Actor) ([]listedReseller, error) {
			resellers, _, err := a.Resellers.List(ctx, actor, reseller.Filter{}, all)
			records := make([]listedReseller, len(resellers))
			for i, r := range resellers {
				records[i] = listedReseller{r, r.Standing(a.DB.Now())}
			}
			return records, err
		},
		func(_ account.Actor, r listedReseller) []any {
			return []any{r.ID, r.Name, r.Email, r.Level, r.standing, r.Credits, r.Plan.Name, r.Subscription.ExpiresOn, r.Customers}
		})
}

type listedReseller struct {
	reseller.Reseller
	standing account.Standing
}

type resellerUse[T any] func(s *reseller.Service, ctx context.Context, actor account.Actor, id int64, in *input.Form) (T, error)

// reading is a use case whose input is read from the flags.
func reading[In, T any](
	read func(*input.Form) In, do func(*reseller.Service, context.Context, account.Actor, int64, In) (T, error),
) resellerUse[T] {
	return func(s *reseller.Service, ctx context.Context, actor account.Actor, id int64, in *input.Form) (T, error) {
		return do(s, ctx, actor, id, read(in))
	}
}

// withoutInput is a use case that needs no more than the id.
func withoutInput[T any](do func(*reseller.Service, context.Context, account.Actor, int64) (T, error)) resellerUse[T] {
	return func(s *reseller.Service, ctx context.Context, actor account.Actor, id int64, _ *input.Form) (T, error) {
		return do(s, ctx, actor, id)
	}
}

// resellerAct makes a command that does something about the reseller of --id.
func resellerAct[T any](use, short string, do resellerUse[T], show func(*app.App, T) map[string]any) *cobra.Command {
	return addID(act(&cobra.Command{Use: use, Short: short},
		func(ctx context.Context, a *app.App, actor account.Actor, in *input.Form) (any, error) {
			id := in.ID("id").Value
			r, err := do(a.Resellers, ctx, actor, id, in)
			return show(a, r), err
		}), "reseller")
}

func resellerJSON(a *app.App, r reseller.Reseller) map[string]any {
	if r.Zone == nil { // there is none: an error is being reported
		return nil
	}
	return map[string]any{
		"id": r.ID, "name": r.Name, "email": r.Email, "level": r.Level, "status": r.Standing(a.DB.Now()), "credits": r.Credits,
		"plan_id": r.Plan.ID, "expires_at": r.Subscription.ExpiresOn.String(),
	}
}

func paidJSON(a *app.App, p reseller.Paid) map[string]any {
	record := resellerJSON(a, p.Reseller)
	if record == nil {
		return nil
	}
	record["credits_spent"], record["credits_balance"] = p.CreditsSpent, p.CreditsBalance
	if p.InvitationLink != "" {
		record["invitation_link"] = p.InvitationLink
	}
	return record
}

func subscriptionPlanCommand() *cobra.Command {
	create := act(subscriptionPlanFlags(&cobra.Command{
		Use:     "create",
		Short:   "Make a subscription plan, with a signup link",
		Example: `  carteira subscription-plan create --company 1 --name Revenda --value 49.90 --credits 1 --period 1month`,
	}), func(ctx context.Context, a *app.App, actor account.Actor, in *input.Form) (any, error) {
		p, err := a.Resellers.CreatePlan(ctx, actor, reseller.ReadNewPlan(planList(in)))
		return subscriptionPlanJSON(a, p), err
	})
	set := act(subscriptionPlanFlags(&cobra.Command{
		Use:     "set",
		Short:   "Change a subscription plan; what is not given stays, and functions are only added",
		Example: `  carteira subscription-plan set --company 1 --id 2 --functions webhooks,payments`,
	}), func(ctx context.Context, a *app.App, actor account.Actor, in *input.Form) (any, error) {
		id := in.ID("id").Value
		p, err := a.Resellers.UpdatePlan(ctx, actor, id, reseller.ReadPlanChanges(planList(in)))
		return subscriptionPlanJSON(a, p), err
	})
	set.Flags().Bool("active", true, "whether it can be chosen for resellers")
	addID(set, "subscription plan")
	renew := addID(act(&cobra.Command{
		Use:   "renew-link",
		Short: "Give a plan another signup link; the old one stops working",
	}, func(ctx context.Context, a *app.App, actor account.Actor, in *input.Form) (any, error) {
		id := in.ID("id").Value
		p, err := a.Resellers.RenewSignupLink(ctx, actor, id)
		return subscriptionPlanJSON(a, p), err
	}), "subscription plan")
	cmd := &cobra.Command{Use: "subscription-plan", Short: "Plans sold to resellers: create, list, set, renew-link", Args: cobra.NoArgs}
	cmd.AddCommand(create, set, renew, list("List a company's subscription plans",
		[]string{"ID", "NAME", "VALUE", "CREDITS", "PERIOD", "TRIAL DAYS", "FUNCTIONS", "ACTIVE", "SIGNUP LINK"},
		func(ctx context.Context, a *app.App, actor account.Actor) ([]listedPlan, error) {
			plans, _, err := a.Resellers.Plans(ctx, actor, reseller.PlanFilter{}, all)
			records := make([]listedPlan, len(plans))
			for i, p := range plans {
				records[i] = listedPlan{p, a.Resellers.SignupLink(p)}
			}
			return records, err
		},
		func(_ account.Actor, p listedPlan) []any {
			return []any{p.ID, p.Name, p.Value, p.Credits, p.Period.String(), p.TrialDays, p.Functions.Names(), p.Active, p.link}
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

func subscriptionPlanJSON(a *app.App, p reseller.Plan) any {
	return map[string]any{
		"id": p.ID, "name": p.Name, "value": p.Value, "credits": p.Credits, "period": p.Period.String(), "trial_days": p.TrialDays,
		"functions": p.Functions.Names(), "active": p.Active, "signup_link": a.Resellers.SignupLink(p),
	}
}
