package cli

import (
	"context"
	"strconv"

	"carteira/internal/account"
	"carteira/internal/app"
	"carteira/internal/platform/input"
	"carteira/internal/reseller"
)

// demoReseller signs in to a company below the demo's, which has resellers of
// its own. The password is the demo's.
const demoReseller = "revenda@example.com"

// seedResellers makes a small tree below the demo company: every standing that
// can be made today, two levels deep, with credits on their way down.
func seedResellers(ctx context.Context, a *app.App, root account.Actor) error {
	if _, err := a.Accounts.SetCompany(ctx, root, fields("whatsapp", "(11) 98765-4321")); err != nil {
		return err
	}
	if _, err := a.Resellers.Grant(ctx, root, fields("amount", "500", "note", "Crédito inicial da demonstração")); err != nil {
		return err
	}
	plans, err := seedSubscriptionPlans(ctx, a, root)
	if err != nil {
		return err
	}
	start, pro := strconv.FormatInt(plans[0].ID, 10), strconv.FormatInt(plans[1].ID, 10)
	norte, err := a.Resellers.Create(ctx, root, fields("name", "Rede Norte", "email", demoReseller, "password", demoPassword,
		"whatsapp", "(92) 98123-4567", "type", "subscriber", "plan_id", pro, "periods", "3"))
	if err != nil {
		return err
	}
	if _, err := a.Resellers.SetLevel(ctx, root, norte.ID, fields("level", string(account.LevelMaster))); err != nil {
		return err
	}
	if _, err := a.Resellers.Transfer(ctx, root, norte.ID, fields("amount", "120", "note", "PIX recebido")); err != nil {
		return err
	}
	for _, r := range [][]string{
		{
			"name", "Sul Conecta", "email", "sul@example.com", "whatsapp", "(51) 99234-5678",
			"type", "subscriber", "plan_id", start, "periods", "12",
		},
		{"name", "Casa da Fibra", "email", "fibra@example.com", "password", demoPassword, "type", "trial", "plan_id", start},
		{"name", "Litoral Net", "email", "litoral@example.com", "whatsapp", "(48) 99345-6789", "type", "trial", "plan_id", pro},
	} {
		if _, err := a.Resellers.Create(ctx, root, fields(r...)); err != nil {
			return err
		}
	}
	stopped, err := a.Resellers.Create(ctx, root,
		fields("name", "Vale Telecom", "email", "vale@example.com", "type", "subscriber", "plan_id", start))
	if err != nil {
		return err
	}
	if _, err := a.Resellers.Suspend(ctx, root, stopped.ID); err != nil {
		return err
	}
	return seedBelow(ctx, a, norte.ID)
}

// seedBelow gives a reseller a plan and resellers of its own.
func seedBelow(ctx context.Context, a *app.App, id int64) error {
	actor, err := a.Accounts.Actor(ctx, id)
	if err != nil {
		return err
	}
	plan, err := a.Resellers.CreatePlan(ctx, actor, fields("name", "Parceiro", "value", "39.90", "credits", "2", "period", "1month"))
	if err != nil {
		return err
	}
	for _, name := range []string{"Manaus Wi-Fi", "Belém Online"} {
		_, err := a.Resellers.Create(ctx, actor, fields("name", name, "email", strconv.Itoa(len(name))+"parceiro@example.com",
			"type", "subscriber", "plan_id", strconv.FormatInt(plan.ID, 10)))
		if err != nil {
			return err
		}
	}
	return nil
}

func seedSubscriptionPlans(ctx context.Context, a *app.App, root account.Actor) (plans []reseller.Plan, err error) {
	for _, p := range []*input.Form{
		input.FromForm(map[string][]string{
			"name": {"Revenda Início"}, "value": {"29.90"}, "credits": {"1"}, "period": {"1month"}, "trial_days": {"5"},
			"functions": {"payments", "reminders", "import"},
		}, "functions"),
		fields("name", "Revenda Pro", "value", "79.90", "credits", "3", "period", "1month", "trial_days", "15"),
	} {
		plan, err := a.Resellers.CreatePlan(ctx, root, p)
		if err != nil {
			return nil, err
		}
		plans = append(plans, plan)
	}
	return plans, nil
}

// fields makes a form of names and values in turn.
func fields(pairs ...string) *input.Form {
	values := make(map[string]string, len(pairs)/2)
	for i := 0; i+1 < len(pairs); i += 2 {
		values[pairs[i]] = pairs[i+1]
	}
	return input.FromStrings(values)
}
