package reseller

import (
	"fmt"
	"math"
	"testing"

	"carteira/internal/platform/fault"
	"carteira/internal/platform/secret"
)

// crowd takes every place in a lane of password hashes until the test ends.
func crowd(t *testing.T, lane secret.Lane) {
	t.Helper()
	secret.LimitHashing(0)
	t.Cleanup(func() { secret.LimitHashing(math.MaxInt64) })
	for {
		_, leave, err := secret.TakePlace(secret.InLane(t.Context(), lane, secret.Caller{}))
		if err != nil {
			return
		}
		t.Cleanup(leave)
	}
}

const chosen = "correct horse staple"

func TestPasswordsForOthersAreHashedLastAndBehindThoseWhoSignIn(t *testing.T) {
	each(t, func(t *testing.T, shop *shop) {
		root := shop.root(t, 0)
		plan := shop.plan(t, root)
		subscriber := func() NewReseller {
			return ReadNewReseller(form("name", "Loja", "email", shop.email(), "type", "subscriber", "plan_id", idText(plan.ID), "password", chosen))
		}
		for _, lane := range []secret.Lane{secret.LaneKnown, secret.LaneStranger} {
			t.Run(fmt.Sprint("lane ", lane), func(t *testing.T) {
				crowd(t, lane)
				_, err := shop.Create(t.Context(), root, subscriber())
				wantFields(t, err, "credits") // found out without a hash
			})
		}
		_, err := shop.Grant(t.Context(), root, ReadCreditRequest(form("amount", "9")))
		must(t, err)
		t.Run("people who sign in wait in another lane", func(t *testing.T) {
			crowd(t, secret.LaneKnown)
			_, err := shop.Create(t.Context(), root, subscriber())
			must(t, err)
		})
		t.Run("a crowd of strangers", func(t *testing.T) {
			crowd(t, secret.LaneStranger)
			_, err := shop.Create(t.Context(), root, subscriber())
			wantKind(t, err, fault.KindUnavailable)
		})
	})
}

func TestTrialsBelowTheTopAreFewAndShort(t *testing.T) {
	each(t, func(t *testing.T, shop *shop) {
		root := shop.root(t, 9)
		own := shop.plan(t, root, "trial_days", "20", "functions", "resellers")
		seller := shop.below(t, root, "type", "subscriber", "plan_id", idText(own.ID))
		_, err := shop.SetLevel(t.Context(), root, seller.Company.ID, ReadLevelRequest(form("level", "reseller")))
		must(t, err)
		seller = shop.actor(t, seller.Company.ID)
		long := shop.plan(t, seller, "trial_days", "365")
		try := func(email string) (Paid, error) {
			return shop.Create(t.Context(), seller, ReadNewReseller(form("name", "Loja", "email", email, "plan_id", idText(long.ID))))
		}
		made, err := try("Bia.Melo+um@gmail.com")
		must(t, err)
		if days := made.Company.Subscription.ExpiresOn.Sub(seller.Today(shop.db.Now())); days != 20 {
			t.Errorf("the trial has %d days, its parent's plan 20", days)
		}
		for _, spelling := range []string{"bia.melo+dois@gmail.com", "biamelo@GMAIL.com", "b.i.a.melo@googlemail.com"} {
			_, err := try(spelling)
			wantFields(t, err, "email")
		}
		for range 4 {
			_, err := try(shop.email())
			must(t, err)
		}
		_, err = try(shop.email())
		wantKind(t, err, fault.KindConflict)
		signup := ReadSignup(form("name", "Loja", "email", shop.email(), "password", chosen))
		signup.Code, signup.Address = long.SignupCode, "192.0.2.7"
		_, err = shop.SignUp(t.Context(), signup)
		wantKind(t, err, fault.KindConflict)
		for range 7 { // the top gives as many as it likes
			shop.below(t, root)
		}
	})
}
