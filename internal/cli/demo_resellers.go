package cli

import (
	"context"
	"fmt"

	"carteira/internal/account"
	"carteira/internal/app"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/input"
	"carteira/internal/platform/money"
	"carteira/internal/reseller"
)

// demoReseller signs in to a reseller of the demo's company, which has resellers
// of its own. The password is the demo's.
const demoReseller = "revenda@example.com"

// seedResellers makes a small tree under the demo company, two levels deep, with
// credits on their way down, and returns the plans that it sells.
func seedResellers(ctx context.Context, program *app.App, root account.Actor) ([]reseller.Plan, error) {
	if _, err := program.Accounts.SetCompany(ctx, root, account.CompanyDraft{Whatsapp: input.Some("5511987654321")}); err != nil {
		return nil, err
	}
	grant := reseller.CreditRequest{Amount: 500, Note: "Crédito inicial da demonstração"}
	if _, err := program.Resellers.Grant(ctx, root, grant); err != nil {
		return nil, err
	}
	plans, err := seedSubscriptionPlans(ctx, program, root)
	if err != nil {
		return nil, err
	}
	start, pro := plans[0].ID, plans[1].ID
	if err := seedNorte(ctx, program, root, pro); err != nil {
		return nil, err
	}
	_, err = program.Resellers.Create(ctx, root, reseller.NewReseller{
		Name: "Sul Conecta", Email: "sul@example.com", Whatsapp: "5551992345678",
		Kind: account.Subscriber, PlanID: start, Periods: 12,
	})
	if err != nil {
		return nil, err
	}
	stopped, err := program.Resellers.Create(ctx, root, reseller.NewReseller{
		Name: "Vale Telecom", Email: "vale@example.com", Kind: account.Subscriber, PlanID: start,
	})
	if err != nil {
		return nil, err
	}
	_, err = program.Resellers.Suspend(ctx, root, stopped.ID)
	return plans, err
}

// seedTrials makes resellers that try the plans today.
func seedTrials(ctx context.Context, program *app.App, root account.Actor, plans []reseller.Plan) error {
	for _, newReseller := range []reseller.NewReseller{
		{Name: "Casa da Fibra", Email: "fibra@example.com", Password: demoPassword, PlanID: plans[0].ID},
		{Name: "Litoral Net", Email: "litoral@example.com", Whatsapp: "5548993456789", PlanID: plans[1].ID},
	} {
		if _, err := program.Resellers.Create(ctx, root, newReseller); err != nil {
			return err
		}
	}
	return nil
}

// seedNorte makes the reseller that has resellers of its own.
func seedNorte(ctx context.Context, program *app.App, root account.Actor, planID int64) error {
	norte, err := program.Resellers.Create(ctx, root, reseller.NewReseller{
		Name: "Rede Norte", Email: demoReseller, Password: demoPassword, Whatsapp: "5592981234567",
		Kind: account.Subscriber, PlanID: planID, Periods: 3,
	})
	if err != nil {
		return err
	}
	_, err = program.Resellers.SetLevel(
		ctx,
		root,
		norte.ID,
		reseller.LevelRequest{Level: account.LevelMaster},
	)
	if err != nil {
		return err
	}
	_, err = program.Resellers.Transfer(ctx, root, norte.ID, reseller.CreditRequest{
		Amount: 120,
		Note:   "PIX recebido",
	})
	if err != nil {
		return err
	}
	return seedChildren(ctx, program, norte.ID)
}

// seedChildren gives a reseller a plan and resellers of its own.
func seedChildren(ctx context.Context, program *app.App, id int64) error {
	actor, err := program.Accounts.Actor(ctx, id)
	if err != nil {
		return err
	}
	plan, err := program.Resellers.CreatePlan(ctx, actor, monthly("Parceiro", 3990, 2))
	if err != nil {
		return err
	}
	for _, name := range []string{"Manaus Wi-Fi", "Belém Online"} {
		_, err := program.Resellers.Create(ctx, actor, reseller.NewReseller{
			Name:   name,
			Email:  fmt.Sprintf("%dparceiro@example.com", len(name)),
			Kind:   account.Subscriber,
			PlanID: plan.ID,
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// monthly is a plan of one month.
func monthly(name string, value money.Cents, credits int64) reseller.PlanDraft {
	return reseller.PlanDraft{
		Name: input.Some(name), Value: input.Some(value), Credits: input.Some(credits),
		Period: input.Some(civil.Period{Unit: civil.Month, Count: 1}),
	}
}

func seedSubscriptionPlans(ctx context.Context, program *app.App, root account.Actor) (plans []reseller.Plan, err error) {
	start, pro := monthly("Revenda Início", 2990, 1), monthly("Revenda Pro", 7990, 3)
	start.TrialDays, start.Functions = input.Some(int64(5)), input.Some([]string{"payments", "reminders", "import"})
	pro.TrialDays = input.Some(int64(15))
	for _, draft := range []reseller.PlanDraft{start, pro} {
		plan, err := program.Resellers.CreatePlan(ctx, root, draft)
		if err != nil {
			return nil, err
		}
		plans = append(plans, plan)
	}
	return plans, nil
}
