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
	each(t, func(t *testing.T, shop *shop) {
		root := shop.root(t, 5)
		paid, err := shop.Create(t.Context(), root, ReadNewReseller(form("name", " Loja do Beto ", "email", "Beto@example.com", "whatsapp", "(11) 98765-4321", "password", "correct horse")))
		must(t, err)
		if paid.Name != "Loja do Beto" || paid.Email != "Beto@example.com" || paid.Whatsapp != "5511987654321" || paid.Level != account.LevelUser ||
			paid.ParentID != root.Company.ID || paid.Zone != root.Company.Zone || paid.Credits != 0 || paid.Plan != (Ref{}) || paid.Customers != 0 {
			t.Errorf("made %+v", paid)
		}
		if paid.Standing(noon) != account.StandingTrial || paid.Subscription.ExpiresOn != civil.MustParse("2026-02-07") || paid.Subscription.Functions != account.EveryFunction {
			t.Errorf("without any plan: %+v, want seven days with every function", paid.Subscription)
		}
		if paid.CreditsSpent != 0 || paid.CreditsBalance != 5 || paid.InvitationLink != "" || shop.balance(t, root) != 5 {
			t.Errorf("a trial with a password: %+v", paid)
		}
		shop.plan(t, root, "active", "false", "trial_days", "30")
		oldest := shop.plan(t, root, "trial_days", "3", "functions", "api")
		shop.plan(t, root, "trial_days", "14")
		q, err := shop.Create(t.Context(), root, ReadNewReseller(form("name", "Lia", "email", "lia@example.com")))
		must(t, err)
		if q.Plan != (Ref{oldest.ID, "Revenda"}) || q.Subscription.ExpiresOn != civil.MustParse("2026-02-03") ||
			q.Subscription.Functions != account.FunctionsOf(account.FunctionAPI) {
			t.Errorf("without a plan_id: %+v, want the oldest active plan", q)
		}
		found, err := shop.Find(t.Context(), root, q.ID)
		if found.CreatedAt, q.CreatedAt = found.CreatedAt.UTC(), q.CreatedAt.UTC(); err != nil || found != q.Reseller {
			t.Errorf("found %+v, %v\nmade  %+v", found, err, q.Reseller)
		}
	})
}

func TestSubscriberSpendsThePlansCreditsForEachPeriod(t *testing.T) {
	each(t, func(t *testing.T, shop *shop) {
		root := shop.root(t, 20)
		plan := shop.plan(t, root, "credits", "3", "period", "1month")
		paid, err := shop.Create(t.Context(), root, ReadNewReseller(form("name", "Beto", "email", "b@example.com", "type", "subscriber", "plan_id", idText(plan.ID), "periods", "2")))
		must(t, err)
		if paid.CreditsSpent != 6 || paid.CreditsBalance != 14 || paid.Standing(noon) != account.StandingActive || paid.Subscription.ExpiresOn != civil.MustParse("2026-03-31") {
			t.Errorf("made %+v", paid)
		}
		entries, err := shop.Statement(t.Context(), root, 0, 10)
		must(t, err)
		if entry := entries[0]; len(entries) != 2 || entry.Kind != ForCreate || entry.Amount != -6 || entry.Balance != 14 || entry.Reseller != (Ref{paid.ID, "Beto"}) ||
			entry.Plan != (Ref{plan.ID, "Revenda"}) || entry.Periods != 2 || entry.By != "command line" {
			t.Errorf("statement %+v", entries)
		}
		before := shop.count(t, `SELECT count(*) FROM companies`)
		_, err = shop.Create(t.Context(), root, ReadNewReseller(form("name", "Lia", "email", "l@example.com", "type", "subscriber", "plan_id", idText(plan.ID), "periods", "5")))
		wantFields(t, err, "credits")
		if text := fault.Public(err); text != "credits: too few: 15 are needed, and there are 14" {
			t.Error(text)
		}
		if shop.balance(t, root) != 14 || shop.count(t, `SELECT count(*) FROM companies`) != before || shop.count(t, `SELECT count(*) FROM users WHERE email = 'l@example.com'`) != 0 {
			t.Error("something was changed although there were too few credits")
		}
	})
}

func TestEveryWrongFieldIsRefusedAtOnce(t *testing.T) {
	each(t, func(t *testing.T, shop *shop) {
		root, other := shop.root(t, 5), shop.root(t, 5)
		foreign, old := shop.plan(t, other), shop.plan(t, root, "active", "false")
		shop.below(t, root, "email", "taken@example.com")
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
			_, err := shop.Create(t.Context(), root, ReadNewReseller(form(c.pairs...)))
			wantFields(t, err, c.want...)
		}
		shop.plan(t, root, "trial_days", "0")
		_, err := shop.Create(t.Context(), root, ReadNewReseller(form("name", "A", "email", "a@example.com")))
		wantFields(t, err, "plan_id")
	})
}

func TestRenewalCountsFromTheEndOrFromToday(t *testing.T) {
	each(t, func(t *testing.T, shop *shop) {
		root := shop.root(t, 100)
		plan := shop.plan(t, root, "credits", "2", "period", "1month")
		actor := shop.below(t, root, "type", "subscriber", "plan_id", idText(plan.ID)) // ends on 28 February, its own day is the 31st
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
			{"2028-02-29", "", "2028-04-30"},           // one, by default
			{"2028-06-01", "120", "2038-06-01"},        // the most at once
			{"2038-06-01T23:59", "1", "2038-07-01"},    // still the last day in São Paulo
			{"2038-07-02T00:00:30", "1", "2038-08-02"}, // a new day there
		} {
			shop.clock.Set(inSaoPaulo(t, step.at))
			balance := shop.balance(t, root)
			if balance < 240 {
				_, err := shop.Grant(t.Context(), root, ReadCreditRequest(form("amount", "1000")))
				must(t, err)
				balance += 1000
			}
			in := form()
			if step.periods != "" {
				in = form("periods", step.periods)
			}
			paid, err := shop.Renew(t.Context(), root, actor.Company.ID, ReadRenewRequest(in))
			must(t, err)
			if paid.Subscription.ExpiresOn.String() != step.want || paid.CreditsBalance != balance-paid.CreditsSpent {
				t.Errorf("renewed on %s by %q: %v with %d credits left of %d, want %s", step.at, step.periods, paid.Subscription.ExpiresOn, paid.CreditsBalance, balance, step.want)
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
	each(t, func(t *testing.T, shop *shop) {
		root := shop.root(t, 10)
		actor := shop.below(t, root)
		_, err := shop.Renew(t.Context(), root, actor.Company.ID, ReadRenewRequest(form()))
		wantFields(t, err, "plan_id") // a trial without a plan
		week := shop.plan(t, root, "period", "1week", "functions", "api")
		_, err = shop.Suspend(t.Context(), root, actor.Company.ID)
		must(t, err)
		paid, err := shop.Renew(t.Context(), root, actor.Company.ID, ReadRenewRequest(form("plan_id", idText(week.ID))))
		must(t, err)
		if paid.Standing(noon) != account.StandingActive || paid.Subscription.ExpiresOn != civil.MustParse("2026-02-14") || paid.Plan.ID != week.ID ||
			paid.Subscription.Functions != account.FunctionsOf(account.FunctionAPI) {
			t.Errorf("renewed %+v", paid)
		}
		if got := shop.actor(t, actor.Company.ID); got.May(account.FunctionWebhooks) || !got.May(account.FunctionAPI) {
			t.Error("the functions of the other plan are not there at once")
		}
		_, err = shop.UpdatePlan(t.Context(), root, week.ID, ReadPlanChanges(form("active", "false")))
		must(t, err)
		if _, err = shop.Renew(t.Context(), root, actor.Company.ID, ReadRenewRequest(form())); err != nil {
			t.Errorf("a plan that is no longer sold cannot be kept: %v", err)
		}
		fresh := shop.below(t, root)
		_, err = shop.Renew(t.Context(), root, fresh.Company.ID, ReadRenewRequest(form("plan_id", idText(week.ID))))
		wantFields(t, err, "plan_id")
		_, err = shop.Renew(t.Context(), root, actor.Company.ID, ReadRenewRequest(form("plan_id", "999", "periods", "-1")))
		wantFields(t, err, "plan_id", "periods")
		_, err = shop.Renew(t.Context(), root, actor.Company.ID, ReadRenewRequest(form("periods", "100")))
		wantFields(t, err, "credits")
	})
}

func TestPeriodsPastTheCalendarAreRefused(t *testing.T) {
	each(t, func(t *testing.T, shop *shop) {
		root := shop.root(t, 1000)
		plan := shop.plan(t, root, "period", "1000years")
		actor := shop.below(t, root)
		_, err := shop.Renew(t.Context(), root, actor.Company.ID, ReadRenewRequest(form("plan_id", idText(plan.ID), "periods", "9")))
		wantFields(t, err, "periods")
		if shop.balance(t, root) != 1000 {
			t.Error("credits were spent")
		}
	})
}

func TestUpdateChangesOnlyWhatIsGiven(t *testing.T) {
	each(t, func(t *testing.T, shop *shop) {
		root := shop.root(t, 0)
		actor, other := shop.below(t, root, "email", "beto@example.com", "whatsapp", "11987654321"), shop.below(t, root)
		reseller, err := shop.Update(t.Context(), root, actor.Company.ID, ReadChanges(form("name", "Nova Loja")))
		if err != nil || reseller.Name != "Nova Loja" || reseller.Email != "beto@example.com" || reseller.Whatsapp != "5511987654321" {
			t.Errorf("%+v, %v", reseller, err)
		}
		reseller, err = shop.Update(t.Context(), root, actor.Company.ID, ReadChanges(form("email", "roberto@example.com", "whatsapp", "")))
		if err != nil || reseller.Name != "Nova Loja" || reseller.Email != "roberto@example.com" || reseller.Whatsapp != "" {
			t.Errorf("%+v, %v", reseller, err)
		}
		taken, err := shop.Find(t.Context(), root, other.Company.ID)
		must(t, err)
		for _, c := range []struct{ field, value string }{
			{"email", strings.ToUpper(taken.Email)}, {"email", ""}, {"name", ""}, {"whatsapp", "1"}, {"plan_id", "1"},
		} {
			_, err := shop.Update(t.Context(), root, actor.Company.ID, ReadChanges(form(c.field, c.value)))
			wantFields(t, err, c.field)
		}
		list, n, err := shop.List(t.Context(), root, Filter{Search: "roberto@"}, page(1, 10))
		if err != nil || n != 1 || list[0].ID != actor.Company.ID {
			t.Errorf("not found by the new address: %v, %v", list, err)
		}
		if _, n, _ := shop.List(t.Context(), root, Filter{Search: "beto@example"}, page(1, 10)); n != 0 {
			t.Errorf("%d found by the old address", n)
		}
		if _, n, _ := shop.List(t.Context(), root, Filter{Search: "98765"}, page(1, 10)); n != 0 {
			t.Errorf("%d found by a phone that is gone", n)
		}
	})
}

func TestSuspendedIsSuspendedUntilResumed(t *testing.T) {
	each(t, func(t *testing.T, shop *shop) {
		root := shop.root(t, 0)
		actor := shop.below(t, root)
		for range 2 {
			reseller, err := shop.Suspend(t.Context(), root, actor.Company.ID)
			if err != nil || reseller.Standing(shop.clock.Now()) != account.StandingSuspended || !reseller.Subscription.SuspendedAt.Equal(noon) {
				t.Errorf("%+v, %v", reseller, err)
			}
			shop.clock.Advance(time.Hour)
		}
		suspended := shop.actor(t, actor.Company.ID)
		wantKind(t, suspended.Writable(suspended.Today(shop.clock.Now())), fault.KindForbidden)
		reseller, err := shop.Resume(t.Context(), root, actor.Company.ID)
		if err != nil || reseller.Standing(shop.clock.Now()) != account.StandingTrial {
			t.Errorf("%+v, %v", reseller, err)
		}
	})
}

func TestInvitationWorksOnceAndSevenDays(t *testing.T) {
	each(t, func(t *testing.T, shop *shop) {
		root := shop.root(t, 0)
		paid, err := shop.Create(t.Context(), root, ReadNewReseller(form("name", "Beto", "email", "beto@example.com")))
		must(t, err)
		code := codeOf(t, paid.InvitationLink)
		invited, err := shop.accounts.LinkedUser(t.Context(), code)
		if err != nil || invited.CompanyID != paid.ID || invited.Email != "beto@example.com" {
			t.Errorf("%+v, %v", invited, err)
		}
		link, err := shop.Invite(t.Context(), root, paid.ID)
		must(t, err)
		if _, err := shop.accounts.LinkedUser(t.Context(), code); fault.KindOf(err) != fault.KindNotFound {
			t.Errorf("the first invitation still works after the second: %v", err)
		}
		use := func(password string) error {
			_, err := shop.accounts.UsePasswordLink(t.Context(), codeOf(t, link), account.ReadNewPassword(form("password", password)), account.Visitor{})
			return err
		}
		wantFields(t, use("short"), "password")
		shop.clock.Set(noon.Add(7 * 24 * time.Hour))
		wantKind(t, use("correct horse"), fault.KindNotFound)
		shop.clock.Set(noon.Add(7*24*time.Hour - time.Second))
		must(t, use("correct horse"))
		wantKind(t, use("another horse"), fault.KindNotFound)
		wantOpens(t, shop, "beto@example.com", "correct horse")
		_, err = shop.Invite(t.Context(), root, paid.ID)
		wantKind(t, err, fault.KindConflict)
		_, err = shop.Invite(t.Context(), shop.root(t, 0), paid.ID)
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
