package api

import (
	"context"
	"fmt"
	"slices"
	"time"

	"carteira/internal/account"
	"carteira/internal/event"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/text"
	"carteira/internal/web"
)

// maxWait bounds a wait for events. It ends before timeLimit, and before common
// proxies lose their patience.
const maxWait = 25

// readEvents answers the events that follow, and waits for one when asked to.
func (s *Server) readEvents(ctx context.Context, call *call) (web.Answer, error) {
	in := call.query()
	query := event.Query{
		After: readAfter(in), Since: in.Moment("since", call.actor.Company.Zone).Value, Names: readTypes(in),
		Limit: int(in.Adjusted("limit", input.Bounds{Default: input.DefaultPageSize, Low: 1, High: input.MaxPageSize})),
	}
	wait := time.Duration(in.Adjusted("wait", input.Bounds{Default: 0, Low: 0, High: maxWait})) * time.Second
	if err := in.Err(); err != nil {
		return web.Answer{}, err
	}
	if query.After == latest {
		var err error
		if query.After, err = s.Events.Latest(ctx, call.actor.Company.ID); err != nil {
			return web.Answer{}, err
		}
	}
	reader := event.Reader{CompanyID: call.actor.Company.ID, TokenID: call.actor.TokenID}
	page, err := s.Events.Wait(ctx, reader, query, wait)
	if err == nil && wait > 0 && len(page.Bodies) > 0 {
		err = s.stillValid(ctx, call.actor)
	}
	return call.events(page, query.Limit), err
}

// stillValid refuses a token that was deleted, or has expired, while its call waited.
func (s *Server) stillValid(ctx context.Context, actor account.Actor) error {
	token, err := s.Accounts.Token(ctx, actor, actor.TokenID)
	if fault.KindOf(err) == fault.KindNotFound || err == nil && token.Expired(s.DB.Real()) {
		return fault.New(fault.KindUnauthenticated, "Unauthenticated")
	}
	return err
}

// events is the answer of a page of the feed, with the envelopes as webhooks get
// them.
func (c *call) events(page event.Page, limit int) web.Answer {
	return web.Answer{
		Tagged: true,
		Meta: &web.Meta{
			Total: int64(len(page.Bodies)), PerPage: int64(limit), CompanyID: c.actor.Company.ID,
			Feed: &web.FeedMeta{LastID: page.LastID, More: page.More},
		},
		Data: func(b []byte) []byte {
			b = append(b, '[')
			for i, body := range page.Bodies {
				if i > 0 {
					b = append(b, ',')
				}
				b = append(b, body...)
			}
			return append(b, ']')
		},
	}
}

// latest instead of an event's id begins after the newest event.
const latest = "latest"

func readAfter(in *input.Form) string {
	after := in.Line("after", 40).Value
	if after != "" && after != latest && (len(after) != len("evt_")+26 || !isEventID(after)) {
		in.Refuse("after", "must be the id of an event, as in meta.last_id, or latest")
	}
	return after
}

// readTypes reads names of the catalog, with commas between them.
func readTypes(in *input.Form) []event.Name {
	in.Split("types")
	known := make([]string, len(event.Catalog))
	for i, entry := range event.Catalog {
		known[i] = string(entry.Name)
	}
	var names []event.Name
	for _, name := range in.List("types").Value {
		if slices.Contains(known, name) {
			names = append(names, event.Name(name))
			continue
		}
		reason := fmt.Sprintf("%q is not an event; GET /webhooks/events lists them", name)
		if near := text.Near(name, known); near != "" {
			reason = fmt.Sprintf("%q is not an event; did you mean %s?", name, near)
		}
		in.Refuse("types", reason)
	}
	return names
}
