package mercadopago_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"regexp"
	"strings"
	"time"

	"carteira/internal/payment"
	"carteira/internal/platform/money"
	"carteira/test/kit/gatewaytest"
)

// orderDouble is Mercado Pago with its orders. Each has a payment that the payments
// API knows by another id and under the order's reference.
type orderDouble struct {
	*double
	orders map[string]map[string]any // by id
	sent   map[string]map[string]any // bodies by idempotency key
	paidBy map[string]map[string]any // payments of the payments API, by the order's id

	// wrong and fill are what is refused of a request, and what the order has besides
	// the fields that all have: those of a code, unless it is for a page.
	wrong func(body map[string]any) string
	fill  func(order, body map[string]any)

	oneUse   bool // a key that was used is turned down also when the request is the same
	lagging  bool // a search does not find what was made
	careless bool // a search does not look at the reference
	leaving  bool // what was begun by an order outlives it
}

func newOrderDouble() *orderDouble {
	d := &orderDouble{
		double: newDouble(),
		orders: map[string]map[string]any{},
		sent:   map[string]map[string]any{},
		paidBy: map[string]map[string]any{},
		wrong:  wrongCode,
	}
	d.fill = d.fillCode
	d.listOrders = d.foundOrders
	d.mux.HandleFunc("POST /v1/orders", d.createOrder)
	d.mux.HandleFunc("GET /v1/orders/{id}", d.readOrder)
	d.mux.HandleFunc("POST /v1/orders/{id}/cancel", d.cancelOrder)
	return d
}

// refuseOrder is a refusal in the words of the orders API.
func refuseOrder(w http.ResponseWriter, status int, code string) {
	said := map[string]any{"code": code, "message": "order: " + code, "details": []string{"about " + code}}
	reply(w, status, map[string]any{"errors": []any{said}})
}

var (
	orderReference = regexp.MustCompile(`^[-_0-9A-Za-z]{1,64}$`)
	orderAmount    = regexp.MustCompile(`^\d+\.\d\d$`)
)

// wrongCode is what Mercado Pago's pages refuse and its document does not.
func wrongCode(body map[string]any) string {
	transactions, _ := body["transactions"].(map[string]any)
	list, _ := transactions["payments"].([]any)
	if len(list) != 1 {
		return "maximum_items"
	}
	asked, _ := list[0].(map[string]any)
	method, _ := asked["payment_method"].(map[string]any)
	payer, _ := body["payer"].(map[string]any)
	minutes := 0
	_, err := fmt.Sscanf(fmt.Sprint(asked["expiration_time"]), "PT%dM", &minutes)
	switch {
	case !orderAmount.MatchString(fmt.Sprint(body["total_amount"])), body["total_amount"] != asked["amount"]:
		return "invalid_total_amount"
	case method["id"] != "pix" || method["type"] != "bank_transfer" || body["processing_mode"] != "automatic":
		return "property_value"
	case !orderReference.MatchString(fmt.Sprint(body["external_reference"])):
		return "invalid_external_reference"
	case err != nil || minutes < 30 || minutes > 30*24*60:
		return "invalid_expiration_time"
	case payer["email"] == ownEmail:
		return "invalid_users_involved"
	}
	return ""
}

func (d *orderDouble) createOrder(w http.ResponseWriter, r *http.Request) {
	body, key := d.body(r), r.Header.Get("X-Idempotency-Key")
	if wrong := d.wrong(body); wrong != "" {
		refuse(w, 400, wrong)
		return
	}
	if first, used := d.sent[key]; used {
		if d.oneUse || !reflect.DeepEqual(first, body) {
			refuseOrder(w, 409, "idempotency_key_already_used")
			return
		}
		reply(w, 201, d.orders[d.keys[key]])
		return
	}
	order := d.newOrder(body)
	d.sent[key], d.keys[key] = body, fmt.Sprint(order["id"])
	encoded, _ := json.Marshal(body)
	d.requests = append(d.requests, string(encoded))
	reply(w, 201, order)
}

func (d *orderDouble) newOrder(body map[string]any) map[string]any {
	d.next++
	id := fmt.Sprintf("ORD01JQ4S4KY8HWQ%d", d.next)
	order := map[string]any{
		"id": id, "type": "online", "processing_mode": body["processing_mode"], "capture_mode": "automatic",
		"status": "created", "status_detail": "created", "external_reference": body["external_reference"],
		"total_amount": body["total_amount"], "currency": "BRL", "country_code": "BRA", "user_id": 1,
		"created_date":      gatewaytest.Now.Format(time.RFC3339),
		"last_updated_date": gatewaytest.Now.Format(time.RFC3339),
	}
	d.fill(order, body)
	d.orders[id] = order
	return order
}

// fillCode begins the payment that the order is asked for by.
func (d *orderDouble) fillCode(order, body map[string]any) {
	asked := body["transactions"].(map[string]any)["payments"].([]any)[0].(map[string]any)
	d.begin(order, fmt.Sprint(asked["expiration_time"]))
	order["status"], order["status_detail"] = "action_required", "waiting_transfer"
}

// begin adds a payment by PIX to an order, and to those of the payments API.
func (d *orderDouble) begin(order map[string]any, lives string) map[string]any {
	total, id := fmt.Sprint(order["total_amount"]), fmt.Sprint(order["id"])
	d.paidBy[id] = d.newPayment(fmt.Sprint(order["external_reference"]), json.Number(total))
	duration, _ := time.ParseDuration(strings.ToLower(strings.TrimPrefix(lives, "PT")))
	begun := map[string]any{
		"id": fmt.Sprintf("PAY01JQ4S4KY8HWQ%d", d.next), "reference_id": "0002yjis6j", "amount": total,
		"status": "action_required", "status_detail": "waiting_transfer",
		"expiration_time": lives, "date_of_expiration": gatewaytest.Now.Add(duration).Format(time.RFC3339Nano),
		"payment_method": map[string]any{
			"id": "pix", "type": "bank_transfer", "qr_code": "00020126580014br.gov.bcb.pix" + id,
			"qr_code_base64": "iVBORw0KGgo=", "ticket_url": "https://www.mercadopago.com.br/payments/1/ticket",
		},
	}
	transactions, _ := order["transactions"].(map[string]any)
	list, _ := transactions["payments"].([]any)
	order["transactions"] = map[string]any{"payments": append(list, begun)}
	return begun
}

// foundOrders lists less than reading one does.
func (d *orderDouble) foundOrders(query url.Values) []map[string]any {
	begin, _ := time.Parse(time.RFC3339, query.Get("begin_date"))
	end, _ := time.Parse(time.RFC3339, query.Get("end_date"))
	list := []map[string]any{}
	for id, order := range d.orders {
		fits := d.careless || order["external_reference"] == query.Get("external_reference")
		if !fits || d.lagging || gatewaytest.Now.Before(begin) || gatewaytest.Now.After(end) {
			continue
		}
		list = append(list, map[string]any{
			"id": id, "status": order["status"], "external_reference": order["external_reference"],
			"transactions": map[string]any{"payments": []any{}},
		})
	}
	return list
}

func (d *orderDouble) readOrder(w http.ResponseWriter, r *http.Request) {
	order, ok := d.orders[r.PathValue("id")]
	if !ok {
		refuse(w, 404, "order_not_found")
		return
	}
	reply(w, 200, order)
}

func (d *orderDouble) cancelOrder(w http.ResponseWriter, r *http.Request) {
	order, ok := d.orders[r.PathValue("id")]
	switch {
	case !ok:
		refuse(w, 404, "order_not_found")
	case order["status"] != "action_required" && order["status"] != "created":
		refuseOrder(w, 409, "cannot_cancel_order")
	default:
		enter(order, "canceled", "canceled")
		if begun := d.paidBy[r.PathValue("id")]; begun != nil && !d.leaving {
			begun["status"] = "cancelled"
		}
		reply(w, 200, order)
	}
}

// enter moves an order and its payments to a status, a little after it happened.
func enter(order map[string]any, status, detail string) {
	parts := []map[string]any{order}
	for _, paid := range paymentsIn(order) {
		parts = append(parts, paid)
		delete(paid["payment_method"].(map[string]any), "qr_code")
	}
	for _, part := range parts {
		part["status"], part["status_detail"] = status, detail
	}
	order["last_updated_date"] = changedAt.Format(time.RFC3339)
}

// changedAt is when an order says that it changed.
var changedAt = gatewaytest.Now.Add(4 * time.Second)

func paymentsIn(order map[string]any) []map[string]any {
	transactions, _ := order["transactions"].(map[string]any)
	list, _ := transactions["payments"].([]any)
	payments := make([]map[string]any, len(list))
	for i, paid := range list {
		payments[i] = paid.(map[string]any)
	}
	return payments
}

func paymentIn(order map[string]any) map[string]any { return paymentsIn(order)[0] }

// What the suite moves.

func (d *orderDouble) order(reference string) map[string]any {
	for _, order := range d.orders {
		if order["external_reference"] == reference {
			return order
		}
	}
	panic("no order " + reference)
}

// begun is an order with a payment: on a page the payer chooses one before paying it.
func (d *orderDouble) begun(reference string) map[string]any {
	d.mu.Lock()
	defer d.mu.Unlock()
	order := d.order(reference)
	if len(paymentsIn(order)) == 0 {
		d.begin(order, "PT30M")
	}
	return order
}

func (d *orderDouble) Asked(reference string) money.Cents {
	d.mu.Lock()
	defer d.mu.Unlock()
	cents, err := money.Parse(fmt.Sprint(d.order(reference)["total_amount"]))
	if err != nil {
		panic(err)
	}
	return cents
}

func (d *orderDouble) Pay(reference string, amount money.Cents) {
	order := d.begun(reference)
	d.double.Pay(reference, amount)
	d.mu.Lock()
	defer d.mu.Unlock()
	enter(order, "processed", "accredited")
	order["total_paid_amount"], paymentIn(order)["paid_amount"] = amount.String(), amount.String()
}

func (d *orderDouble) Refund(reference string, amount money.Cents) {
	d.double.Refund(reference, amount)
	d.mu.Lock()
	defer d.mu.Unlock()
	order := d.order(reference)
	transactions := order["transactions"].(map[string]any)
	refunds, _ := transactions["refunds"].([]any)
	transactions["refunds"] = append(refunds, map[string]any{
		"id": fmt.Sprintf("REF01JQ4S4KY8HWQ%d", len(refunds)), "transaction_id": paymentIn(order)["id"],
		"amount": amount.String(), "status": "processed",
	})
	enter(order, "processed", "partially_refunded")
	if d.paidBy[fmt.Sprint(order["id"])]["status"] == "refunded" {
		enter(order, "refunded", "refunded")
	}
}

func (d *orderDouble) Callback(reference string) payment.Callback {
	d.mu.Lock()
	defer d.mu.Unlock()
	return signedOrder(fmt.Sprint(d.order(reference)["id"]), secret)
}

func (d *orderDouble) Forgeries(reference string) map[string]payment.Callback {
	id := d.Callback(reference).Query["data.id"][0]
	return forgeries(func(secret string) payment.Callback { return signedOrder(id, secret) })
}

// signedOrder is a callback about an order. It has no id of its own.
func signedOrder(id, secret string) payment.Callback {
	const body = `{"action":"order.processed","api_version":"v1","application_id":"76506430185983","live_mode":true,` +
		`"date_created":"2026-11-15T12:00:00Z","type":"order","user_id":"1","data":{"id":"%s","status":"processed"}}`
	return signedAs("order", id, secret, fmt.Sprintf(body, id))
}
