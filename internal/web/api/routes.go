package api

import (
	"net/http"

	"carteira/internal/account"
)

// route is one operation of the API.
type route struct {
	method  string
	path    string
	level   account.Level // the lowest that may call it
	record  string        // what {id} names, for the answer when there is none
	handler handler       // nil: not built yet, and not served
}

// routes is the whole API: the 39 operations of the contract, in its order.
func (s *Server) routes() []route {
	const (
		get, post, put, del = http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete

		anyone   = account.LevelUser
		reseller = account.LevelReseller
	)
	return []route{
		{get, "/account", anyone, "", s.account},

		{get, "/customers", anyone, "", s.listCustomers},
		{post, "/customers", anyone, "", s.createCustomer},
		{get, "/customers/{id}", anyone, "customer", s.readCustomer},
		{put, "/customers/{id}", anyone, "customer", s.updateCustomer},
		{del, "/customers/{id}", anyone, "customer", s.deleteCustomer},
		{get, "/customers/{id}/invoices", anyone, "customer", s.listInvoicesOfCustomer},
		{post, "/customers/{id}/renew-due-date", anyone, "customer", s.renewCustomer},

		{get, "/invoices", anyone, "", s.listInvoices},
		{get, "/invoices/{id}", anyone, "invoice", s.readInvoice},
		{get, "/invoices/{id}/payment-link", anyone, "invoice", s.readPaymentLink},
		{post, "/invoices/{id}/pix", anyone, "invoice", s.createPix},
		{post, "/invoices/{id}/status", anyone, "invoice", s.setInvoiceStatus},

		{get, "/customer-plans", anyone, "", s.listPlans},
		{get, "/customer-plans/{id}", anyone, "customer plan", s.readPlan},
		{get, "/products", anyone, "", s.listProducts},
		{get, "/products/{id}", anyone, "product", s.readProduct},

		{get, "/resellers", reseller, "", nil},
		{post, "/resellers", reseller, "", nil},
		{get, "/resellers/{id}", reseller, "reseller", nil},
		{put, "/resellers/{id}", reseller, "reseller", nil},
		{put, "/resellers/{id}/level", reseller, "reseller", nil},
		{post, "/resellers/{id}/renew", reseller, "reseller", nil},

		{get, "/plans", reseller, "", nil},
		{post, "/plans", reseller, "", nil},
		{get, "/plans/{id}", reseller, "plan", nil},
		{put, "/plans/{id}", reseller, "plan", nil},

		{get, "/webhooks/events", anyone, "", s.listEvents},
		{get, "/webhooks", anyone, "", s.listWebhooks},
		{post, "/webhooks", anyone, "", s.createWebhook},
		{get, "/webhooks/{id}", anyone, "webhook", s.readWebhook},
		{put, "/webhooks/{id}", anyone, "webhook", s.updateWebhook},
		{del, "/webhooks/{id}", anyone, "webhook", s.deleteWebhook},
		{post, "/webhooks/{id}/test", anyone, "webhook", s.testWebhook},
		{get, "/webhooks/{id}/deliveries", anyone, "webhook", s.listDeliveries},
		{post, "/webhooks/deliveries/{id}/resend", anyone, "delivery", s.resendDelivery},
		{get, "/webhooks/callback-secret", anyone, "", s.readCallbackSecret},
		{post, "/webhooks/callback-secret/rotate", anyone, "", s.rotateCallbackSecret},

		{get, "/dashboard", anyone, "", s.readDashboard},
	}
}
