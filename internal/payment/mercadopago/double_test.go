package mercadopago_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"carteira/internal/payment"
	"carteira/internal/platform/money"
	"carteira/test/kit/apidoctest"
	"carteira/test/kit/gatewaytest"
)

const (
	token  = "APP_USR-1234567890-token"
	secret = "test_secret"

	ownEmail = "dona@example.com" // of the account
)

// double is Mercado Pago in memory.
type double struct {
	mu         sync.Mutex
	mux        *http.ServeMux
	next       int
	payments   map[string]map[string]any // by id
	keys       map[string]string         // ids by idempotency key
	requests   []string                  // what was sent to make charges
	listOrders func(query url.Values) []map[string]any
	noOrders   bool // the application may not use orders
}

func newDouble() *double {
	d := &double{mux: http.NewServeMux(), next: 71_000_000_000, payments: map[string]map[string]any{}, keys: map[string]string{}}
	d.mux.HandleFunc("GET /v1/payment_methods", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, 200, []map[string]string{{"id": "pix", "payment_type_id": "bank_transfer"}})
	})
	d.mux.HandleFunc("GET /users/me", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, 200, map[string]any{"id": 1, "email": ownEmail})
	})
	d.mux.HandleFunc("GET /v1/orders", d.searchOrders)
	d.mux.HandleFunc("POST /v1/payments", d.create)
	d.mux.HandleFunc("GET /v1/payments/search", d.search)
	d.mux.HandleFunc("GET /v1/payments/{id}", d.read)
	d.mux.HandleFunc("PUT /v1/payments/{id}", d.cancel)
	return d
}

// inOwnWords are refusals of orders with an answer that the document leaves
// open.
var inOwnWords = []int{http.StatusPaymentRequired, http.StatusConflict, http.StatusLocked}

// guard holds the double and its callers to Mercado Pago's document.
func guard(t *testing.T, d *double) http.Handler {
	t.Helper()
	return &apidoctest.Guard{
		Document: apidoctest.MercadoPago(), Double: d,
		Besides: []string{"GET /users/me"},
		Free:    inOwnWords,
		Broken:  func(err error) { t.Error(err) },
	}
}

func (d *double) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if r.Header.Get("Authorization") != "Bearer "+token {
		reply(w, 401, map[string]any{"message": "invalid access token", "error": "unauthorized", "status": 401})
		return
	}
	d.mux.ServeHTTP(w, r)
}

func makes(r *http.Request) bool {
	return r.Method == http.MethodPost && (r.URL.Path == "/v1/payments" || r.URL.Path == "/v1/orders")
}

func reply(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

func refuse(w http.ResponseWriter, status int, message string) {
	reply(w, status, map[string]any{"message": message, "error": "bad_request", "status": status, "cause": []any{map[string]any{"code": 1, "description": message}}})
}

// body reads a request without touching its numbers.
func (d *double) body(r *http.Request) map[string]any {
	decoder := json.NewDecoder(r.Body)
	decoder.UseNumber()
	var body map[string]any
	if decoder.Decode(&body) != nil {
		return nil
	}
	return body
}

func (d *double) create(w http.ResponseWriter, r *http.Request) {
	body := d.body(r)
	key := r.Header.Get("X-Idempotency-Key")
	expires, err := time.Parse("2006-01-02T15:04:05.000-07:00", fmt.Sprint(body["date_of_expiration"]))
	payer, _ := body["payer"].(map[string]any)
	switch {
	case len(key) != 36, body["payment_method_id"] != "pix", payer["email"] == nil, err != nil:
		refuse(w, 400, "bad request")
		return
	case expires.Before(gatewaytest.Now.Add(30*time.Minute)) || expires.After(gatewaytest.Now.Add(30*24*time.Hour)):
		refuse(w, 400, "date_of_expiration out of range")
		return
	case d.keys[key] != "":
		reply(w, 200, d.payments[d.keys[key]])
		return
	}
	p := d.newPayment(fmt.Sprint(body["external_reference"]), body["transaction_amount"].(json.Number))
	p["date_of_expiration"] = body["date_of_expiration"]
	d.keys[key] = fmt.Sprint(p["id"])
	encoded, _ := json.Marshal(body)
	d.requests = append(d.requests, string(encoded))
	reply(w, 201, p)
}

// newPayment writes amounts as JavaScript does, without zeros at the end.
func (d *double) newPayment(reference string, amount json.Number) map[string]any {
	d.next++
	p := map[string]any{
		"id": d.next, "status": "pending", "status_detail": "pending_waiting_transfer",
		"transaction_amount": shortest(amount), "transaction_amount_refunded": 0, "currency_id": "BRL",
		"external_reference": reference, "date_approved": nil,
		"point_of_interaction": map[string]any{"transaction_data": map[string]any{
			"qr_code": "00020126580014br.gov.bcb.pix" + strconv.Itoa(d.next), "qr_code_base64": "iVBORw0KGgo=", "ticket_url": "https://www.mercadopago.com.br/payments/1/ticket",
		}},
	}
	d.payments[strconv.Itoa(d.next)] = p
	return p
}

func shortest(number json.Number) json.Number {
	return json.Number(strings.TrimSuffix(strings.TrimRight(number.String(), "0"), "."))
}

func (d *double) search(w http.ResponseWriter, r *http.Request) {
	values := r.URL.Query()
	if values.Get("sort") == "" || values.Get("criteria") == "" {
		refuse(w, 400, "sort and criteria are required")
		return
	}
	reply(w, 200, map[string]any{"results": d.find(values.Get("external_reference")), "paging": map[string]int{"total": 1}})
}

func (d *double) find(reference string) []map[string]any {
	list := []map[string]any{}
	for _, p := range d.payments {
		if p["external_reference"] == reference {
			list = append(list, p)
		}
	}
	return list
}

func (d *double) read(w http.ResponseWriter, r *http.Request) {
	p, ok := d.payments[r.PathValue("id")]
	if !ok {
		refuse(w, 404, "Payment not found")
		return
	}
	reply(w, 200, p)
}

func (d *double) cancel(w http.ResponseWriter, r *http.Request) {
	p, ok := d.payments[r.PathValue("id")]
	switch {
	case !ok:
		refuse(w, 404, "Payment not found")
	case p["status"] != "pending" || d.body(r)["status"] != "cancelled":
		refuse(w, 400, "The action requested is not valid for the current payment state")
	default:
		p["status"], p["status_detail"] = "cancelled", "by_collector"
		reply(w, 200, p)
	}
}

// searchOrders lists none where no orders are made.
func (d *double) searchOrders(w http.ResponseWriter, r *http.Request) {
	begin, _ := time.Parse(time.RFC3339, r.URL.Query().Get("begin_date"))
	end, _ := time.Parse(time.RFC3339, r.URL.Query().Get("end_date"))
	if d.noOrders || end.After(begin.AddDate(0, 1, 0)) {
		refuse(w, 400, "invalid_parameter")
		return
	}
	list := []map[string]any{}
	if d.listOrders != nil {
		list = d.listOrders(r.URL.Query())
	}
	reply(w, 200, map[string]any{"data": list, "paging": map[string]int{"total": len(list), "limit": 30, "offset": 0}})
}

// What the suite moves.

func (d *double) Charges() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.requests)
}

func (d *double) Asked(reference string) money.Cents {
	d.mu.Lock()
	defer d.mu.Unlock()
	number := json.Number("0")
	for _, p := range d.find(reference) {
		number = p["transaction_amount"].(json.Number)
	}
	cents, err := money.Parse(number.String())
	if err != nil {
		panic(err)
	}
	return cents
}

func (d *double) Pay(reference string, amount money.Cents) {
	d.mu.Lock()
	defer d.mu.Unlock()
	p := d.find(reference)[0]
	p["status"], p["status_detail"] = "approved", "accredited"
	p["transaction_amount"] = shortest(json.Number(amount.String()))
	p["date_approved"] = gatewaytest.Now.Format("2006-01-02T15:04:05.000-07:00")
}

// Refund gives a part back; the payment stays approved until all of it is gone.
func (d *double) Refund(reference string, amount money.Cents) {
	d.mu.Lock()
	defer d.mu.Unlock()
	p := d.find(reference)[0]
	back, _ := p["back"].(money.Cents)
	back += amount
	p["back"], p["transaction_amount_refunded"] = back, shortest(json.Number(back.String()))
	p["refunds"] = []any{map[string]any{"date_created": "2026-11-15T09:00:00.000-03:00"}}
	if p["transaction_amount_refunded"] == p["transaction_amount"] {
		p["status"] = "refunded"
	}
}

func (d *double) Callback(reference string) payment.Callback {
	d.mu.Lock()
	defer d.mu.Unlock()
	id := fmt.Sprint(d.find(reference)[0]["id"])
	return signed(id, secret)
}

func signed(id, secret string) payment.Callback {
	const body = `{"id":12345,"live_mode":true,"type":"payment","action":"payment.updated","data":{"id":"%s"}}`
	return signedAs("payment", id, secret, fmt.Sprintf(body, id))
}

// signedAs signs the id in small letters, as Mercado Pago does.
func signedAs(topic, id, secret, body string) payment.Callback {
	return signedAt(gatewaytest.Now, topic, id, secret, body)
}

func signedAt(at time.Time, topic, id, secret, body string) payment.Callback {
	const requestID = "bb56a2f1-6aae-46ac-982e-9dcd3581d08e"
	ts := strconv.FormatInt(at.UnixMilli(), 10)
	mac := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(mac, "id:%s;request-id:%s;ts:%s;", strings.ToLower(id), requestID, ts)
	return payment.Callback{
		Header: http.Header{
			"X-Signature":  {"ts=" + ts + ",v1=" + hex.EncodeToString(mac.Sum(nil))},
			"X-Request-Id": {requestID},
		},
		Query: url.Values{"data.id": {id}, "type": {topic}},
		Body:  []byte(body),
	}
}

func (d *double) Forgeries(reference string) map[string]payment.Callback {
	id := d.Callback(reference).Query["data.id"][0]
	return forgeries(func(secret string) payment.Callback { return signed(id, secret) })
}

// forgeries are callbacks that prove nothing, made of what sign makes.
func forgeries(sign func(secret string) payment.Callback) map[string]payment.Callback {
	with := func(change func(*payment.Callback)) payment.Callback {
		callback := sign(secret)
		change(&callback)
		return callback
	}
	signature := func(change func(string) string) payment.Callback {
		return with(func(callback *payment.Callback) {
			callback.Header.Set("X-Signature", change(callback.Header.Get("X-Signature")))
		})
	}
	return map[string]payment.Callback{
		"another secret":      sign("guessed"),
		"an empty secret":     sign(""),
		"about another":       with(func(callback *payment.Callback) { callback.Query["data.id"] = []string{"1"} }),
		"about nothing":       with(func(callback *payment.Callback) { delete(callback.Query, "data.id") }),
		"another request":     with(func(callback *payment.Callback) { callback.Header.Set("X-Request-Id", "other") }),
		"another time":        signature(func(was string) string { return strings.Replace(was, "ts=1", "ts=2", 1) }),
		"no signature":        with(func(callback *payment.Callback) { callback.Header.Del("X-Signature") }),
		"half a signature":    signature(func(string) string { return "ts=1742505638683" }),
		"an empty signature":  signature(func(string) string { return "ts=,v1=" }),
		"a cut-off signature": signature(func(was string) string { return was[:40] }),
	}
}
