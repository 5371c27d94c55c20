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
	each(t, func(t *testing.T, s *shop) {
		root := s.root(t, 10)
		plan, err := s.CreatePlan(t.Context(), root, ReadNewPlan(jsonForm(t, `{"name":"A","value":"10","credits":1,"functions":["api","webhooks"]}`)))
		must(t, err)
		elsewhere := s.plan(t, root, "functions", "api")
		r := s.below(t, root, "plan_id", idText(plan.ID))
		other := s.below(t, root, "plan_id", idText(elsewhere.ID))
		for _, step := range []struct{ body, want string }{
			{`{"functions":["payments"]}`, ",api,webhooks,payments,"},
			{`{"functions":["api"]}`, ",api,webhooks,payments,"},
			{`{"functions":[]}`, ",api,webhooks,payments,"},
			{`{"functions":null,"name":"B"}`, ",api,webhooks,payments,"},
			{`{"functions":"import"}`, ",api,webhooks,payments,import,"},
		} {
			p, err := s.UpdatePlan(t.Context(), root, plan.ID, ReadPlanChanges(jsonForm(t, step.body)))
			if err != nil || p.Functions.String() != step.want {
				t.Errorf("%s: %v, %v; want %s", step.body, p.Functions, err, step.want)
			}
			if got := s.actor(t, r.Company.ID).Company.Subscription.Functions.String(); got != step.want {
				t.Errorf("%s: the reseller on the plan has %s", step.body, got)
			}
		}
		if got := s.actor(t, other.Company.ID).Company.Subscription.Functions.String(); got != ",api," {
			t.Errorf("a reseller on another plan has %s", got)
		}
	})
}

func TestNobodyGivesWhatItDoesNotHave(t *testing.T) {
	each(t, func(t *testing.T, s *shop) {
		root := s.root(t, 10)
		small := s.plan(t, root, "functions", "resellers")
		r := s.below(t, root, "plan_id", idText(small.ID))
		_, err := s.CreatePlan(t.Context(), r, ReadNewPlan(jsonForm(t, `{"name":"A","value":1,"credits":1,"functions":["resellers","api","teleport"]}`)))
		wantFields(t, err, "functions")
		if reasons := fault.FieldsOf(err).Get("functions"); len(reasons) != 2 ||
			reasons[0] != "the company does not have api itself" || !strings.HasPrefix(reasons[1], `"teleport" is not a function; there are api, webhooks,`) {
			t.Errorf("reasons %q", reasons)
		}
		p := s.plan(t, r)
		if p.Functions != account.FunctionsOf(account.FunctionResellers) {
			t.Errorf("a plan that names none has %v, want those of the company", p.Functions)
		}
		_, err = s.UpdatePlan(t.Context(), r, p.ID, ReadPlanChanges(jsonForm(t, `{"functions":["api"]}`)))
		wantFields(t, err, "functions")
		if trial := s.below(t, r); trial.Company.Subscription.Functions != account.FunctionsOf(account.FunctionResellers) {
			t.Errorf("a trial has %v", trial.Company.Subscription.Functions)
		}
	})
}

func TestPlanFieldsAreChecked(t *testing.T) {
	each(t, func(t *testing.T, s *shop) {
		root := s.root(t, 0)
		_, err := s.CreatePlan(t.Context(), root, ReadNewPlan(jsonForm(t, `{"period_unit":"moon","period_count":0,"trial_days":-1,"active":"maybe","nmae":"x"}`)))
		wantFields(t, err, "name", "value", "credits", "period_unit", "period_count", "trial_days", "active", "nmae")
		p, err := s.CreatePlan(t.Context(), root, ReadNewPlan(jsonForm(t, `{"name":"A","value":"49.90","credits":"2","period_unit":"week","period_count":"2","trial_days":"","active":""}`)))
		must(t, err)
		if p.Period.String() != "2weeks" || p.TrialDays != 7 || !p.Active || p.Value != 4990 || p.Credits != 2 {
			t.Errorf("plan %+v", p)
		}
		p, err = s.UpdatePlan(t.Context(), root, p.ID, ReadPlanChanges(jsonForm(t, `{"period_count":3,"active":false,"trial_days":0}`)))
		if err != nil || p.Period.String() != "3weeks" || p.Active || p.TrialDays != 0 || p.Name != "A" {
			t.Errorf("plan %+v, %v", p, err)
		}
		_, err = s.UpdatePlan(t.Context(), root, p.ID, ReadPlanChanges(jsonForm(t, `{"name":null,"credits":"","active":null,"period":"x"}`)))
		wantFields(t, err, "name", "credits", "active", "period")
		stranger := s.root(t, 0)
		_, err = s.UpdatePlan(t.Context(), stranger, p.ID, ReadPlanChanges(jsonForm(t, `{"name":"Mine"}`)))
		wantKind(t, err, fault.KindNotFound)
		_, err = s.FindPlan(t.Context(), stranger, p.ID)
		wantKind(t, err, fault.KindNotFound)
	})
}

func TestPlansAreListedByNameAndState(t *testing.T) {
	each(t, func(t *testing.T, s *shop) {
		root := s.root(t, 0)
		gold, _, old := s.plan(t, root, "name", "Ouro"), s.plan(t, root, "name", "Prata"), s.plan(t, root, "name", "Ouro velho", "active", "false")
		s.plan(t, s.root(t, 0), "name", "Ouro alheio")
		list, n, err := s.Plans(t.Context(), root, ReadPlanFilter(form("search", "OURO")), page(1, 1))
		if err != nil || n != 2 || len(list) != 1 || list[0].ID != old.ID {
			t.Errorf("%+v of %d, %v", list, n, err)
		}
		list, n, err = s.Plans(t.Context(), root, ReadPlanFilter(form("search", "ouro", "active", "1")), page(1, 50))
		if err != nil || n != 1 || list[0].ID != gold.ID {
			t.Errorf("%+v of %d, %v", list, n, err)
		}
	})
}

func TestRenewedSignupLinkReplacesTheOld(t *testing.T) {
	each(t, func(t *testing.T, s *shop) {
		root := s.root(t, 0)
		plan := s.plan(t, root)
		if !strings.HasPrefix(s.SignupLink(plan), "https://clientes.example.com/signup/") || len(plan.SignupCode) != 20 {
			t.Errorf("link %s", s.SignupLink(plan))
		}
		renewed, err := s.RenewSignupLink(t.Context(), root, plan.ID)
		must(t, err)
		if _, err := s.FindOffer(t.Context(), plan.SignupCode); fault.KindOf(err) != fault.KindNotFound {
			t.Errorf("the old link offers %v", err)
		}
		offer, err := s.FindOffer(t.Context(), renewed.SignupCode)
		if err != nil || offer.Plan.ID != plan.ID || offer.Company.ID != root.Company.ID {
			t.Errorf("%+v, %v", offer, err)
		}
	})
}
