package api

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"testing"

	"carteira/internal/platform/sqldb"
	"carteira/test/kit/sqldbtest"
)

// upserted is what tests look at of an upsert.
type upserted struct {
	ID         int64
	Name       string
	Email      *string
	ExternalID string `json:"external_id"`
	Created    bool
}

func TestCustomerIsCreatedOrChangedByItsExternalID(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		service := newService(t, engine)
		caller, stranger := service.newCaller(t), service.newCaller(t)
		for _, external := range []string{"crm-1", "a/b c", "ção?#%", "invoices", "7"} {
			path := "/customers/external/" + url.PathEscape(external)
			made := data[upserted](t, caller.call(t, http.MethodPut, path, `{"name":"Ana","email":"ana@example.com"}`))
			if !made.Created || made.ExternalID != external {
				t.Errorf("%q: made %+v", external, made)
			}
			again := data[upserted](t, caller.call(t, http.MethodPut, path, `{"name":"Bia"}`))
			if again.Created || again.ID != made.ID || again.Name != "Bia" || again.Email == nil {
				t.Errorf("%q: changed %+v", external, again)
			}
			if other := data[upserted](t, stranger.call(t, http.MethodPut, path, `{"name":"Caio"}`)); !other.Created {
				t.Errorf("%q: another company changed it: %+v", external, other)
			}
		}
		for body, want := range map[string]string{
			`{}`: "name: is required", `{"name":"Ana","external_id":"other"}`: "external_id: must be the one in the address, or be left out",
			`{"name":"Ana","nmae":1}`: "nmae: unknown field; did you mean name?",
		} {
			caller.call(t, http.MethodPut, "/customers/external/new", body).want(t, 422, want)
		}
		caller.call(t, http.MethodPut, "/customers/external/%20", `{"name":"Ana"}`).want(t, 422, "external_id: must be a text that is not empty")
		caller.call(t, http.MethodPut, "/customers/external/%00", `{"name":"Ana"}`).want(t, 422, "external_id: must be a text that is not empty")
		caller.call(t, http.MethodPut, "/customers/external/", `{"name":"Ana"}`).want(t, 404, "path not found")
		if answer := caller.call(t, http.MethodGet, "/customers/external/crm-1", ""); answer.status != 405 || answer.header.Get("Allow") != "PUT" {
			t.Errorf("%d %s", answer.status, answer.header.Get("Allow"))
		}
	})
}

func TestManyAtOnceMakeOneCustomer(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		caller := newService(t, engine).newCaller(t)
		var mu sync.Mutex
		var group sync.WaitGroup
		created, ids := 0, map[int64]bool{}
		for range 8 {
			group.Go(func() {
				record := data[upserted](t, caller.call(t, http.MethodPut, "/customers/external/crm-1", `{"name":"Ana"}`))
				mu.Lock()
				defer mu.Unlock()
				ids[record.ID] = true
				if record.Created {
					created++
				}
			})
		}
		group.Wait()
		if created != 1 || len(ids) != 1 {
			t.Errorf("%d say that they created it, and it has the ids %v", created, ids)
		}
	})
}

func TestPlansAndProductsAreMadeAndChanged(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		service := newService(t, engine)
		caller, stranger := service.newCaller(t), service.newCaller(t)
		type plan struct {
			ID          int64
			Value       string
			PeriodUnit  string `json:"period_unit"`
			PeriodCount int    `json:"period_count"`
			Active      bool
		}
		made := data[plan](t, caller.call(t, http.MethodPost, "/customer-plans", `{"name":"Trimestral","value":99,"period_unit":"month","period_count":"3"}`))
		if made.Value != "99.00" || made.PeriodUnit != "month" || made.PeriodCount != 3 || !made.Active {
			t.Errorf("made %+v", made)
		}
		path := "/customer-plans/" + itoa(made.ID)
		read := caller.call(t, http.MethodGet, path, "")
		if sent := caller.call(t, http.MethodPut, path, string(recordOf(t, read))); sent.body != read.body {
			t.Errorf("what was read, sent back, became %s, and was %s", sent.body, read.body)
		}
		if changed := data[plan](t, caller.call(t, http.MethodPut, path, `{"value":"105.00","period":"1year","active":false}`)); changed.Value != "105.00" || changed.PeriodUnit != "year" || changed.Active {
			t.Errorf("changed %+v", changed)
		}
		if monthly := data[plan](t, caller.call(t, http.MethodPost, "/customer-plans", `{"name":"X","value":"1.00"}`)); monthly.PeriodUnit != "month" || monthly.PeriodCount != 1 {
			t.Errorf("without a period %+v", monthly)
		}
		for body, want := range map[string]string{
			`{"name":"X","value":"1.00","period_count":2}`:                   "period_unit: is required with period_count",
			`{"name":"X","value":"1.00","period_count":2,"period":"1month"}`: "period_unit: is required with period_count",
			`{"name":"X","value":"1.00","period_unit":"hour"}`:               "period_unit: must be one of: day, week, month, year",
			`{"value":"1.00","period":"1month"}`:                             "name: is required",
			`{"name":"X","value":"1.00","period":"1month","product_id":99}`:  "product_id: does not exist",
		} {
			caller.call(t, http.MethodPost, "/customer-plans", body).want(t, 422, want)
		}
		caller.call(t, http.MethodPut, path, `{"name":null}`).want(t, 422, "name: must not be empty")
		stranger.call(t, http.MethodPut, path, `{"name":"Mine"}`).want(t, 404, "customer plan not found")
		product := data[record](t, caller.call(t, http.MethodPost, "/products", `{"name":"TV","description":"120 channels"}`))
		changed := data[record](t, caller.call(t, http.MethodPut, "/products/"+itoa(product.ID), `{"name":"TV 4K","description":null}`))
		if changed.ID != product.ID || changed.Name != "TV 4K" {
			t.Errorf("changed %+v", changed)
		}
		caller.call(t, http.MethodPost, "/products", `{}`).want(t, 422, "name: is required")
		stranger.call(t, http.MethodPut, "/products/"+itoa(product.ID), `{"name":"Mine"}`).want(t, 404, "product not found")
	})
}

func itoa(id int64) string { return strconv.FormatInt(id, 10) }

// recordOf is the record of an answer, as it was written.
func recordOf(t *testing.T, answer answer) json.RawMessage {
	t.Helper()
	return data[json.RawMessage](t, answer)
}
