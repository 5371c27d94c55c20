package api

import (
	"fmt"
	"net/http"
	"testing"

	"carteira/internal/account"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/test/kit/sqldbtest"
)

func TestCallsAreInTheAuditLogWithTheirToken(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		caller := newService(t, engine).newCaller(t)
		made := caller.create(t, `{"name":"Ana","email":"ana@example.com"}`)
		path := fmt.Sprintf("/customers/%d", made.ID)
		caller.call(t, http.MethodPut, path, `{"name":"Ana Lima"}`)
		caller.call(t, http.MethodPut, path, `{"name":"Ana Lima"}`) // changes nothing
		caller.call(t, http.MethodDelete, path, "")
		list, n, err := caller.Accounts.Audit(t.Context(), caller.actor, account.AuditFilter{Record: "customer"}, input.Page{Number: 1, Size: 10})
		if err != nil || n != 3 {
			t.Fatalf("%d lines, %v: %+v", n, err, list)
		}
		for i, want := range []string{"customer.deleted", "customer.updated", "customer.created"} {
			if line := list[i]; line.Action != want || line.Who != "CRM" || line.TokenID != caller.actor.TokenID || line.Address != "127.0.0.1" || line.RecID == 0 {
				t.Errorf("line %+v, want %s by the token", line, want)
			}
		}
		if changed := list[1].Changes; len(changed) != 1 || changed[0] != (account.FieldChange{Field: "name", Before: "Ana", After: "Ana Lima"}) {
			t.Errorf("changes %+v", changed)
		}
	})
}
