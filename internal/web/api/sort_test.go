package api

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"carteira/internal/platform/sqldb"
	"carteira/test/kit/sqldbtest"
)

// sortedBusiness is business with one more customer, who has neither plan nor due
// date.
func (s *service) sortedBusiness(t *testing.T) *caller {
	t.Helper()
	caller := s.business(t)
	s.clock.Set(noon.Add(time.Hour))
	caller.create(t, `{"name":"álvaro"}`)
	return caller
}

func instant(at time.Time) string { return url.QueryEscape(at.Format(time.RFC3339)) }

var nextPage = regexp.MustCompile(`<[^>]*/api/v1([^>]*)>; rel="next"`)

// numbers are the ids of a list, read by following its links.
func (c *caller) numbers(t *testing.T, path string) []int64 {
	t.Helper()
	all := []int64{}
	for pages := 0; path != ""; pages++ {
		if pages > 20 {
			t.Fatalf("no end of %s", path)
		}
		answer := c.call(t, http.MethodGet, path, "")
		for _, item := range data[[]struct{ ID int64 }](t, answer) {
			all = append(all, item.ID)
		}
		path = ""
		if next := nextPage.FindStringSubmatch(answer.header.Get("Link")); next != nil {
			path = next[1]
		}
	}
	return all
}

func (c *caller) wantNumbers(t *testing.T, path string, want ...int64) {
	t.Helper()
	if got := c.numbers(t, path); !slices.Equal(got, want) {
		t.Errorf("%s: %v, want %v", path, got, want)
	}
}

func TestListsAreInTheOrderThatIsAskedFor(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		caller := newService(t, engine).sortedBusiness(t)
		for path, orders := range map[string]map[string][]int64{
			"/customers?": {
				"id": {1, 2, 3, 4}, "-id": {4, 3, 2, 1}, "": {4, 3, 2, 1},
				"name": {4, 3, 1, 2}, "-name": {2, 1, 3, 4},
				"due_date": {1, 3, 2, 4}, "-due_date": {2, 3, 1, 4}, // without a date last, either way
				"updated_at": {1, 2, 3, 4}, "-updated_at": {4, 3, 2, 1}, // 2 and 3 at one instant
			},
			"/customers?status=ativo&": {"name": {4, 2}, "-name": {2, 4}, "due_date": {2, 4}, "-due_date": {2, 4}},
			"/customers?search=a&":     {"name": {4, 3, 1, 2}, "-due_date": {2, 3, 1, 4}, "updated_at": {1, 2, 3, 4}},
			"/invoices?": {
				"id": {1, 2, 3, 4}, "-id": {4, 3, 2, 1}, "": {4, 3, 2, 1},
				"name": {3, 1, 4, 2}, "-name": {2, 4, 1, 3},
				"due_date": {1, 3, 4, 2}, "-due_date": {2, 4, 3, 1},
				"updated_at": {1, 2, 3, 4}, "-updated_at": {4, 3, 2, 1},
			},
			"/invoices?status=em+aberto&": {"name": {3, 1}, "-due_date": {3, 1}, "updated_at": {1, 3}},
			"/invoices?search=joao&":      {"name": {1, 4}, "-name": {4, 1}, "due_date": {1, 4}},
			"/customers/1/invoices?":      {"name": {1, 4}, "due_date": {1, 4}, "-due_date": {4, 1}, "updated_at": {1, 4}},
		} {
			for sort, want := range orders {
				for _, size := range []int{1, 3, 50} { // each record once, however it is paged
					caller.wantNumbers(t, fmt.Sprintf("%ssort=%s&per_page=%d", path, sort, size), want...)
				}
			}
		}
		for _, list := range []string{"/customers", "/invoices", "/customers/1/invoices"} {
			caller.call(t, http.MethodGet, list+"?sort=amount", "").want(t, 422,
				"sort: must be one of: id, -id, name, -name, due_date, -due_date, updated_at, -updated_at")
			caller.call(t, http.MethodGet, list+"?updated_since=yesterday", "").want(t, 422,
				"updated_since: must be a date-time such as 2026-01-31T09:00:00-03:00, or a date in the form YYYY-MM-DD")
			caller.call(t, http.MethodGet, list+"?updatedsince=2026-01-01", "").want(t, 422,
				"updatedsince: unknown parameter; did you mean updated_since?")
		}
	})
}

// Whatever changes a record that a list shows gives it a newer updated_at, so that
// a reader who asks from the last one on misses nothing.
func TestUpdatedSinceHasWhatChanged(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		service := newService(t, engine)
		caller := service.sortedBusiness(t)
		caller.wantNumbers(t, "/invoices?updated_since=2026-01-31", 4, 3, 2)
		caller.wantNumbers(t, "/invoices?updated_since=2026-02-01")
		caller.wantNumbers(t, "/customers?updated_since=2026-01-31&sort=name", 4, 3, 2)
		caller.wantNumbers(t, "/customers?updated_since="+instant(noon.Add(time.Second)), 4)
		caller.wantNumbers(t, "/customers/1/invoices?updated_since=2026-01-31&sort=due_date", 4)

		steps := []struct {
			method, path, body  string
			customers, invoices []int64
		}{
			{"PUT", "/customers/1", `{"data_de_vencimento":"2026-02-20"}`, []int64{1}, []int64{1}}, // moves its invoice
			{"PUT", "/customers/3", `{"notes":"x"}`, []int64{3}, []int64{}},
			{"PUT", "/customers/1", `{"price":"40.00"}`, []int64{1}, []int64{1}},
			{"PUT", "/invoices/3", `{"description":"x"}`, []int64{}, []int64{3}},
			{"POST", "/invoices/3/status", `{"status":"Pago","amount":"5.00","difference":"partial"}`, []int64{}, []int64{3}},
			{"POST", "/invoices/3/status", `{"status":"Pago"}`, []int64{3}, []int64{3}}, // renews its customer
			{"PUT", "/customers/1", `{"cancelled":true}`, []int64{1}, []int64{1}},       // withdraws its invoice
			{"PUT", "/customers/1", `{"cancelled":false}`, []int64{1}, []int64{1}},
		}
		for n, step := range steps {
			at := noon.Add(time.Duration(n+2) * time.Hour)
			service.clock.Set(at)
			data[any](t, caller.call(t, step.method, step.path, step.body))
			since := "updated_since=" + instant(at)
			caller.wantNumbers(t, "/customers?"+since, step.customers...)
			caller.wantNumbers(t, "/invoices?"+since, step.invoices...)
			caller.wantNumbers(t, "/invoices?updated_since="+instant(at.Add(time.Second)))
		}
		shown := caller.call(t, http.MethodGet, "/invoices/3", "").body
		paid := noon.Add(7 * time.Hour).In(caller.actor.Company.Zone).Format(time.RFC3339)
		if !strings.Contains(shown, `"updated_at":"`+paid+`"`) {
			t.Error(shown)
		}
	})
}
