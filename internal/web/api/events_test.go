package api

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"carteira/internal/customer"
	"carteira/internal/event"
	"carteira/internal/platform/sqldb"
	"carteira/test/kit/sqldbtest"
)

// feedPage is what tests look at of GET /events.
type feedPage struct {
	Data []struct {
		Event event.Name
		ID    string
	}
	Meta struct {
		PerPage int64   `json:"per_page"`
		LastID  *string `json:"last_id"`
		HasMore bool    `json:"has_more"`
	}
}

func (c *caller) events(t *testing.T, query string) feedPage {
	t.Helper()
	answer := c.call(t, http.MethodGet, "/events"+query, "")
	if answer.status != http.StatusOK {
		t.Fatalf("%s: %d %s", query, answer.status, answer.body)
	}
	var page feedPage
	must(t, json.Unmarshal([]byte(answer.body), &page))
	return page
}

func (p feedPage) names() string {
	var names []string
	for _, event := range p.Data {
		names = append(names, string(event.Event))
	}
	return strings.Join(names, " ")
}

func TestEventsAreReadAsWebhooksGotThem(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		service := newService(t, engine)
		caller, stranger := service.newCaller(t), service.newCaller(t)
		if page := caller.events(t, ""); page.names() != "" || page.Meta.LastID != nil || page.Meta.HasMore {
			t.Errorf("before anything happened: %+v", page)
		}
		caller.create(t, `{"name":"Ana","plan_id":1}`)
		stranger.create(t, `{"name":"Beto"}`)
		first := caller.events(t, "?limit=1")
		if first.names() != "customer.created" || !first.Meta.HasMore || *first.Meta.LastID != first.Data[0].ID || first.Meta.PerPage != 1 {
			t.Errorf("first: %+v", first)
		}
		rest := caller.events(t, "?wait=25&after="+*first.Meta.LastID)
		if rest.names() != "invoice.created" || rest.Meta.HasMore {
			t.Errorf("rest: %+v", rest)
		}
		body := caller.call(t, http.MethodGet, "/events?types=invoice.created", "").body
		stored, err := sqldb.Value[string](t.Context(), service.DB, `SELECT body FROM events WHERE event_id = ?`, rest.Data[0].ID)
		must(t, err)
		if !strings.Contains(body, `"data":[`+stored+`]`) {
			t.Errorf("answered %s, recorded %s", body, stored)
		}
		for query, want := range map[string]string{
			"?limit=0": "customer.created", "?limit=999": "customer.created invoice.created", "?since=2026-01-31": "customer.created invoice.created",
			"?since=2026-02-01": "", "?since=2026-01-31T09:00:00-03:00": "customer.created invoice.created",
			"?types=invoice.paid,customer.created": "customer.created", "?after=&types=&since=&wait=x": "customer.created invoice.created",
		} {
			if page := caller.events(t, query); page.names() != want {
				t.Errorf("%s: %q, want %q", query, page.names(), want)
			}
		}
	})
}

func TestEventsRefuseWhatTheyDoNotKnow(t *testing.T) {
	caller := newService(t, sqldb.SQLite).newCaller(t)
	for query, want := range map[string]string{
		"?after=7":            "after: must be the id of an event, as in meta.last_id, or latest",
		"?since=yesterday":    "since: must be a date-time such as 2026-01-31T09:00:00-03:00, or a date in the form YYYY-MM-DD",
		"?types=invoice.payd": `types: "invoice.payd" is not an event; did you mean invoice.paid?`,
		"?types=everything":   `types: "everything" is not an event; GET /webhooks/events lists them`,
	} {
		caller.call(t, http.MethodGet, "/events"+query, "").want(t, 422, want)
	}
	caller.call(t, http.MethodGet, "/events?after=evt_00000000000000000000000000", "").
		want(t, 410, "after: the events that follow this one are no longer kept; begin again without after, or with since")
}

func TestEventsThatTheCallerHasAreNotSentAgain(t *testing.T) {
	caller := newService(t, sqldb.SQLite).newCaller(t)
	caller.create(t, `{"name":"Ana"}`)
	first := caller.call(t, http.MethodGet, "/events", "")
	tag := first.header.Get("ETag")
	if tag == "" || first.header.Get("Cache-Control") != "private, no-cache" {
		t.Fatalf("header %v", first.header)
	}
	for _, given := range []string{tag, "W/" + tag, `"other", ` + tag} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, caller.url+Prefix+"/events", nil)
		must(t, err)
		req.Header.Set("Authorization", "Bearer "+caller.token)
		req.Header.Set("If-None-Match", given)
		resp, err := caller.http.Do(req)
		must(t, err)
		must(t, resp.Body.Close())
		if resp.StatusCode != http.StatusNotModified || resp.Header.Get("ETag") != tag || resp.ContentLength > 0 {
			t.Errorf("%s: %d, %v", given, resp.StatusCode, resp.Header)
		}
	}
	caller.create(t, `{"name":"Bia"}`)
	if again := caller.call(t, http.MethodGet, "/events", "", "If-None-Match", tag); again.status != http.StatusOK {
		t.Errorf("with a new event: %d", again.status)
	}
}

func TestTokenThatWasDeletedWhileItWaitedGetsNothing(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		service := newService(t, engine)
		caller := service.newCaller(t)
		answered := make(chan answer)
		go func() { answered <- caller.call(t, http.MethodGet, "/events?wait=25", "") }()
		for service.count(t, `SELECT count(*) FROM api_tokens`) > 0 {
			if service.Events.Waiting(caller.actor.Company.ID) > 0 {
				must(t, service.Accounts.DeleteToken(t.Context(), caller.actor, caller.actor.TokenID))
			}
		}
		_, err := service.Customers.Create(t.Context(), caller.actor, customer.ReadNew(values("name", "Ana")))
		must(t, err)
		(<-answered).want(t, 401, "Unauthenticated")
	})
}
