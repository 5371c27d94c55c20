package api

import (
	"context"
	"maps"
	"math"
	"net/url"
	"slices"
	"strings"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/customer"
	"carteira/internal/platform/address"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/text"
	"carteira/internal/web"
)

func (s *Server) listCustomers(ctx context.Context, call *call) (web.Answer, error) {
	query := call.query()
	paging, asked := query.Page(), customer.ReadQuery(query, call.actor.Company.Zone)
	limit, _ := query.Int("invoices_limit", 0, math.MaxInt32).Get()
	if err := query.Err(); err != nil {
		return web.Answer{}, err
	}
	list, total, err := s.Customers.Sorted(ctx, call.actor, asked, paging)
	if err != nil || !query.Sent("invoices_limit") {
		return page(call, paging, total, web.List(list, call.writeCustomer)), err
	}
	ids := idsOf(list, func(record *customer.Customer) int64 { return record.ID })
	invoices, err := s.Billing.Latest(ctx, call.actor, ids, limit)
	if err == nil {
		err = s.payPages(ctx, call, slices.Concat(slices.Collect(maps.Values(invoices))...))
	}
	return page(call, paging, total, web.List(list, func(object *web.Object, record *customer.Customer) {
		call.writeCustomer(object, record)
		web.Objects(object, "invoices", invoices[record.ID], call.writeInvoiceFields)
	})), err
}

func (s *Server) renewCustomer(ctx context.Context, call *call) (web.Answer, error) {
	query := call.query()
	invoice := query.Choice("invoice", "keep", "paid", "cancelled")
	periods := query.Int("periods", 1, customer.MaxPeriods).Or(1)
	if err := query.Err(); err != nil {
		return web.Answer{}, err
	}
	hand := billing.RenewalByHand{Periods: periods, Invoice: account.RenewInvoice(invoice.Value)}
	renewal, err := s.Billing.Renew(ctx, call.actor, call.id, hand)
	return web.Answer{Data: web.One(func(object *web.Object) {
		call.writeCustomer(object, &renewal.Customer)
		object.Date("previous_due_date", renewal.Previous)
	})}, err
}

func (c *call) customer(record customer.Customer) web.Answer {
	return web.Answer{Data: web.One(func(object *web.Object) { c.writeCustomer(object, &record) })}
}

// writeCustomer writes the fields of a customer's record.
func (c *call) writeCustomer(object *web.Object, record *customer.Customer) {
	zone := c.actor.Company.Zone
	object.Int("id", record.ID)
	object.String("uuid", record.UUID)
	object.String("name", record.Name)
	object.Text("whatsapp", record.Whatsapp)
	object.Text("email", record.Email)
	object.Text("usuario", record.Usuario)
	object.Date("data_de_vencimento", record.DueOn)
	object.String("status", string(record.Status(c.today)))
	writePlanRef(object, "plan", record.Plan)
	writeRef(object, "product", record.Product.ID, record.Product.Name)
	object.Text("notes", record.Notes)
	object.Text("external_id", record.ExternalID)
	object.Text("cpf_cnpj", record.CpfCnpj)
	writeAddress(object, "address", &record.Address)
	if record.OwnPrice.Own {
		object.Money("price", record.OwnPrice.Amount)
	} else {
		object.Null("price")
	}
	writeCustom(object, "custom", record.Custom)
	object.Time("cancelled_at", record.CancelledAt, zone)
	object.Text("cancel_reason", record.CancelReason)
	object.String("autopay", string(record.Autopay))
	object.Money("credit", record.Credit)
	object.Time("created_at", record.CreatedAt, record.CreatedZone())
	object.Time("updated_at", record.UpdatedAt, zone)
}

// writeAddress writes the parts of an address; null when there is none.
func writeAddress(object *web.Object, name string, place *address.Address) {
	if place.IsZero() {
		object.Null(name)
		return
	}
	object.Object(name, func(object *web.Object) {
		object.Text("cep", place.CEP)
		object.Text("street", place.Street)
		object.Text("number", place.Number)
		object.Text("complement", place.Complement)
		object.Text("district", place.District)
		object.Text("city", place.City)
		object.Text("state", place.State)
	})
}

// writeCustom hands the company's own fields through as they are stored.
func writeCustom(object *web.Object, name string, custom customer.Custom) {
	if custom == "" {
		object.Null(name)
		return
	}
	object.Data(name, func(b []byte) []byte { return append(b, custom...) })
}

// writePlanRef writes the plan of a customer or an invoice; null when it has
// none.
func writePlanRef(object *web.Object, name string, plan customer.Plan) {
	if plan.ID == 0 {
		object.Null(name)
		return
	}
	object.Object(name, func(object *web.Object) {
		object.Int("id", plan.ID)
		object.String("name", plan.Name)
		object.Money("value", plan.Value)
	})
}

// writeRef writes which record of another kind this one names; null when it
// names none.
func writeRef(object *web.Object, field string, id int64, name string) {
	if id == 0 {
		object.Null(field)
		return
	}
	object.Object(field, func(object *web.Object) {
		object.Int("id", id)
		object.String("name", name)
	})
}

// externalPath is the one path with a name of the integrator's own in it. The
// mux cannot have it together with /customers/{id}/invoices, since both would
// match /customers/external/invoices; patternOf knows it.
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
