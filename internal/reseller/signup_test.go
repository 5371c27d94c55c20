package reseller

import (
	"fmt"
	"testing"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/secret"
	"carteira/internal/platform/sqldb"
)

func wantOpens(t *testing.T, shop *shop, email, password string) {
	t.Helper()
	hash, err := sqldb.Value[string](t.Context(), shop.db, `SELECT password_hash FROM users WHERE email = ?`, email)
	must(t, err)
	if ok, err := secret.CheckPassword(t.Context(), hash, password); err != nil || !ok {
		t.Errorf("the password does not open: %v", err)
	}
}

// signUp signs up with a link from an address.
func (s *shop) signUp(t *testing.T, code, address string, in *input.Form) (Reseller, error) {
	t.Helper()
	signup := ReadSignup(in)
	signup.Code, signup.Address = code, address
	return s.SignUp(t.Context(), signup)
}

func TestSignupMakesATrialOfThePlan(t *testing.T) {
	each(t, func(t *testing.T, shop *shop) {
		root := shop.root(t, 0)
		shop.plan(t, root, "trial_days", "30") // older, and not the one of the link
		plan := shop.plan(t, root, "trial_days", "10", "functions", "api")
		reseller, err := shop.signUp(t, plan.SignupCode, "203.0.113.9", form("name", "Loja da Lia", "email", "lia@example.com", "whatsapp", "11987654321", "password", "correct horse"))
		must(t, err)
		if reseller.ParentID != root.Company.ID || reseller.Plan.ID != plan.ID || reseller.Standing(noon) != account.StandingTrial || reseller.Subscription.ExpiresOn != civil.MustParse("2026-02-10") ||
			reseller.Level != account.LevelUser || reseller.Whatsapp != "5511987654321" {
			t.Errorf("signed up %+v", reseller)
		}
		wantOpens(t, shop, "lia@example.com", "correct horse")
		// The same answer, and nothing is made: the answer does not reveal
		// which addresses have an account.
		reseller, err = shop.signUp(t, plan.SignupCode, "203.0.113.9", form("name", "Outra", "email", "LIA@example.com", "password", "correct horse"))
		if err != nil || reseller.ID != 0 || shop.count(t, `SELECT count(*) FROM companies`) != 2 {
			t.Errorf("a known address: %+v, %v", reseller, err)
		}
		_, err = shop.signUp(t, plan.SignupCode, "203.0.113.9", form("email", "x", "password", "short", "whatsapp", "1"))
		wantFields(t, err, "name", "email", "password", "whatsapp")
	})
}

func TestSignupLinkIsClosedWhereNothingCanBeTried(t *testing.T) {
	each(t, func(t *testing.T, shop *shop) {
		root := shop.root(t, 10)
		middle := shop.below(t, root)
		setLevel(t, shop, middle.Company.ID, account.LevelReseller)
		middle = shop.actor(t, middle.Company.ID)
		plan := shop.plan(t, middle)
		open := func() bool {
			_, err := shop.FindOffer(t.Context(), plan.SignupCode)
			_, signErr := shop.signUp(t, plan.SignupCode, shop.email(), form("name", "Lia", "email", shop.email(), "password", "correct horse"))
			if (err == nil) != (signErr == nil) || err != nil && fault.KindOf(signErr) != fault.KindNotFound {
				t.Errorf("the offer says %v and the signup %v", err, signErr)
			}
			return err == nil
		}
		steps := []struct {
			name       string
			shut, back func() error
		}{
			{"a plan that is not active", shop.setPlan(t, middle, plan, "active", "false"), shop.setPlan(t, middle, plan, "active", "true")},
			{"a plan without trial", shop.setPlan(t, middle, plan, "trial_days", "0"), shop.setPlan(t, middle, plan, "trial_days", "7")},
			{
				"a suspended company", func() error { _, err := shop.Suspend(t.Context(), root, middle.Company.ID); return err },
				func() error { _, err := shop.Resume(t.Context(), root, middle.Company.ID); return err },
			},
			{
				"a company that may have no resellers", func() error { setLevel(t, shop, middle.Company.ID, account.LevelUser); return nil },
				func() error { setLevel(t, shop, middle.Company.ID, account.LevelReseller); return nil },
			},
			{
				"an expired company", func() error { shop.clock.Set(noon.Add(9 * 24 * time.Hour)); return nil },
				func() error { shop.clock.Set(noon); return nil },
			},
		}
		for _, step := range steps {
			must(t, step.shut())
			if open() {
				t.Errorf("%s takes signups", step.name)
			}
			must(t, step.back())
			if !open() {
				t.Errorf("after %s it is still closed", step.name)
			}
		}
		if _, err := shop.FindOffer(t.Context(), "unknown"); fault.KindOf(err) != fault.KindNotFound {
			t.Errorf("an unknown code: %v", err)
		}
	})
}

func (s *shop) setPlan(t *testing.T, actor account.Actor, plan Plan, pairs ...string) func() error {
	t.Helper()
	return func() error {
		_, err := s.UpdatePlan(t.Context(), actor, plan.ID, ReadPlanChanges(form(pairs...)))
		return err
	}
}

func TestAddressThatTriesTooOftenWaits(t *testing.T) {
	each(t, func(t *testing.T, shop *shop) {
		plan := shop.plan(t, shop.root(t, 0))
		try := func(address string) error {
			// The address of the first is taken, so nothing is made, and every one counts.
			_, err := shop.signUp(t, plan.SignupCode, address, form("name", "Lia", "email", "dono1@example.com", "password", "correct horse"))
			return err
		}
		for i := range signupsPerHour {
			if err := try("203.0.113.9"); err != nil {
				t.Fatalf("attempt %d: %v", i+1, err)
			}
		}
		wantKind(t, try("203.0.113.9"), fault.KindRateLimited)
		must(t, try("203.0.113.10"))
		shop.clock.Advance(time.Hour)
		must(t, try("203.0.113.9"))
		must(t, shop.Prune(t.Context()))
		if n := shop.count(t, `SELECT count(*) FROM signup_attempts`); n != 1 {
			t.Errorf("%d counts are kept, want that of this hour", n)
		}
	})
}

func TestOneAddressSignsUpOnceHoweverManyTry(t *testing.T) {
	each(t, func(t *testing.T, shop *shop) {
		plan := shop.plan(t, shop.root(t, 0))
		made := inParallel(8, func(i int) error {
			reseller, err := shop.signUp(t, plan.SignupCode, fmt.Sprint(i), form("name", "Lia", "email", "lia@example.com", "password", "correct horse"))
			if err == nil && reseller.ID == 0 {
				err = fault.Field("email", "known")
			}
			return err
		})
		if n := successes(made); n != 1 {
			t.Errorf("%d signed up with one address: %v", n, made)
		}
		for _, err := range made {
			if err != nil {
				wantFields(t, err, "email")
			}
		}
	})
}
