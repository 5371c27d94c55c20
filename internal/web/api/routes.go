package api

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"carteira/internal/account"
	"carteira/internal/catalog"
	"carteira/internal/customer"
	"carteira/internal/payment"
	"carteira/internal/platform/input"
	"carteira/internal/reseller"
	"carteira/internal/web"
	"carteira/internal/webhook"
)

const get, post, put, del = http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete

// route is one operation of the API.
type route struct {
	method   string
	path     string
	level    account.Level    // the lowest that may call it
	function account.Function // that the company's plan must have besides api; "": none
	record   string           // what {id} names, for the answer when there is none
	handler  handler
}

// routes is the whole API: the 39 operations of the seed, in its order, and the
// extensions. All but GET change something, and are refused when the company's
// subscription has ended.
func (s *Server) routes() []route { return append(s.seed(), s.extensions()...) }

func (s *Server) seed() []route {
	const (
		anyone = account.LevelUser
		resale = account.LevelReseller

		basic     = account.Function("")
		payments  = account.FunctionPayments
		resellers = account.FunctionResellers
		webhooks  = account.FunctionWebhooks
	)
	return []route{
		{get, "/account", anyone, basic, "", s.account},

		{get, "/customers", anyone, basic, "", s.listCustomers},
		{post, "/customers", anyone, basic, "", created(s.Customers.Create, customer.ReadNew, (*call).customer)},
		{get, "/customers/{id}", anyone, basic, "customer", found(s.Customers.Find, (*call).customer)},
		{put, "/customers/{id}", anyone, basic, "customer", changed(s.Customers.Update, customer.ReadChanges, (*call).customer)},
		{del, "/customers/{id}", anyone, basic, "customer", deleted(s.Customers.Delete, "customer deleted")},
		{get, "/customers/{id}/invoices", anyone, basic, "customer", s.listInvoicesOfCustomer},
		{post, "/customers/{id}/renew-due-date", anyone, basic, "customer", bodiless(s.renewCustomer)},

		{get, "/invoices", anyone, basic, "", s.listInvoices},
		{get, "/invoices/{id}", anyone, basic, "invoice", s.readInvoice},
		{get, "/invoices/{id}/payment-link", anyone, payments, "invoice", s.readPaymentLink},
		{post, "/invoices/{id}/pix", anyone, payments, "invoice", reading(s.createPix)},
		{post, "/invoices/{id}/status", anyone, basic, "invoice", reading(s.setInvoiceStatus)},

		{get, "/customer-plans", anyone, basic, "", s.listPlans},
		{get, "/customer-plans/{id}", anyone, basic, "customer plan", s.readPlan},
		{get, "/products", anyone, basic, "", s.listProducts},
		{get, "/products/{id}", anyone, basic, "product", s.readProduct},

		{get, "/resellers", resale, resellers, "", s.listResellers},
		{post, "/resellers", resale, resellers, "", created(s.Resellers.Create, reseller.ReadNewReseller, s.madeReseller)},
		{get, "/resellers/{id}", resale, resellers, "reseller", found(s.Resellers.Find, s.reseller)},
		{put, "/resellers/{id}", resale, resellers, "reseller", changed(s.Resellers.Update, reseller.ReadChanges, s.reseller)},
		{put, "/resellers/{id}/level", resale, resellers, "reseller", changed(s.Resellers.SetLevel, reseller.ReadLevelRequest, s.reseller)},
		{post, "/resellers/{id}/renew", resale, resellers, "reseller", changed(s.Resellers.Renew, reseller.ReadRenewRequest, s.paidReseller)},

		{get, "/plans", resale, resellers, "", s.listSubscriptionPlans},
		{post, "/plans", resale, resellers, "", created(s.Resellers.CreatePlan, reseller.ReadNewPlan, s.subscriptionPlan)},
		{get, "/plans/{id}", resale, resellers, "plan", found(s.Resellers.FindPlan, s.subscriptionPlan)},
		{put, "/plans/{id}", resale, resellers, "plan", changed(s.Resellers.UpdatePlan, reseller.ReadPlanChanges, s.subscriptionPlan)},

		{get, "/webhooks/events", anyone, webhooks, "", s.listEvents},
		{get, "/webhooks", anyone, webhooks, "", s.listWebhooks},
		{post, "/webhooks", anyone, webhooks, "", reading(s.createWebhook)},
		{get, "/webhooks/{id}", anyone, webhooks, "webhook", found(s.Webhooks.Find, (*call).webhook)},
		{put, "/webhooks/{id}", anyone, webhooks, "webhook", changed(s.Webhooks.Update, webhook.ReadChanges, (*call).webhook)},
		{del, "/webhooks/{id}", anyone, webhooks, "webhook", deleted(s.Webhooks.Delete, "webhook deleted")},
		{post, "/webhooks/{id}/test", anyone, webhooks, "webhook", bodiless(s.testWebhook)},
		{get, "/webhooks/{id}/deliveries", anyone, webhooks, "webhook", s.listDeliveries},
		{post, "/webhooks/deliveries/{id}/resend", anyone, webhooks, "delivery", bodiless(s.resendDelivery)},
		{get, "/webhooks/callback-secret", anyone, webhooks, "", s.readCallbackSecret},
		{post, "/webhooks/callback-secret/rotate", anyone, webhooks, "", bodiless(s.rotateCallbackSecret)},

		{get, "/dashboard", anyone, basic, "", s.readDashboard},
	}
}

// Patterns lists what the API answers, as "GET /api/v1/customers/{id}", for
// tests that have to meet all of it.
func (s *Server) Patterns() []string {
	var list []string
	for _, op := range s.routes() {
		list = append(list, op.method+" "+Prefix+op.path)
	}
	return list
}

// extensions are the operations beyond the seed, which the document tags
// Extensions.
func (s *Server) extensions() []route {
	const (
		anyone   = account.LevelUser
		basic    = account.Function("")
		payments = account.FunctionPayments
	)
	return []route{
		{post, "/invoices", anyone, basic, "", reading(s.createInvoice)},
		{put, "/invoices/{id}", anyone, basic, "invoice", reading(s.editInvoice)},
		{get, "/payments", anyone, basic, "", s.listPayments},
		{get, "/payments/{id}", anyone, basic, "payment", s.readPayment},
		{post, "/payments/{id}/refund", anyone, basic, "payment", reading(s.refundPayment)},
		{post, "/payments/{id}/undo", anyone, basic, "payment", bodiless(s.undoPayment)},
		{post, "/payments/{id}/apply", anyone, basic, "payment", reading(s.applyPayment)},
		{post, "/payments/{id}/dismiss", anyone, basic, "payment", reading(s.dismissPayment)},
		{post, "/customer-plans", anyone, basic, "", created(s.Catalog.CreatePlan, catalog.ReadNewPlan, (*call).newPlan)},
		{put, "/customer-plans/{id}", anyone, basic, "customer plan", reading(s.updatePlan)},
		{post, "/products", anyone, basic, "", created(s.Catalog.CreateProduct, catalog.ReadNewProduct, (*call).newProduct)},
		{put, "/products/{id}", anyone, basic, "product", reading(s.updateProduct)},
		{put, externalPath, anyone, basic, "", s.upsertCustomer},
		{get, eventsPath, anyone, account.FunctionWebhooks, "", s.readEvents},
		{get, "/customers/{id}/autopay", anyone, payments, "customer", found(s.Payments.Autopay, (*call).autopay)},
		{post, "/customers/{id}/autopay", anyone, payments, "customer", changed(
			s.Payments.AskAutopay, payment.ReadAutopayRequest, (*call).autopay)},
		{del, "/customers/{id}/autopay", anyone, payments, "customer", found(s.Payments.EndAutopay, (*call).autopay)},
		{post, "/customers/{id}/autopay/simulate", anyone, payments, "customer", reading(s.simulateAutopay)},
		{post, "/webhooks/{id}/secret/rotate", anyone, account.FunctionWebhooks, "webhook", bodiless(
			found(s.Webhooks.RotateSecret, (*call).rotated))},
		{get, "/sandbox/clock", anyone, basic, "", s.readClock},
		{post, "/sandbox/clock", anyone, basic, "", s.moveClock},
	}
}

// withQuery are the operations that take parameters of a query. Others refuse any.
var withQuery = map[string]bool{
	"GET /customers":                      true,
	"GET /customers/{id}/invoices":        true,
	"POST /customers/{id}/renew-due-date": true,
	"GET /invoices":                       true,
	"GET /payments":                       true,
	"GET /customer-plans":                 true,
	"GET /products":                       true,
	"GET /resellers":                      true,
	"GET /plans":                          true,
	"GET /webhooks":                       true,
	"GET /webhooks/events":                true,
	"GET /webhooks/{id}/deliveries":       true,
	"GET /dashboard":                      true,
	"GET /events":                         true,
}

func (op route) takesQuery() bool { return withQuery[op.method+" "+op.path] }

// eventsPath is the feed. Its GET may wait for the next event.
const eventsPath = "/events"

// bodies are the buffers of answers that have been sent, by pointer. A page of a
// list is so large that the memory for each would be cleared, and collected, by
// itself.
var bodies sync.Pool

// maxKeptBody is the largest buffer that is kept for another answer.
const maxKeptBody = 256 << 10

// newBody is an empty buffer with room for about so many bytes.
func newBody(size int) []byte {
	if kept, ok := bodies.Get().(*[]byte); ok && cap(*kept) >= size {
		return (*kept)[:0]
	}
	return make([]byte, 0, size)
}

// keepBody returns a response buffer to the pool.
func keepBody(body []byte) {
	if cap(body) > 0 && cap(body) <= maxKeptBody {
		bodies.Put(&body)
	}
}

// links is the header that leads from a page of a list to its neighbours, with
// all that was asked for besides the page.
func (c *call) links(paging input.Page, total int64) http.Header {
	last := paging.Last(total)
	var parts []string
	add := func(relation string, number int64) {
		parts = append(parts, "<"+c.pageAddress(number)+`>; rel="`+relation+`"`)
	}
	if paging.Number < last {
		add("next", paging.Number+1)
	}
	if paging.Number > 1 {
		add("prev", min(paging.Number-1, last))
	}
	add("first", 1)
	add("last", last)
	return http.Header{"Link": {strings.Join(parts, ", ")}}
}

// pageAddress is the address of another page of the list. The first needs no
// number.
func (c *call) pageAddress(number int64) string {
	query := c.http.URL.Query()
	query.Del("page")
	if number > 1 {
		query.Set("page", strconv.FormatInt(number, 10))
	}
	address := c.base + c.http.URL.EscapedPath()
	if encoded := query.Encode(); encoded != "" {
		address += "?" + encoded
	}
	return address
}

// reading is an operation that takes the fields of a body.
func reading(do func(ctx context.Context, call *call, form *input.Form) (web.Answer, error)) handler {
	return func(ctx context.Context, call *call) (web.Answer, error) {
		form, err := call.form()
		if err != nil {
			return web.Answer{}, err
		}
		return do(ctx, call, form)
	}
}

// found answers with the record that the path names.
func found[T any](find func(context.Context, account.Actor, int64) (T, error), show func(*call, T) web.Answer) handler {
	return func(ctx context.Context, call *call) (web.Answer, error) {
		record, err := find(ctx, call.actor, call.id)
		return show(call, record), err
	}
}

// changed answers with the record of the path, as the body changes it.
func changed[D, T any](
	change func(context.Context, account.Actor, int64, D) (T, error), read func(*input.Form) D, show func(*call, T) web.Answer,
) handler {
	return reading(func(ctx context.Context, call *call, form *input.Form) (web.Answer, error) {
		record, err := change(ctx, call.actor, call.id, read(form))
		return show(call, record), err
	})
}

// created answers with a new record, made of the body.
func created[D, T any](
	create func(context.Context, account.Actor, D) (T, error), read func(*input.Form) D, show func(*call, T) web.Answer,
) handler {
	return reading(func(ctx context.Context, call *call, form *input.Form) (web.Answer, error) {
		record, err := create(ctx, call.actor, read(form))
		return show(call, record), err
	})
}

// deleted deletes the record of the path.
func deleted(remove func(context.Context, account.Actor, int64) error, message string) handler {
	return func(ctx context.Context, call *call) (web.Answer, error) {
		return web.Answer{Message: message, Data: web.JSON(struct {
			ID      int64 `json:"id"`
			Deleted bool  `json:"deleted"`
		}{call.id, true})}, remove(ctx, call.actor, call.id)
	}
}

// bodiless is an operation that refuses the fields of a body.
func bodiless(do handler) handler {
	return reading(func(ctx context.Context, call *call, form *input.Form) (web.Answer, error) {
		if err := form.Err(); err != nil {
			return web.Answer{}, err
		}
		return do(ctx, call)
	})
}

// rows is a page of a list that a call asks for.
type rows[T any] struct {
	call   *call
	paging input.Page
	list   []T
	total  int64
}

func (r rows[T]) answer(write func(*web.Object, *T)) web.Answer {
	return page(r.call, r.paging, r.total, web.List(r.list, write))
}

// listed reads the rows that a filter and a page choose, both of the query.
func listed[F, T any](
	ctx context.Context, call *call, read func(*input.Form) F,
	find func(context.Context, account.Actor, F, input.Page) ([]T, int64, error),
) (found rows[T], err error) {
	query := call.query()
	found.call, found.paging = call, query.Page()
	filter := read(query)
	if err := query.Err(); err != nil {
		return found, err
	}
	found.list, found.total, err = find(ctx, call.actor, filter, found.paging)
	return found, err
}

// page is the answer to a list.
func page(call *call, paging input.Page, total int64, data web.Data) web.Answer {
	return web.Answer{Data: data, Header: call.links(paging, total), Meta: &web.Meta{
		Total: total, PerPage: paging.Size, CurrentPage: paging.Number, LastPage: paging.Last(total),
		CompanyID: call.actor.Company.ID,
	}}
}

// pack compresses what a GET answers for a caller that takes gzip. Its ETag becomes
// a weak one: the bytes are others than those of the plain answer.
func pack(header http.Header, r *http.Request, body []byte) ([]byte, bool) {
	if !reads(r) {
		return nil, false
	}
	header.Add("Vary", "Accept-Encoding")
	packed, ok := web.Pack(r, body)
	if !ok {
		return nil, false
	}
	header.Set("Content-Encoding", "gzip")
	if tag := header.Get("ETag"); tag != "" {
		header.Set("ETag", "W/"+tag)
	}
	return packed, true
}
