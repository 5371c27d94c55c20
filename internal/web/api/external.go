package api

import (
	"context"
	"net/url"
	"strings"

	"carteira/internal/customer"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/text"
	"carteira/internal/web"
)

// externalPath is the one path with a name of the integrator's own in it. The
// mux cannot have it beside /customers/{id}/invoices, since both would match
// /customers/external/invoices; patternOf knows it.
const externalPath = "/customers/external/{external_id}"

// externalID is the last segment of such a path; ok is false for any other path.
// An escaped slash is part of the id.
func externalID(address *url.URL) (id string, ok bool) {
	segment, ok := strings.CutPrefix(address.EscapedPath(), Prefix+strings.TrimSuffix(externalPath, "{external_id}"))
	if !ok || segment == "" || strings.Contains(segment, "/") {
		return "", false
	}
	id, err := url.PathUnescape(segment)
	return id, err == nil
}

// upsertCustomer creates the customer of an external id, or changes it.
func (s *Server) upsertCustomer(ctx context.Context, call *call) (web.Answer, error) {
	id, _ := externalID(call.http.URL)
	id = strings.TrimSpace(id)
	if id == "" || !text.IsStorable(id) {
		return web.Answer{}, fault.Field("external_id", "must be a text that is not empty")
	}
	read := func() (*input.Form, error) {
		form, err := call.form()
		if err != nil {
			return nil, err
		}
		if given := form.Text("external_id", len(call.body)+1); given.HasValue() && given.Value != id {
			form.Refuse("external_id", "must be the one in the address, or be left out")
		}
		form.Set("external_id", id)
		return form, nil
	}
	form, err := read()
	if err != nil {
		return web.Answer{}, err
	}
	again, err := read()
	if err != nil {
		return web.Answer{}, err
	}
	record, created, err := s.Customers.Upsert(ctx, call.actor, id, customer.Upsert{
		New:     customer.ReadNew(form),
		Changes: customer.ReadChanges(again),
	})
	return web.Answer{Data: web.One(func(object *web.Object) {
		call.writeCustomer(object, &record)
		object.Bool("created", created)
	})}, err
}
