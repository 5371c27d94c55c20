package reseller

import (
	"strings"
	"testing"

	"carteira/internal/account"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
)

func jsonForm(t *testing.T, body string) *input.Form {
	t.Helper()
	in, err := input.FromJSON([]byte(body))
	must(t, err)
	return in
}

func page(number, size int64) input.Page { return input.Page{Number: number, Size: size} }

func TestFunctionsAreOnlyAddedAndThereAtOnce(t *testing.T) {
	each(t, func(t *testing.T, shop *shop) {
		root := shop.root(t, 10)
		plan, err := shop.CreatePlan(t.Context(), root, ReadNewPlan(jsonForm(t, `{"name":"A","value":"10","credits":1,"functions":["api","webhooks"]}`)))
		must(t, err)
		elsewhere := shop.plan(t, root, "functions", "api")
		actor := shop.below(t, root, "plan_id", idText(plan.ID))
		other := shop.below(t, root, "plan_id", idText(elsewhere.ID))
		for _, step := range []struct{ body, want string }{
			{`{"functions":["payments"]}`, ",api,webhooks,payments,"},
			{`{"functions":["api"]}`, ",api,webhooks,payments,"},
			{`{"functions":[]}`, ",api,webhooks,payments,"},
			{`{"functions":null,"name":"B"}`, ",api,webhooks,payments,"},
			{`{"functions":"import"}`, ",api,webhooks,payments,import,"},
		} {
			p, err := shop.UpdatePlan(t.Context(), root, plan.ID, ReadPlanChanges(jsonForm(t, step.body)))
			if err != nil || p.Functions.String() != step.want {
				t.Errorf("%s: %v, %v; want %s", step.body, p.Functions, err, step.want)
			}
			if got := shop.actor(t, actor.Company.ID).Company.Subscription.Functions.String(); got != step.want {
				t.Errorf("%s: the reseller on the plan has %s", step.body, got)
			}
		}
		if got := shop.actor(t, other.Company.ID).Company.Subscription.Functions.String(); got != ",api," {
			t.Errorf("a reseller on another plan has %s", got)
		}
	})
}

func TestNobodyGivesWhatItDoesNotHave(t *testing.T) {
	each(t, func(t *testing.T, shop *shop) {
		root := shop.root(t, 10)
		small := shop.plan(t, root, "functions", "resellers")
		actor := shop.below(t, root, "plan_id", idText(small.ID))
		_, err := shop.CreatePlan(t.Context(), actor, ReadNewPlan(jsonForm(t, `{"name":"A","value":1,"credits":1,"functions":["resellers","api","teleport"]}`)))
		wantFields(t, err, "functions")
		if reasons := fault.FieldsOf(err).Get("functions"); len(reasons) != 2 ||
			reasons[0] != "the company does not have api itself" || !strings.HasPrefix(reasons[1], `"teleport" is not a function; there are api, webhooks,`) {
			t.Errorf("reasons %q", reasons)
		}
		plan := shop.plan(t, actor)
		if plan.Functions != account.FunctionsOf(account.FunctionResellers) {
			t.Errorf("a plan that names none has %v, want those of the company", plan.Functions)
		}
		_, err = shop.UpdatePlan(t.Context(), actor, plan.ID, ReadPlanChanges(jsonForm(t, `{"functions":["api"]}`)))
		wantFields(t, err, "functions")
		if trial := shop.below(t, actor); trial.Company.Subscription.Functions != account.FunctionsOf(account.FunctionResellers) {
			t.Errorf("a trial has %v", trial.Company.Subscription.Functions)
		}
	})
}

func TestPlanFieldsAreChecked(t *testing.T) {
	each(t, func(t *testing.T, shop *shop) {
		root := shop.root(t, 0)
		_, err := shop.CreatePlan(t.Context(), root, ReadNewPlan(jsonForm(t, `{"period_unit":"moon","period_count":0,"trial_days":-1,"active":"maybe","nmae":"x"}`)))
		wantFields(t, err, "name", "value", "credits", "period_unit", "period_count", "trial_days", "active", "nmae")
		plan, err := shop.CreatePlan(t.Context(), root, ReadNewPlan(jsonForm(t, `{"name":"A","value":"49.90","credits":"2","period_unit":"week","period_count":"2","trial_days":"","active":""}`)))
		must(t, err)
		if plan.Period.String() != "2weeks" || plan.TrialDays != 7 || !plan.Active || plan.Value != 4990 || plan.Credits != 2 {
			t.Errorf("plan %+v", plan)
		}
		plan, err = shop.UpdatePlan(t.Context(), root, plan.ID, ReadPlanChanges(jsonForm(t, `{"period_count":3,"active":false,"trial_days":0}`)))
		if err != nil || plan.Period.String() != "3weeks" || plan.Active || plan.TrialDays != 0 || plan.Name != "A" {
			t.Errorf("plan %+v, %v", plan, err)
		}
		_, err = shop.UpdatePlan(t.Context(), root, plan.ID, ReadPlanChanges(jsonForm(t, `{"name":null,"credits":"","active":null,"period":"x"}`)))
		wantFields(t, err, "name", "credits", "active", "period")
		stranger := shop.root(t, 0)
		_, err = shop.UpdatePlan(t.Context(), stranger, plan.ID, ReadPlanChanges(jsonForm(t, `{"name":"Mine"}`)))
		wantKind(t, err, fault.KindNotFound)
		_, err = shop.FindPlan(t.Context(), stranger, plan.ID)
		wantKind(t, err, fault.KindNotFound)
	})
}

func TestPlansAreListedByNameAndState(t *testing.T) {
	each(t, func(t *testing.T, shop *shop) {
		root := shop.root(t, 0)
		gold, _, old := shop.plan(t, root, "name", "Ouro"), shop.plan(t, root, "name", "Prata"), shop.plan(t, root, "name", "Ouro velho", "active", "false")
		shop.plan(t, shop.root(t, 0), "name", "Ouro alheio")
		list, n, err := shop.Plans(t.Context(), root, ReadPlanFilter(form("search", "OURO")), page(1, 1))
		if err != nil || n != 2 || len(list) != 1 || list[0].ID != old.ID {
			t.Errorf("%+v of %d, %v", list, n, err)
		}
		list, n, err = shop.Plans(t.Context(), root, ReadPlanFilter(form("search", "ouro", "active", "1")), page(1, 50))
		if err != nil || n != 1 || list[0].ID != gold.ID {
			t.Errorf("%+v of %d, %v", list, n, err)
		}
	})
}

func TestRenewedSignupLinkReplacesTheOld(t *testing.T) {
	each(t, func(t *testing.T, shop *shop) {
		root := shop.root(t, 0)
		plan := shop.plan(t, root)
		if !strings.HasPrefix(shop.SignupLink(plan), "https://clientes.example.com/signup/") || len(plan.SignupCode) != 20 {
			t.Errorf("link %s", shop.SignupLink(plan))
		}
		renewed, err := shop.RenewSignupLink(t.Context(), root, plan.ID)
		must(t, err)
		if _, err := shop.FindOffer(t.Context(), plan.SignupCode); fault.KindOf(err) != fault.KindNotFound {
			t.Errorf("the old link offers %v", err)
		}
		offer, err := shop.FindOffer(t.Context(), renewed.SignupCode)
		if err != nil || offer.Plan.ID != plan.ID || offer.Company.ID != root.Company.ID {
			t.Errorf("%+v, %v", offer, err)
		}
	})
}
