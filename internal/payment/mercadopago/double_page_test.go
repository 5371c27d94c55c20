package mercadopago_test

import (
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"testing"
)

// newPageDouble is Mercado Pago with pages that are orders, as its pages ("Create and
// configure a payment order", "Define order validity", "Change expiration date",
// "Exclude payment methods", "Configure return URLs") and SDKs have them. Its OpenAPI
// document has none.
func newPageDouble() *orderDouble {
	d := newOrderDouble()
	d.wrong, d.fill = wrongPage, fillPage
	return d
}

// pageGuard holds everything to the document but the making of a page.
func pageGuard(t *testing.T, d *orderDouble) http.Handler {
	t.Helper()
	guarded := guard(t, d.double)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if makes(r) {
			d.ServeHTTP(w, r)
			return
		}
		guarded.ServeHTTP(w, r)
	})
}

// pageFields are the fields that a request may have, of those that the pages and the
// SDKs agree on. Orders refuse others (unsupported_properties).
var pageFields = map[string][]string{
	"": {
		"type", "processing_mode", "total_amount", "external_reference", "description", "expiration_time",
		"payer", "items", "config",
	},
	"payer":          {"email", "first_name", "last_name", "identification"},
	"item":           {"title", "quantity", "unit_price"},
	"config":         {"default_payment_due_date", "online", "payment_method"},
	"online":         {"success_url", "pending_url", "failure_url", "auto_return"},
	"payment_method": {"not_allowed_types"},
}

var (
	pageLife  = regexp.MustCompile(`^PT\d+M$`)
	pageTypes = []string{
		"account_money", "atm", "credit_card", "crypto", "debit_card", "digital_currency", "prepaid_card", "ticket", "voucher_card",
	}
)

func wrongPage(body map[string]any) string {
	part := func(of map[string]any, name string) map[string]any { p, _ := of[name].(map[string]any); return p }
	config, payer := part(body, "config"), part(body, "payer")
	online, methods := part(config, "online"), part(config, "payment_method")
	items, _ := body["items"].([]any)
	if len(items) != 1 {
		return "minimum_items"
	}
	item, _ := items[0].(map[string]any)
	for name, of := range map[string]map[string]any{
		"": body, "payer": payer, "item": item, "config": config, "online": online, "payment_method": methods,
	} {
		for field := range maps.Keys(of) {
			if !slices.Contains(pageFields[name], field) {
				return "unsupported_properties: " + field
			}
		}
	}
	excluded, _ := methods["not_allowed_types"].([]any)
	unknown := func(name any) bool { return !slices.Contains(pageTypes, fmt.Sprint(name)) }
	switch {
	case body["type"] != "online" || body["processing_mode"] != "manual":
		return "property_value"
	case !orderAmount.MatchString(fmt.Sprint(body["total_amount"])), body["total_amount"] != item["unit_price"], fmt.Sprint(item["quantity"]) != "1":
		return "invalid_total_amount"
	case !orderReference.MatchString(fmt.Sprint(body["external_reference"])):
		return "invalid_external_reference"
	case item["title"] == "" || payer["email"] == nil:
		return "required_properties"
	case !pageLife.MatchString(fmt.Sprint(body["expiration_time"])), config["default_payment_due_date"] != body["expiration_time"]:
		return "invalid_expiration_time"
	case online["auto_return"] != nil && online["success_url"] == nil, slices.ContainsFunc(excluded, unknown):
		return "property_value"
	}
	return ""
}

func fillPage(order, body map[string]any) {
	order["checkout_url"] = "https://www.mercadopago.com.br/checkout/v1/redirect?order_id=" + fmt.Sprint(order["id"])
	order["client_token"], order["expiration_time"] = "eyJhbGciOiJSUzI1NiJ9", body["expiration_time"]
}
