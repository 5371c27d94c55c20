package reseller

import (
	"strings"
	"testing"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
)

func TestTrialCostsNothingAndLastsTheTrialDays(t *testing.T) {
	each(t, func(t *testing.T, s *shop) {
		root := s.root(t, 5)
		p, err := s.Create(t.Context(), root, ReadNewReseller(form("name", " Loja do Beto ", "email", "Beto@example.com", "whatsapp", "(11) 98765-4321", "password", "correct horse")))
		must(t, err)
		if p.Name != "Loja do Beto" || p.Email != "Beto@example.com" || p.Whatsapp != "5511987654321" || p.Level != account.LevelUser ||
			p.ParentID != root.Company.ID || p.Zone != root.Company.Zone || p.Credits != 0 || p.Plan != (Ref{}) || p.Customers != 0 {
			t.Errorf("made %+v", p)
		}
		if p.Standing(noon) != account.StandingTrial || p.Subscription.ExpiresOn != civil.MustParse("2026-02-07") || p.Subscription.Functions != account.EveryFunction {
			t.Errorf("without any plan: %+v, want seven days with every function", p.Subscription)
		}
		if p.CreditsSpent != 0 || p.CreditsBalance != 5 || p.InvitationLink != "" || s.balance(t, root) != 5 {
			t.Errorf("a trial with a password: %+v", p)
		}
		s.plan(t, root, "active", "false", "trial_days", "30")
		oldest := s.plan(t, root, "trial_days", "3", "functions", "api")
		s.plan(t, root, "trial_days", "14")
		q, err := s.Create(t.Context(), root, ReadNewReseller(form("name", "Lia", "email", "lia@example.com")))
		must(t, err)
		if q.Plan != (Ref{oldest.ID, "Revenda"}) || q.Subscription.ExpiresOn != civil.MustParse("2026-02-03") ||
			q.Subscription.Functions != account.FunctionsOf(account.FunctionAPI) {
			t.Errorf("without a plan_id: %+v, want the oldest active plan", q)
		}
		found, err := s.Find(t.Context(), root, q.ID)
		if found.CreatedAt, q.CreatedAt = found.CreatedAt.UTC(), q.CreatedAt.UTC(); err != nil || found != q.Reseller {
			t.Errorf("found %+v, %v\nmade  %+v", found, err, q.Reseller)
		}
	})
}

func TestSubscriberSpendsThePlansCreditsForEachPeriod(t *testing.T) {
	each(t, func(t *testing.T, s *shop) {
		root := s.root(t, 20)
		plan := s.plan(t, root, "credits", "3", "period", "1month")
		p, err := s.Create(t.Context(), root, ReadNewReseller(form("name", "Beto", "email", "b@example.com", "type", "subscriber", "plan_id", idText(plan.ID), "periods", "2")))
		must(t, err)
		if p.CreditsSpent != 6 || p.CreditsBalance != 14 || p.Standing(noon) != account.StandingActive || p.Subscription.ExpiresOn != civil.MustParse("2026-03-31") {
			t.Errorf("made %+v", p)
		}
		entries, err := s.Statement(t.Context(), root, 0, 10)
		must(t, err)
		if e := entries[0]; len(entries) != 2 || e.Kind != ForCreate || e.Amount != -6 || e.Balance != 14 || e.Reseller != (Ref{p.ID, "Beto"}) ||
			e.Plan != (Ref{plan.ID, "Revenda"}) || e.Periods != 2 || e.By != "command line" {
			t.Errorf("statement %+v", entries)
		}
		before := s.count(t, `SELECT count(*) FROM companies`)
		_, err = s.Create(t.Context(), root, ReadNewReseller(form("name", "Lia", "email", "l@example.com", "type", "subscriber", "plan_id", idText(plan.ID), "periods", "5")))
		wantFields(t, err, "credits")
		if text := fault.Public(err); text != "credits: too few: 15 are needed, and there are 14" {
			t.Error(text)
		}
		if s.balance(t, root) != 14 || s.count(t, `SELECT count(*) FROM companies`) != before || s.count(t, `SELECT count(*) FROM users WHERE email = 'l@example.com'`) != 0 {
			t.Error("something was changed although there were too few credits")
		}
	})
}

func TestEveryWrongFieldIsRefusedAtOnce(t *testing.T) {
	each(t, func(t *testing.T, s *shop) {
		root, other := s.root(t, 5), s.root(t, 5)
		foreign, old := s.plan(t, other), s.plan(t, root, "active", "false")
		s.below(t, root, "email", "taken@example.com")
		for _, c := range []struct {
			pairs []string
			want  []string
		}{
			{nil, []string{"name", "email"}},
			{[]string{"name", "A", "email", "TAKEN@example.com", "type", "subscriber"}, []string{"email", "plan_id"}},
			{[]string{"name", "", "email", "taken@example.com", "plan_id", idText(foreign.ID), "whatsapp", "12"}, []string{"name", "email", "plan_id", "whatsapp"}},
			{[]string{"name", "A", "email", "a@example.com", "plan_id", idText(old.ID)}, []string{"plan_id"}},
			{[]string{"name", "A", "email", "a@", "password", "short", "type", "king", "periods", "0"}, []string{"email", "password", "type", "periods"}},
			{[]string{"name", "A", "email", "a@example.com", "periods", "121"}, []string{"periods"}},
		} {
			_, err := s.Create(t.Context(), root, ReadNewReseller(form(c.pairs...)))
			wantFields(t, err, c.want...)
		}
		s.plan(t, root, "trial_days", "0")
		_, err := s.Create(t.Context(), root, ReadNewReseller(form("name", "A", "email", "a@example.com")))
		wantFields(t, err, "plan_id")
	})
}

func TestRenewalCountsFromTheEndOrFromToday(t *testing.T) {
	each(t, func(t *testing.T, s *shop) {
		root := s.root(t, 100)
		plan := s.plan(t, root, "credits", "2", "period", "1month")
		r := s.below(t, root, "type", "subscriber", "plan_id", idText(plan.ID)) // ends on 28 February, its own day is the 31st
		for _, step := range []struct {
			at      string
			periods string
			want    string
		}{
			{"2026-02-28", "1", "2026-03-31"},          // its last day: live, so from its end, and back on its own day
			{"2026-03-01", "2", "2026-05-31"},          // live
			{"2026-06-01", "1", "2026-07-01"},          // ended yesterday: from today, which is its own day from now on
			{"2026-06-02", "8", "2027-03-01"},          // the first stays the first
			{"2027-12-31", "2", "2028-02-29"},          // ended: 31 December, then the end of February of a leap year
			{"2028-02-29", "1", "2028-03-31"},          // and back
			{"2028-02-29", "", "2028-04-30"},           // one, unless told
			{"2028-06-01", "120", "2038-06-01"},        // the most at once
			{"2038-06-01T23:59", "1", "2038-07-01"},    // still the last day in São Paulo
			{"2038-07-02T00:00:30", "1", "2038-08-02"}, // a new day there
		} {
			s.clock.Set(inSaoPaulo(t, step.at))
			balance := s.balance(t, root)
			if balance < 240 {
				_, err := s.Grant(t.Context(), root, ReadCreditRequest(form("amount", "1000")))
				must(t, err)
				balance += 1000
			}
			in := form()
			if step.periods != "" {
				in = form("periods", step.periods)
			}
			p, err := s.Renew(t.Context(), root, r.Company.ID, ReadRenewRequest(in))
			must(t, err)
			if p.Subscription.ExpiresOn.String() != step.want || p.CreditsBalance != balance-p.CreditsSpent {
				t.Errorf("renewed on %s by %q: %v with %d credits left of %d, want %s", step.at, step.periods, p.Subscription.ExpiresOn, p.CreditsBalance, balance, step.want)
			}
		}
	})
}

func inSaoPaulo(t *testing.T, text string) time.Time {
	t.Helper()
	zone, err := civil.LoadZone(account.DefaultTimezone)
	must(t, err)
	if !strings.Contains(text, "T") {
		text += "T12:00"
	}
	if strings.Count(text, ":") == 1 {
		text += ":00"
	}
	at, err := time.ParseInLocation("2006-01-02T15:04:05", text, zone)
	must(t, err)
	return at
}

func TestRenewalEndsTrialAndSuspensionAndBringsTheOtherPlan(t *testing.T) {
	each(t, func(t *testing.T, s *shop) {
		root := s.root(t, 10)
		r := s.below(t, root)
		_, err := s.Renew(t.Context(), root, r.Company.ID, ReadRenewRequest(form()))
		wantFields(t, err, "plan_id") // a trial without a plan
		week := s.plan(t, root, "period", "1week", "functions", "api")
		_, err = s.Suspend(t.Context(), root, r.Company.ID)
		must(t, err)
		p, err := s.Renew(t.Context(), root, r.Company.ID, ReadRenewRequest(form("plan_id", idText(week.ID))))
		must(t, err)
		if p.Standing(noon) != account.StandingActive || p.Subscription.ExpiresOn != civil.MustParse("2026-02-14") || p.Plan.ID != week.ID ||
			p.Subscription.Functions != account.FunctionsOf(account.FunctionAPI) {
			t.Errorf("renewed %+v", p)
		}
		if got := s.actor(t, r.Company.ID); got.May(account.FunctionWebhooks) || !got.May(account.FunctionAPI) {
			t.Error("the functions of the other plan are not there at once")
		}
		_, err = s.UpdatePlan(t.Context(), root, week.ID, ReadPlanChanges(form("active", "false")))
		must(t, err)
		if _, err = s.Renew(t.Context(), root, r.Company.ID, ReadRenewRequest(form())); err != nil {
			t.Errorf("a plan that is no longer sold cannot be kept: %v", err)
		}
		fresh := s.below(t, root)
		_, err = s.Renew(t.Context(), root, fresh.Company.ID, ReadRenewRequest(form("plan_id", idText(week.ID))))
		wantFields(t, err, "plan_id")
		_, err = s.Renew(t.Context(), root, r.Company.ID, ReadRenewRequest(form("plan_id", "999", "periods", "-1")))
		wantFields(t, err, "plan_id", "periods")
		_, err = s.Renew(t.Context(), root, r.Company.ID, ReadRenewRequest(form("periods", "100")))
		wantFields(t, err, "credits")
	})
}

func TestPeriodsPastTheCalendarAreRefused(t *testing.T) {
	each(t, func(t *testing.T, s *shop) {
		root := s.root(t, 1000)
		plan := s.plan(t, root, "period", "1000years")
		r := s.below(t, root)
		_, err := s.Renew(t.Context(), root, r.Company.ID, ReadRenewRequest(form("plan_id", idText(plan.ID), "periods", "9")))
		wantFields(t, err, "periods")
		if s.balance(t, root) != 1000 {
			t.Error("credits were spent")
		}
	})
}

func TestUpdateChangesOnlyWhatIsGiven(t *testing.T) {
	each(t, func(t *testing.T, s *shop) {
		root := s.root(t, 0)
		r, other := s.below(t, root, "email", "beto@example.com", "whatsapp", "11987654321"), s.below(t, root)
		p, err := s.Update(t.Context(), root, r.Company.ID, ReadChanges(form("name", "Nova Loja")))
		if err != nil || p.Name != "Nova Loja" || p.Email != "beto@example.com" || p.Whatsapp != "5511987654321" {
			t.Errorf("%+v, %v", p, err)
		}
		p, err = s.Update(t.Context(), root, r.Company.ID, ReadChanges(form("email", "roberto@example.com", "whatsapp", "")))
		if err != nil || p.Name != "Nova Loja" || p.Email != "roberto@example.com" || p.Whatsapp != "" {
			t.Errorf("%+v, %v", p, err)
		}
		taken, err := s.Find(t.Context(), root, other.Company.ID)
		must(t, err)
		for _, c := range []struct{ field, value string }{
			{"email", strings.ToUpper(taken.Email)}, {"email", ""}, {"name", ""}, {"whatsapp", "1"}, {"plan_id", "1"},
		} {
			_, err := s.Update(t.Context(), root, r.Company.ID, ReadChanges(form(c.field, c.value)))
			wantFields(t, err, c.field)
		}
		list, n, err := s.List(t.Context(), root, Filter{Search: "roberto@"}, page(1, 10))
		if err != nil || n != 1 || list[0].ID != r.Company.ID {
			t.Errorf("not found by the new address: %v, %v", list, err)
		}
		if _, n, _ := s.List(t.Context(), root, Filter{Search: "beto@example"}, page(1, 10)); n != 0 {
			t.Errorf("%d found by the old address", n)
		}
		if _, n, _ := s.List(t.Context(), root, Filter{Search: "98765"}, page(1, 10)); n != 0 {
			t.Errorf("%d found by a phone that is gone", n)
		}
	})
}

func TestSuspendedIsSuspendedUntilResumed(t *testing.T) {
	each(t, func(t *testing.T, s *shop) {
		root := s.root(t, 0)
		r := s.below(t, root)
		for range 2 {
			p, err := s.Suspend(t.Context(), root, r.Company.ID)
			if err != nil || p.Standing(s.clock.Now()) != account.StandingSuspended || !p.Subscription.SuspendedAt.Equal(noon) {
				t.Errorf("%+v, %v", p, err)
			}
			s.clock.Advance(time.Hour)
		}
		suspended := s.actor(t, r.Company.ID)
		wantKind(t, suspended.Writable(suspended.Today(s.clock.Now())), fault.KindForbidden)
		p, err := s.Resume(t.Context(), root, r.Company.ID)
		if err != nil || p.Standing(s.clock.Now()) != account.StandingTrial {
			t.Errorf("%+v, %v", p, err)
		}
	})
}

func TestInvitationWorksOnceAndSevenDays(t *testing.T) {
	each(t, func(t *testing.T, s *shop) {
		root := s.root(t, 0)
		p, err := s.Create(t.Context(), root, ReadNewReseller(form("name", "Beto", "email", "beto@example.com")))
		must(t, err)
		code := codeOf(t, p.InvitationLink)
		invited, err := s.accounts.LinkedUser(t.Context(), code)
		if err != nil || invited.CompanyID != p.ID || invited.Email != "beto@example.com" {
			t.Errorf("%+v, %v", invited, err)
		}
		link, err := s.Invite(t.Context(), root, p.ID)
		must(t, err)
		if _, err := s.accounts.LinkedUser(t.Context(), code); fault.KindOf(err) != fault.KindNotFound {
			t.Errorf("the first invitation still works after the second: %v", err)
		}
		use := func(password string) error {
			_, err := s.accounts.UsePasswordLink(t.Context(), codeOf(t, link), account.ReadNewPassword(form("password", password)), account.Visitor{})
			return err
		}
		wantFields(t, use("short"), "password")
		s.clock.Set(noon.Add(7 * 24 * time.Hour))
		wantKind(t, use("correct horse"), fault.KindNotFound)
		s.clock.Set(noon.Add(7*24*time.Hour - time.Second))
		must(t, use("correct horse"))
		wantKind(t, use("another horse"), fault.KindNotFound)
		wantOpens(t, s, "beto@example.com", "correct horse")
		_, err = s.Invite(t.Context(), root, p.ID)
		wantKind(t, err, fault.KindConflict)
		_, err = s.Invite(t.Context(), s.root(t, 0), p.ID)
		wantKind(t, err, fault.KindNotFound)
	})
}

func codeOf(t *testing.T, link string) string {
	t.Helper()
	code, ok := strings.CutPrefix(link, "https://clientes.example.com/password/")
	if !ok || len(code) != 43 {
		t.Fatalf("link %q", link)
	}
	return code
}
