package api

import (
	"fmt"
	"net/http"
	"testing"

	"carteira/internal/account"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/sqldb/sqldbtest"
)

func TestCallsAreInTheAuditLogWithTheirToken(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		c := newService(t, engine).newCaller(t)
		made := c.create(t, `{"name":"Ana","email":"ana@example.com"}`)
		path := fmt.Sprintf("/customers/%d", made.ID)
		c.call(t, http.MethodPut, path, `{"name":"Ana Lima"}`)
		c.call(t, http.MethodPut, path, `{"name":"Ana Lima"}`) // changes nothing
		c.call(t, http.MethodDelete, path, "")
		list, n, err := c.Accounts.Audit(t.Context(), c.actor, account.AuditFilter{Record: "customer"}, input.Page{Number: 1, Size: 10})
		if err != nil || n != 3 {
			t.Fatalf("%d lines, %v: %+v", n, err, list)
		}
		for i, want := range []string{"customer.deleted", "customer.updated", "customer.created"} {
			if e := list[i]; e.Action != want || e.Who != "CRM" || e.TokenID != c.actor.TokenID || e.Address != "127.0.0.1" || e.RecID == 0 {
				t.Errorf("line %+v, want %s by the token", e, want)
			}
		}
		if changed := list[1].Changes; len(changed) != 1 || changed[0] != (account.FieldChange{Field: "name", Before: "Ana", After: "Ana Lima"}) {
			t.Errorf("changes %+v", changed)
		}
	})
}
