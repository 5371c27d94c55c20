package cli

import (
	"context"
	"strconv"

	"carteira/internal/account"
	"carteira/internal/app"
	"carteira/internal/platform/input"
)

// seedResellers gives the demo company credits, subscription plans and a small
// tree of resellers: one that pays and has a reseller of its own, one that
// tries, one that is suspended.
func seedResellers(ctx context.Context, a *app.App, actor account.Actor) error {
	if _, err := a.Resellers.Grant(ctx, actor, values("amount", "60", "note", "Créditos da demonstração")); err != nil {
		return err
	}
	monthly, err := a.Resellers.CreatePlan(ctx, actor, values("name", "Revenda mensal", "value", "49.90", "credits", "1", "period", "1month"))
	if err != nil {
		return err
	}
	_, err = a.Resellers.CreatePlan(ctx, actor, values("name", "Revenda anual", "value", "499.00", "credits", "10", "period", "1year", "trial_days", "14"))
	if err != nil {
		return err
	}
	plan := strconv.FormatInt(monthly.ID, 10)
	north, err := a.Resellers.Create(ctx, actor, values("name", "Norte Telecom", "email", "revenda@example.com", "password", demoPassword,
		"whatsapp", "(92) 98877-6655", "type", "subscriber", "plan_id", plan, "periods", "3"))
	if err != nil {
		return err
	}
	if _, err := a.Resellers.SetLevel(ctx, actor, north.ID, values("level", string(account.LevelReseller))); err != nil {
		return err
	}
	if _, err := a.Resellers.Transfer(ctx, actor, north.ID, values("amount", "12", "note", "Primeiro lote")); err != nil {
		return err
	}
	if _, err := a.Resellers.Create(ctx, actor, values("name", "Loja do Beto", "email", "beto@example.com", "plan_id", plan)); err != nil {
		return err
	}
	stopped, err := a.Resellers.Create(ctx, actor, values("name", "Sul Conecta", "email", "sul@example.com", "type", "subscriber", "plan_id", plan))
	if err != nil {
		return err
	}
	if _, err := a.Resellers.Suspend(ctx, actor, stopped.ID); err != nil {
		return err
	}
	return seedBelow(ctx, a, north.ID)
}

// seedBelow lets a reseller sell on its own.
func seedBelow(ctx context.Context, a *app.App, id int64) error {
	actor, err := a.Accounts.Actor(ctx, id)
	if err != nil {
		return err
	}
	plan, err := a.Resellers.CreatePlan(ctx, actor, values("name", "Ponto de venda", "value", "29.90", "credits", "1", "period", "1month"))
	if err != nil {
		return err
	}
	_, err = a.Resellers.Create(ctx, actor, values("name", "Ponto Net", "email", "ponto@example.com", "type", "subscriber",
		"plan_id", strconv.FormatInt(plan.ID, 10), "periods", "2"))
	return err
}

// values makes a form of names and values in turn.
func values(pairs ...string) *input.Form {
	m := make(map[string]string, len(pairs)/2)
	for i := 0; i+1 < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return input.FromStrings(m)
}
