package account_test

import (
	"math"
	"testing"

	"carteira/internal/account"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/secret"
	"carteira/internal/platform/sqldb"
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

func TestSignInInACrowdIsRefusedInWordsAndNotCounted(t *testing.T) {
	eachHouse(t, func(t *testing.T, house house) {
		crowd(t, secret.LaneSignIn)
		_, err := house.SignIn(t.Context(), account.ReadCredentials(form("email", "ana@example.com", "password", password)), here)
		wantKind(t, err, fault.KindUnavailable)
		if fault.Public(err) != fault.Public(secret.ErrBusy) {
			t.Errorf("told %q", fault.Public(err))
		}
		counted, err := sqldb.Value[int64](t.Context(), house.db, `SELECT count(*) FROM signin_attempts`)
		if err != nil || counted != 0 {
			t.Errorf("%d attempts counted, %v", counted, err)
		}
	})
}
