package app

import (
	"context"
	"testing"
	"time"

	"carteira/internal/account"
	"carteira/internal/catalog"
	"carteira/internal/customer"
	"carteira/internal/platform/sqldb"
	"carteira/internal/tally"
	"carteira/test/kit/housetest"
	"carteira/test/kit/sqldbtest"
)

// watched is a job, and the look by which it is woken.
type watched struct {
	look func() sqldb.Statement
	run  func(ctx context.Context) error
}

// A look finds the work that a job would do, and nothing once it is done.
// Otherwise the job would sleep while there is work, or never sleep.
func TestLooksFindWhatJobsDo(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		program, actor, clock, _ := newPayingProgram(t, engine)
		jobs := program.watched()
		program.leaveWork(t, actor)
		for name := range jobs {
			program.wantLook(t, name, jobs[name].look, true)
		}
		program.wantLook(t, "send messages", program.Reminders.Look, false)
		for name := range jobs {
			if name != "fold counts" {
				housetest.Must(t, jobs[name].run(t.Context()))
				program.wantLook(t, name, jobs[name].look, false)
			}
		}
		housetest.Must(t, jobs["fold counts"].run(t.Context())) // after those that count
		program.wantLook(t, "fold counts", tally.Look, false)
		program.wantLook(t, "send messages", program.Reminders.Look, false)
		clock.Advance(40 * time.Minute)
		program.wantLook(t, "send messages", program.Reminders.Look, true)
		program.wantLook(t, "deliver webhooks", program.Webhooks.Sender().Look, false)
	})
}

func (a *App) watched() map[string]watched {
	return map[string]watched{
		"fold counts":   {tally.Look, func(ctx context.Context) error { return tally.Compact(ctx, a.DB) }},
		"plan messages": {a.Reminders.PlanLook, a.planMessages},
		"count on":      {a.Customers.RepricingLook, a.Customers.ContinueRepricing},
	}
}

// leaveWork leaves something to do for every job.
func (a *App) leaveWork(t *testing.T, actor account.Actor) {
	t.Helper()
	plan, err := a.Catalog.CreatePlan(t.Context(), actor, catalog.ReadNewPlan(housetest.Form("name", "Anual", "value", "350.00", "period", "1year")))
	housetest.Must(t, err)
	for range 260 { // more than are counted with the change of their plan; every 64th asks for a look at the segments
		_, err := a.Customers.Create(t.Context(), actor, customer.ReadNew(housetest.Form("name", "Bia", "plan_id", number(plan.ID))))
		housetest.Must(t, err)
	}
	a.remind(t, actor, "Vence em {vencimento}")
	_, err = a.Catalog.UpdatePlan(t.Context(), actor, plan.ID, catalog.ReadPlanChanges(housetest.Form("value", "400.00")))
	housetest.Must(t, err)
	_, err = a.Customers.Create(t.Context(), actor, customer.ReadNew(housetest.Form("name", "Caio")))
	housetest.Must(t, err)
}

func (a *App) wantLook(t *testing.T, name string, look func() sqldb.Statement, want bool) {
	t.Helper()
	found, err := sqldb.Looks(t.Context(), a.DB, []sqldb.Statement{look()})
	housetest.Must(t, err)
	if found[0] != want {
		t.Errorf("the look of %q finds work: %v, want %v", name, found[0], want)
	}
}
