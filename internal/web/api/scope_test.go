package api

import (
	"net/http"
	"testing"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/sqldb"
	"carteira/test/kit/sqldbtest"
)

// with is the caller with another token of its company.
func (c *caller) with(t *testing.T, pairs ...string) *caller {
	t.Helper()
	token, plain, err := c.Accounts.CreateToken(t.Context(), c.actor, account.ReadNewToken(values(append([]string{"name", "other"}, pairs...)...)))
	must(t, err)
	other := *c
	other.actor.TokenID, other.token = token.ID, plain
	return &other
}

// Every operation of the table, called with a token that may only read.
func TestReadTokenChangesNothing(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		owner := newService(t, engine).newCaller(t)
		owner.create(t, `{"name":"Ana","plan_id":1}`)
		reader := owner.with(t, "scope", "read")
		before := owner.everything(t)
		tried := 0
		for _, op := range operations() {
			tried++
			answer := reader.call(t, op.Method, op.Path, string(op.Body))
			if op.Method != http.MethodGet {
				answer.want(t, 403, "scope: this token may only read; changes need one with the scope full")
			} else if op.Path == "/webhooks/callback-secret" { // its holder can sign as we do
				answer.want(t, 403, "scope: this token may only read; secrets need one with the scope full")
			} else if answer.status == 403 {
				t.Errorf("%s: %d %s", op.OperationID, answer.status, answer.body)
			}
		}
		if tried != len(owner.routes()) {
			t.Errorf("%d operations were tried of %d", tried, len(owner.routes()))
		}
		if after := owner.everything(t); after != before {
			t.Errorf("the company has\n%s\nand had\n%s", after, before)
		}
	})
}

func TestTokenExpiresAtTheEndOfItsLastDay(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		owner := newService(t, engine).newCaller(t)
		caller := owner.with(t, "expires", "2026-01-31")
		type account struct {
			Token struct {
				Scope     string
				ExpiresAt *string `json:"expires_at"`
			}
		}
		record := data[account](t, caller.call(t, http.MethodGet, "/account", "")).Token
		if record.Scope != "full" || record.ExpiresAt == nil || *record.ExpiresAt != "2026-02-01T00:00:00-03:00" {
			t.Errorf("%+v", record)
		}
		caller.clock.Set(time.Date(2026, 2, 1, 2, 59, 59, 0, time.UTC))
		data[any](t, caller.call(t, http.MethodGet, "/account", ""))
		caller.clock.Advance(time.Second)
		caller.call(t, http.MethodGet, "/account", "").want(t, 401, "Unauthenticated")
		data[any](t, owner.call(t, http.MethodGet, "/account", ""))
	})
}

func TestTokenCannotHaveExpiredAlready(t *testing.T) {
	owner := newService(t, sqldb.SQLite).newCaller(t)
	_, _, err := owner.Accounts.CreateToken(t.Context(), owner.actor, account.ReadNewToken(values("name", "late", "expires", "2026-01-30")))
	if err == nil || err.Error() != "validation: expires: must be today or later" {
		t.Error(err)
	}
}
