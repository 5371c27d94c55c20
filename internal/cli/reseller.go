package cli

import (
	"context"
	"math"

	"github.com/spf13/cobra"

	"carteira/internal/account"
	"carteira/internal/reseller"
)

func resellerCommand() *cobra.Command {
	const idFlag = "\nid!:int id of the reseller"
	return group("reseller", "Resellers: create, list, set, level, renew, suspend, resume, invite",
		resellerCreate(), resellerList(),
		act(command{
			use: "set", short: "Change a reseller; what is not given stays",
			flags: `
				name      name of the reseller
				email     the owner's e-mail address
				whatsapp  phone` + idFlag,
		}, func(ctx context.Context, c call) (any, error) {
			return c.reseller(c.Resellers.Update(ctx, c.actor, c.id(), reseller.ReadChanges(c.in)))
		}),
		act(command{
			use: "level", short: "Change the level of a reseller, as far as the company's own allows it",
			flags: "level! user, reseller, master or ultra_master" + idFlag,
		}, func(ctx context.Context, c call) (any, error) {
			return c.reseller(c.Resellers.SetLevel(ctx, c.actor, c.id(), reseller.ReadLevelRequest(c.in)))
		}),
		act(command{
			use: "renew", short: "Pay for more of a reseller's subscription with the company's credits",
			flags: `
				plan-id:int    another subscription plan (default: the present one)
				periods:int=1  how many periods are paid for` + idFlag,
		}, func(ctx context.Context, c call) (any, error) {
			return c.paid(c.Resellers.Renew(ctx, c.actor, c.id(), reseller.ReadRenewRequest(c.in)))
		}),
		act(command{use: "suspend", short: "Stop a reseller: it can sign in and read, and nothing else", flags: idFlag},
			func(ctx context.Context, c call) (any, error) {
				return c.reseller(c.Resellers.Suspend(ctx, c.actor, c.id()))
			}),
		act(command{use: "resume", short: "Take a suspension back", flags: idFlag},
			func(ctx context.Context, c call) (any, error) {
				return c.reseller(c.Resellers.Resume(ctx, c.actor, c.id()))
			}),
		act(command{
			use: "invite", flags: idFlag,
			short: "Print a new invitation link for an owner without a password; the old one stops working",
		}, func(ctx context.Context, c call) (any, error) {
			link, err := c.Resellers.Invite(ctx, c.actor, c.id())
			return map[string]any{"id": c.id(), "invitation_link": link}, err
		}))
}

func resellerCreate() *cobra.Command {
	return act(command{
		use: "create", short: "Make a reseller below a company: a trial, or a subscriber for credits",
		example: `  carteira reseller create --company 1 --name "Loja do Beto" --email beto@example.com
  carteira reseller create --company 1 --name Norte --email n@example.com --type subscriber --plan-id 1 --periods 3`,
		flags: `
			name           name of the reseller
			email          the owner's e-mail address, for signing in
			whatsapp       phone
			password       the owner's password, at least 8 characters (default: none, an invitation link is printed)
			type=trial     trial or subscriber
			plan-id:int    subscription plan (default for a trial: the oldest active one)
			periods:int=1  how many periods a subscriber pays for`,
	}, func(ctx context.Context, c call) (any, error) {
		return c.paid(c.Resellers.Create(ctx, c.actor, reseller.ReadNewReseller(c.in)))
	})
}

func resellerList() *cobra.Command {
	return list(command{short: "List the resellers directly below a company"},
		"ID,NAME,EMAIL,LEVEL,STATUS,CREDITS,PLAN,EXPIRES AT,CUSTOMERS",
		func(ctx context.Context, c call) ([]reseller.Reseller, error) {
			resellers, _, err := c.Resellers.List(ctx, c.actor, reseller.Filter{}, all)
			return resellers, err
		},
		func(c call, seller reseller.Reseller) []any {
			return []any{
				seller.ID, seller.Name, seller.Email, seller.Level, seller.Standing(c.DB.Now()), seller.Credits,
				seller.Plan.Name, seller.Subscription.ExpiresOn, seller.Customers,
			}
		})
}

// reseller is what the commands print of a reseller.
func (c call) reseller(seller reseller.Reseller, err error) (map[string]any, error) {
	if err != nil {
		return nil, err
	}
	return map[string]any{
		"id": seller.ID, "name": seller.Name, "email": seller.Email, "level": seller.Level,
		"status": seller.Standing(c.DB.Now()), "credits": seller.Credits,
		"plan_id": seller.Plan.ID, "expires_at": seller.Subscription.ExpiresOn.String(),
	}, nil
}

func (c call) paid(paid reseller.Paid, err error) (any, error) {
	record, err := c.reseller(paid.Reseller, err)
	if err != nil {
		return nil, err
	}
	record["credits_spent"], record["credits_balance"] = paid.CreditsSpent, paid.CreditsBalance
	if paid.InvitationLink != "" {
		record["invitation_link"] = paid.InvitationLink
	}
	return record, nil
}

const subscriptionPlanColumns = "ID,NAME,VALUE,CREDITS,PERIOD,TRIAL DAYS,FUNCTIONS,ACTIVE,SIGNUP LINK"

func subscriptionPlanCommand() *cobra.Command {
	const flags = `
		name            name of the plan
		value           what a reseller pays for a period, such as 49.90
		credits:int     what a period costs the company in credits
		period          what is paid for, such as 1month, 7days or 1year (default: 1month)
		trial-days:int  how long a trial lasts, 0 for none (default: 7)
		functions       what it switches on, with commas between (default: all that the company has)`
	const idFlag = "\nid!:int id of the subscription plan"
	return group("subscription-plan", "Plans sold to resellers: create, list, set, renew-link",
		act(command{
			use: "create", short: "Make a subscription plan, with a signup link", flags: flags,
			example: `  carteira subscription-plan create --company 1 --name Revenda --value 49.90 --credits 1 --period 1month`,
		}, func(ctx context.Context, c call) (any, error) {
			c.in.Split("functions")
			return c.subscriptionPlan(c.Resellers.CreatePlan(ctx, c.actor, reseller.ReadNewPlan(c.in)))
		}),
		act(command{
			use: "set", short: "Change a subscription plan; what is not given stays, and functions are only added",
			example: `  carteira subscription-plan set --company 1 --id 2 --functions webhooks,payments`,
			flags:   flags + "\nactive:bool=true whether it can be chosen for resellers" + idFlag,
		}, func(ctx context.Context, c call) (any, error) {
			c.in.Split("functions")
			return c.subscriptionPlan(c.Resellers.UpdatePlan(ctx, c.actor, c.id(), reseller.ReadPlanChanges(c.in)))
		}),
		act(command{use: "renew-link", short: "Give a plan another signup link; the old one stops working", flags: idFlag},
			func(ctx context.Context, c call) (any, error) {
				return c.subscriptionPlan(c.Resellers.RenewSignupLink(ctx, c.actor, c.id()))
			}),
		list(command{short: "List a company's subscription plans"}, subscriptionPlanColumns,
			func(ctx context.Context, c call) ([]reseller.Plan, error) {
				plans, _, err := c.Resellers.Plans(ctx, c.actor, reseller.PlanFilter{}, all)
				return plans, err
			}, subscriptionPlanRow))
}

func (c call) subscriptionPlan(plan reseller.Plan, err error) (any, error) {
	return object(subscriptionPlanColumns, subscriptionPlanRow(c, plan)), err
}

func subscriptionPlanRow(c call, plan reseller.Plan) []any {
	return []any{
		plan.ID, plan.Name, plan.Value, plan.Credits, plan.Period.String(), plan.TrialDays, plan.Functions.Names(),
		plan.Active, c.Resellers.SignupLink(plan),
	}
}

func creditsCommand() *cobra.Command {
	return group("credits", "Credits: grant, transfer, take-back, statement",
		act(command{
			use: "grant", short: "Make credits for a company at the top of the tree", flags: amountFlags,
			example: `  carteira credits grant --company 1 --amount 100 --note "PIX of January"`,
		}, func(ctx context.Context, c call) (any, error) {
			balance, err := c.Resellers.Grant(ctx, c.actor, reseller.ReadCreditRequest(c.in))
			return map[string]any{"company_id": c.actor.Company.ID, "balance": balance}, err
		}),
		move("transfer", "to", "Hand credits on to a reseller", (*reseller.Service).Transfer),
		move("take-back", "from", "Take back what a reseller has not spent", (*reseller.Service).TakeBack),
		list(command{use: "statement", short: "List what became of a company's credits, newest first"},
			"ID,AT,KIND,AMOUNT,BALANCE,RESELLER,PLAN,PERIODS,BY,NOTE",
			func(ctx context.Context, c call) ([]reseller.Entry, error) {
				return c.Resellers.Statement(ctx, c.actor, 0, math.MaxInt32)
			},
			func(c call, entry reseller.Entry) []any {
				return []any{
					entry.ID, when(entry.CreatedAt, c.actor.Company.Zone), entry.Kind, entry.Amount, entry.Balance,
					entry.Reseller.Name, entry.Plan.Name, entry.Periods, entry.By, entry.Note,
				}
			}))
}

const amountFlags = `
	amount!:int  how many credits
	note         what for, for the statement`

type mover func(
	service *reseller.Service, ctx context.Context, actor account.Actor, id int64, request reseller.CreditRequest,
) (reseller.Moved, error)

func move(use, other, short string, do mover) *cobra.Command {
	return act(command{use: use, short: short, flags: amountFlags + "\n" + other + "!:int id of the reseller"},
		func(ctx context.Context, c call) (any, error) {
			id := c.in.ID(other).Value
			moved, err := do(c.Resellers, ctx, c.actor, id, reseller.ReadCreditRequest(c.in))
			return map[string]any{
				"company_id": c.actor.Company.ID, "balance": moved.Balance, "reseller_id": id,
				"reseller_balance": moved.ResellerBalance,
			}, err
		})
}
