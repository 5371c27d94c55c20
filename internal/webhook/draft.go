package webhook

import (
	"context"
	"fmt"
	"slices"

	"carteira/internal/event"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/outbound"
)

// Draft is what a caller wants a webhook to be; a change leaves alone what is
// not given.
type Draft struct {
	URL         input.Opt[string]
	Description input.Opt[string]
	Events      input.Opt[[]string]
	Active      input.Opt[bool] // of a change: switches the webhook on or off

	RetryRefused input.Opt[bool]

	Problems input.Problems
}

// ReadNew reads a new webhook from the fields url, description,
// events and retry_refused.
func ReadNew(in *input.Form) Draft {
	in.Require("url")
	in.Require("events")
	in.Ignore("active")
	return readDraft(in)
}

// ReadChanges reads changes of a webhook from the fields url, description,
// events, retry_refused and active.
func ReadChanges(in *input.Form) Draft {
	in.MustNotClear("url")
	in.MustNotClear("events")
	active := in.Bool("active")
	draft := readDraft(in)
	draft.Active = active
	return draft
}

func readDraft(in *input.Form) Draft {
	in.Ignore("id", "secret", "consecutive_failures", "disabled_at", "created_at", "notice")
	draft := Draft{
		URL:         in.Line("url", 2000),
		Description: in.Line("description", 255),
		Events:      in.List("events"),

		RetryRefused: in.Bool("retry_refused"),
	}
	draft.Problems = in.Problems()
	return draft
}

// check refuses an address that must not be called, and events that do not
// exist. The address is looked up, so it is not called in a transaction.
func (s *Service) check(ctx context.Context, draft Draft) (refused fault.Fields) {
	if draft.URL.Value != "" {
		if err := s.gate.CheckURL(ctx, draft.URL.Value); err != nil {
			refused.Add("url", outbound.Public(err))
		}
	}
	if draft.Events.HasValue() && len(draft.Events.Value) == 0 {
		refused.Add("events", "must name at least one event")
	}
	known := Subscribable()
	for _, name := range draft.Events.Value {
		switch {
		case event.Name(name) == event.Ping:
			refused.Add("events", "ping cannot be subscribed to; the test of a webhook sends it")
		case !slices.Contains(known, event.Name(name)):
			refused.Add("events", fmt.Sprintf("%q is not an event; GET /webhooks/events lists them", name))
		}
	}
	return refused
}

// to sets what is given, except whether the webhook is active.
func (d Draft) to(webhook *Webhook) {
	d.URL.To(&webhook.URL)
	d.Description.To(&webhook.Description)
	d.RetryRefused.To(&webhook.RetryRefused)
	if !d.Events.HasValue() {
		return
	}
	webhook.Events = nil
	for _, name := range d.Events.Value {
		if !slices.Contains(webhook.Events, event.Name(name)) {
			webhook.Events = append(webhook.Events, event.Name(name))
		}
	}
}

// Subscribable are the events that a webhook may want: all but ping.
func Subscribable() []event.Name {
	var names []event.Name
	for _, entry := range event.Catalog {
		if entry.Name != event.Ping {
			names = append(names, entry.Name)
		}
	}
	return names
}
