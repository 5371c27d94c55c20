package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"carteira/internal/catalog"
	"carteira/internal/platform/sqldb"
	"carteira/test/kit/sqldbtest"
)

// figure finds a number by its place in the dashboard.
func figure(t *testing.T, dashboard any, place string) int64 {
	t.Helper()
	for part := range strings.SplitSeq(place, ".") {
		switch at := dashboard.(type) {
		case map[string]any:
			dashboard = at[part]
		case []any:
			number, err := strconv.Atoi(part)
			if err != nil || number >= len(at) {
				t.Fatalf("%s is not in the dashboard", place)
			}
			dashboard = at[number]
		}
	}
	number, ok := dashboard.(float64)
	if !ok {
		t.Fatalf("%s is %v", place, dashboard)
	}
	return int64(number)
}

// deletedPlace says how many of a figure no list has any more.
func deletedPlace(place string) string {
	switch {
	case place == "customers.new":
		return "customers.new_deleted"
	case strings.HasPrefix(place, "recurring.") && strings.Count(place, ".") == 2:
		return strings.TrimSuffix(place, "customers") + "deleted"
	}
	return ""
}

func TestEveryFigureIsTheTotalOfTheListThatItLinksTo(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		caller := newService(t, engine).portfolio(t)
		tested := map[string]int64{}
		for _, query := range []string{"", "?plan_id=1", "?plan_id=2", "?product_id=1", "?month=2026-01", "?month=2026-02&plan_id=1"} {
			answer := caller.call(t, http.MethodGet, "/dashboard"+query, "")
			var m map[string]any
			if err := json.Unmarshal([]byte(answer.body), &m); err != nil {
				t.Fatal(err)
			}
			body := m["data"].(map[string]any)
			for place, link := range body["links"].(map[string]any) {
				got := figure(t, body, place)
				if deleted := deletedPlace(place); deleted != "" {
					got -= figure(t, body, deleted)
				}
				total := caller.call(t, http.MethodGet, link.(string), "").total(t)
				if got != total {
					t.Errorf("%s: %s is %d, and %s has %d", query, place, got, link, total)
				}
				tested[place] += got
			}
		}
		for place, n := range tested {
			if n == 0 {
				t.Errorf("%s is not put to the test", place)
			}
		}
	})
}

func (a answer) total(t *testing.T) int64 {
	t.Helper()
	var list struct {
		Meta struct{ Total int64 }
	}
	if err := json.Unmarshal([]byte(a.body), &list); err != nil || a.status != http.StatusOK {
		t.Fatalf("%d: %s", a.status, a.body)
	}
	return list.Meta.Total
}

// portfolio is a company with business of every age: customers who owe since one
// day to four months, who came, went, moved up and down, were cancelled and were
// deleted.
func (s *service) portfolio(t *testing.T) *caller {
	t.Helper()
	caller := s.newCaller(t)
	_, err := caller.Catalog.CreatePlan(t.Context(), caller.actor, catalog.ReadNewPlan(values("name", "Anual", "value", "350.00", "period", "1year")))
	must(t, err)
	due := func(days int) string { return caller.clock.Now().AddDate(0, 0, -days).Format("2006-01-02") }
	for n, days := range []int{0, 1, 7, 8, 15, 16, 30, 31, 60, 61, 120, -1, -20} {
		caller.call(t, http.MethodPost, "/customers", fmt.Sprintf(`{"name":"C%d","plan_id":%d,"data_de_vencimento":"%s"}`, n, 1+n%2, due(days)))
	}
	for n := range 8 { // who are in force when the next month begins
		caller.call(t, http.MethodPost, "/customers", fmt.Sprintf(`{"name":"F%d","plan_id":1,"data_de_vencimento":"%s"}`, n, due(-45-n)))
	}
	caller.call(t, http.MethodPost, "/invoices/3/status", `{"status":"Cancelado"}`)
	caller.clock.Advance(24 * time.Hour)
	_, err = caller.Customers.Expire(t.Context(), caller.actor)
	must(t, err)
	for id, change := range map[int]string{
		14: `{"price":"50.00"}`, 15: `{"price":"10.00"}`, 16: `{"plan_id":2}`, 17: `{"cancelled":true}`, 18: `{"data_de_vencimento":"2026-01-05"}`,
	} {
		caller.call(t, http.MethodPut, fmt.Sprintf("/customers/%d", id), change)
	}
	caller.call(t, http.MethodPost, "/invoices/14/status", `{"status":"Pago"}`)
	caller.call(t, http.MethodPost, "/customers/19/renew-due-date", "")
	caller.call(t, http.MethodDelete, "/customers/20", "")
	caller.call(t, http.MethodPost, "/customers", fmt.Sprintf(`{"name":"N","plan_id":1,"data_de_vencimento":"%s"}`, due(-1)))
	caller.call(t, http.MethodPost, "/customers", `{"name":"gone","plan_id":1}`)
	caller.call(t, http.MethodDelete, "/customers/23", "")
	caller.call(t, http.MethodPost, "/invoices/12/status", `{"status":"Cancelado"}`)
	return caller
}
