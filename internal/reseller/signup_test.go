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

func wantOpens(t *testing.T, s *shop, email, password string) {
	t.Helper()
	hash, err := sqldb.Value[string](t.Context(), s.db, `SELECT password_hash FROM users WHERE email = ?`, email)
	must(t, err)
	if ok, err := secret.CheckPassword(t.Context(), hash, password); err != nil || !ok {
		t.Errorf("the password does not open: %v", err)
	}
}

// signUp signs up with a link from an address.
func (s *shop) signUp(t *testing.T, code, address string, in *input.Form) (Reseller, error) {
	t.Helper()
	u := ReadSignup(in)
	u.Code, u.Address = code, address
	return s.SignUp(t.Context(), u)
}

func TestSignupMakesATrialOfThePlan(t *testing.T) {
	each(t, func(t *testing.T, s *shop) {
		root := s.root(t, 0)
		s.plan(t, root, "trial_days", "30") // older, and not the one of the link
		plan := s.plan(t, root, "trial_days", "10", "functions", "api")
		r, err := s.signUp(t, plan.SignupCode, "203.0.113.9", form("name", "Loja da Lia", "email", "lia@example.com", "whatsapp", "11987654321", "password", "correct horse"))
		must(t, err)
		if r.ParentID != root.Company.ID || r.Plan.ID != plan.ID || r.Standing(noon) != account.StandingTrial || r.Subscription.ExpiresOn != civil.MustParse("2026-02-10") ||
			r.Level != account.LevelUser || r.Whatsapp != "5511987654321" {
			t.Errorf("signed up %+v", r)
		}
		wantOpens(t, s, "lia@example.com", "correct horse")
		// The same answer, and nothing is made: who has an account is not told.
		r, err = s.signUp(t, plan.SignupCode, "203.0.113.9", form("name", "Outra", "email", "LIA@example.com", "password", "correct horse"))
		if err != nil || r.ID != 0 || s.count(t, `SELECT count(*) FROM companies`) != 2 {
			t.Errorf("a known address: %+v, %v", r, err)
		}
		_, err = s.signUp(t, plan.SignupCode, "203.0.113.9", form("email", "x", "password", "short", "whatsapp", "1"))
		wantFields(t, err, "name", "email", "password", "whatsapp")
	})
}

func TestSignupLinkIsClosedWhereNothingCanBeTried(t *testing.T) {
	each(t, func(t *testing.T, s *shop) {
		root := s.root(t, 10)
		middle := s.below(t, root)
		setLevel(t, s, middle.Company.ID, account.LevelReseller)
		middle = s.actor(t, middle.Company.ID)
		plan := s.plan(t, middle)
		open := func() bool {
			_, err := s.FindOffer(t.Context(), plan.SignupCode)
			_, signErr := s.signUp(t, plan.SignupCode, s.email(), form("name", "Lia", "email", s.email(), "password", "correct horse"))
			if (err == nil) != (signErr == nil) || err != nil && fault.KindOf(signErr) != fault.KindNotFound {
				t.Errorf("the offer says %v and the signup %v", err, signErr)
			}
			return err == nil
		}
		steps := []struct {
			name       string
			shut, back func() error
		}{
			{"a plan that is not active", s.setPlan(t, middle, plan, "active", "false"), s.setPlan(t, middle, plan, "active", "true")},
			{"a plan without trial", s.setPlan(t, middle, plan, "trial_days", "0"), s.setPlan(t, middle, plan, "trial_days", "7")},
			{
				"a suspended company", func() error { _, err := s.Suspend(t.Context(), root, middle.Company.ID); return err },
				func() error { _, err := s.Resume(t.Context(), root, middle.Company.ID); return err },
			},
			{
				"a company that may have no resellers", func() error { setLevel(t, s, middle.Company.ID, account.LevelUser); return nil },
				func() error { setLevel(t, s, middle.Company.ID, account.LevelReseller); return nil },
			},
			{
				"an expired company", func() error { s.clock.Set(noon.Add(9 * 24 * time.Hour)); return nil },
				func() error { s.clock.Set(noon); return nil },
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
		if _, err := s.FindOffer(t.Context(), "unknown"); fault.KindOf(err) != fault.KindNotFound {
			t.Errorf("an unknown code: %v", err)
		}
	})
}

func (s *shop) setPlan(t *testing.T, a account.Actor, p Plan, pairs ...string) func() error {
	t.Helper()
	return func() error {
		_, err := s.UpdatePlan(t.Context(), a, p.ID, ReadPlanChanges(form(pairs...)))
		return err
	}
}

func TestAddressThatTriesTooOftenWaits(t *testing.T) {
	each(t, func(t *testing.T, s *shop) {
		plan := s.plan(t, s.root(t, 0))
		try := func(address string) error {
			// The address of the first is taken, so nothing is made, and every one counts.
			_, err := s.signUp(t, plan.SignupCode, address, form("name", "Lia", "email", "dono1@example.com", "password", "correct horse"))
			return err
		}
		for i := range signupsPerHour {
			if err := try("203.0.113.9"); err != nil {
				t.Fatalf("attempt %d: %v", i+1, err)
			}
		}
		wantKind(t, try("203.0.113.9"), fault.KindRateLimited)
		must(t, try("203.0.113.10"))
		s.clock.Advance(time.Hour)
		must(t, try("203.0.113.9"))
		must(t, s.Prune(t.Context()))
		if n := s.count(t, `SELECT count(*) FROM signup_attempts`); n != 1 {
			t.Errorf("%d counts are kept, want that of this hour", n)
		}
	})
}

func TestOneAddressSignsUpOnceHoweverManyTry(t *testing.T) {
	each(t, func(t *testing.T, s *shop) {
		plan := s.plan(t, s.root(t, 0))
		made := inParallel(8, func(i int) error {
			r, err := s.signUp(t, plan.SignupCode, fmt.Sprint(i), form("name", "Lia", "email", "lia@example.com", "password", "correct horse"))
			if err == nil && r.ID == 0 {
				err = fault.Field("email", "known")
			}
			return err
		})
		if n := count(made, nil); n != 1 {
			t.Errorf("%d signed up with one address: %v", n, made)
		}
		for _, err := range made {
			if err != nil {
				wantFields(t, err, "email")
			}
		}
	})
}
