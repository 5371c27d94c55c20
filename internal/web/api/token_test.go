package api

import (
	"net/http"
	"testing"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/sqldb"
	"carteira/test/kit/sqldbtest"
)

// A deleted token is refused at once, also when another process deleted it.
func TestATokenStopsAtOnceWhereverItIsDeleted(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		url := sqldbtest.URL(t, engine)
		caller := limitedService(t, url, plenty).newCaller(t)
		elsewhere := account.New(sqldbtest.Open(t, url), account.Config{})
		for range 3 {
			caller.call(t, http.MethodGet, "/customers", "").want(t, http.StatusOK, "")
		}
		must(t, elsewhere.DeleteToken(t.Context(), caller.actor, caller.actor.TokenID))
		caller.call(t, http.MethodGet, "/customers", "").want(t, http.StatusUnauthorized, "Unauthenticated")
	})
}

func TestATokenThatIsKnownStillExpires(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		caller := newService(t, engine).newCaller(t)
		_, plain, err := caller.Accounts.CreateToken(t.Context(), caller.actor,
			account.ReadNewToken(values("name", "Today", "expires", "2026-01-31")))
		must(t, err)
		caller.token = plain
		for range 3 {
			caller.call(t, http.MethodGet, "/customers", "").want(t, http.StatusOK, "")
		}
		caller.clock.Advance(24 * time.Hour)
		caller.call(t, http.MethodGet, "/customers", "").want(t, http.StatusUnauthorized, "Unauthenticated")
	})
}
