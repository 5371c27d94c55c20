package asaas_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"carteira/internal/payment"
	"carteira/internal/platform/money"
	"carteira/test/kit/gatewaytest"
)

const key = "$aact_hmlg_000MzkwODA2MWY2OGM3MWRlMDU2NWM3MzJlNzZmNGZhZGY6"

// double is Asaas in memory.
type double struct {
	mu        sync.Mutex
	mux       *http.ServeMux
	next      int
	customers map[string]map[string]any
	charges   map[string]map[string]any
	webhooks  map[string]map[string]any
	noCodes   bool // the account has no PIX key

	strictAddress bool // no postal code is known

	authorisations map[string]map[string]any
	instructions   map[string]map[string]any
}

func newDouble() *double {
	d := &double{mux: http.NewServeMux(), customers: map[string]map[string]any{}, charges: map[string]map[string]any{}, webhooks: map[string]map[string]any{}}
	d.mux.HandleFunc("GET /v3/customers", func(w http.ResponseWriter, r *http.Request) { list(w, r, d.customers) })
	d.mux.HandleFunc("POST /v3/customers", d.createCustomer)
	d.mux.HandleFunc("GET /v3/payments", func(w http.ResponseWriter, r *http.Request) { list(w, r, d.charges) })
	d.mux.HandleFunc("POST /v3/payments", d.create)
	d.mux.HandleFunc("GET /v3/payments/{id}", d.read)
	d.mux.HandleFunc("DELETE /v3/payments/{id}", d.remove)
	d.mux.HandleFunc("GET /v3/payments/{id}/pixQrCode", d.code)
	d.mux.HandleFunc("GET /v3/webhooks", func(w http.ResponseWriter, r *http.Request) { list(w, r, d.webhooks) })
	d.mux.HandleFunc("POST /v3/webhooks", d.register)
	d.mux.HandleFunc("PUT /v3/webhooks/{id}", d.update)
	d.handleAutopay()
	return d
}

func (d *double) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case r.Header.Get("access_token") != key:
		refuse(w, 401, "invalid_access_token", "A chave de API fornecida é inválida")
	case r.Header.Get("User-Agent") == "":
		refuse(w, 400, "invalid_user_agent", "User-Agent obrigatório")
	default:
		d.mux.ServeHTTP(w, r)
	}
}

func makes(r *http.Request) bool { return r.Method == http.MethodPost && r.URL.Path == "/v3/payments" }

func reply(w http.ResponseWriter, body any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(body)
}

func refuse(w http.ResponseWriter, status int, code, description string) {
	w.WriteHeader(status)
	reply(w, map[string]any{"errors": []any{map[string]string{"code": code, "description": description}}})
}

func list(w http.ResponseWriter, r *http.Request, all map[string]map[string]any) {
	reference, code := r.URL.Query().Get("externalReference"), r.URL.Query().Get("pixQrCodeId")
	data := []map[string]any{}
	for _, one := range all {
		if (reference == "" || one["externalReference"] == reference) && (code == "" || one["pixQrCodeId"] == code) {
			data = append(data, one)
		}
	}
	reply(w, map[string]any{"object": "list", "hasMore": false, "totalCount": len(data), "limit": 10, "offset": 0, "data": data})
}

func body(r *http.Request) map[string]any {
	decoder := json.NewDecoder(r.Body)
	decoder.UseNumber()
	var b map[string]any
	if decoder.Decode(&b) != nil {
		return nil
	}
	return b
}

func (d *double) id(prefix string) string {
	d.next++
	return prefix + strconv.Itoa(d.next)
}

func (d *double) createCustomer(w http.ResponseWriter, r *http.Request) {
	b := body(r)
	if b["name"] == "" || len(fmt.Sprint(b["cpfCnpj"])) < 11 || b["notificationDisabled"] != true {
		refuse(w, 400, "invalid_object", "O CPF/CNPJ informado é inválido.")
		return
	}
	if d.strictAddress && b["postalCode"] != nil {
		refuse(w, 400, "invalid_postalCode", "O CEP informado não foi encontrado.")
		return
	}
	b["id"] = d.id("cus_")
	d.customers[fmt.Sprint(b["id"])] = b
	reply(w, b)
}

func (d *double) create(w http.ResponseWriter, r *http.Request) {
	b := body(r)
	amount, err := money.Parse(fmt.Sprint(b["value"]))
	switch {
	case d.customers[fmt.Sprint(b["customer"])] == nil:
		refuse(w, 400, "invalid_customer", "Customer inválido ou não informado.")
		return
	case err != nil || b["billingType"] != "PIX" && b["billingType"] != "UNDEFINED" || fmt.Sprint(b["dueDate"]) < gatewaytest.Now.Format("2006-01-02"):
		refuse(w, 400, "invalid_object", "Valor, tipo ou vencimento inválido.")
		return
	}
	b["id"], b["object"], b["status"], b["deleted"] = d.id("pay_"), "payment", "PENDING", false
	b["value"], b["sent"] = number(amount), b["value"]
	b["invoiceUrl"] = "https://www.asaas.com/i/" + strings.TrimPrefix(fmt.Sprint(b["id"]), "pay_")
	b["refunds"], b["paymentDate"], b["clientPaymentDate"] = nil, nil, nil
	if by := b["pixAutomaticAuthorizationId"]; by != nil {
		if d.authorisations[fmt.Sprint(by)]["status"] != "ACTIVE" {
			refuse(w, 400, "invalid_action", "A autorização deve estar ativa.")
			return
		}
		d.instruct(b, b["dueDate"], "SCHEDULE")
	}
	d.charges[fmt.Sprint(b["id"])] = b
	reply(w, b)
}

// number writes an amount as Java does.
func number(amount money.Cents) json.Number {
	f := float64(amount) / 100
	if f < 1e7 {
		return json.Number(strconv.FormatFloat(f, 'f', -1, 64))
	}
	return json.Number(strings.Replace(strconv.FormatFloat(f, 'E', -1, 64), "E+0", "E", 1))
}

func (d *double) read(w http.ResponseWriter, r *http.Request) {
	c, ok := d.charges[r.PathValue("id")]
	if !ok {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	reply(w, c)
}

func (d *double) code(w http.ResponseWriter, r *http.Request) {
	c, ok := d.charges[r.PathValue("id")]
	if !ok || d.noCodes || c["deleted"] == true {
		refuse(w, 400, "invalid_action", "Não há chave Pix cadastrada.")
		return
	}
	reply(w, map[string]any{"encodedImage": "iVBORw0KGgo=", "payload": "00020101021226br.gov.bcb.pix" + fmt.Sprint(c["id"]), "expirationDate": "2027-11-16 23:59:59"})
}

func (d *double) remove(w http.ResponseWriter, r *http.Request) {
	c, ok := d.charges[r.PathValue("id")]
	switch {
	case !ok:
		w.WriteHeader(http.StatusNotFound)
	case c["status"] != "PENDING":
		refuse(w, 400, "invalid_action", "A cobrança não pode ser removida: já foi recebida.")
	default:
		c["deleted"] = true
		reply(w, map[string]any{"deleted": true, "id": c["id"]})
	}
}

func (d *double) register(w http.ResponseWriter, r *http.Request) {
	b := body(r)
	if n := len(fmt.Sprint(b["authToken"])); n < 32 || n > 255 || !strings.Contains(fmt.Sprint(b["email"]), "@") || b["sendType"] == nil || b["apiVersion"] != json.Number("3") {
		refuse(w, 400, "invalid_object", "Webhook inválido.")
		return
	}
	b["id"] = d.id("wh_")
	d.webhooks[fmt.Sprint(b["id"])] = b
	reply(w, b)
}

func (d *double) update(w http.ResponseWriter, r *http.Request) {
	hook, ok := d.webhooks[r.PathValue("id")]
	if !ok {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	maps.Copy(hook, body(r))
	reply(w, hook)
}

func (d *double) Charges() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.charges)
}

func (d *double) find(reference string) map[string]any {
	for _, charge := range d.charges {
		if charge["externalReference"] == reference {
			return charge
		}
	}
	panic("no charge " + reference)
}

func (d *double) Asked(reference string) money.Cents {
	d.mu.Lock()
	defer d.mu.Unlock()
	amount, err := money.Parse(fmt.Sprint(d.find(reference)["sent"]))
	if err != nil {
		panic(err)
	}
	return amount
}

func (d *double) Pay(reference string, amount money.Cents) {
	d.mu.Lock()
	defer d.mu.Unlock()
	c := d.find(reference)
	c["status"], c["value"], c["clientPaymentDate"] = "RECEIVED", number(amount), "2026-11-15"
}

// Refund gives a part back; the charge stays received until all of it is gone.
func (d *double) Refund(reference string, amount money.Cents) {
	d.mu.Lock()
	defer d.mu.Unlock()
	c := d.find(reference)
	refunds, _ := c["refunds"].([]any)
	refunds = append(refunds, map[string]any{"status": "DONE", "value": number(amount), "dateCreated": "2026-11-15 09:00:00"}, map[string]any{"status": "CANCELLED", "value": 7})
	c["refunds"] = refunds
	back, _ := c["back"].(money.Cents)
	back += amount
	if c["back"] = back; number(back) == c["value"] {
		c["status"] = "REFUNDED"
	}
}

// token is what the webhook was registered with, or else what is entered there
// by hand.
func (d *double) token() string {
	for _, webhook := range d.webhooks {
		return fmt.Sprint(webhook["authToken"])
	}
	return handMade
}

const handMade = "a-token-that-somebody-has-thought-of"

func (d *double) Callback(reference string) payment.Callback {
	d.mu.Lock()
	defer d.mu.Unlock()
	encoded, _ := json.Marshal(map[string]any{"id": "evt_05b708f961d739ea7eba7e4db318f621&368604920", "event": "PAYMENT_RECEIVED", "payment": d.find(reference)})
	return payment.Callback{Header: http.Header{"Asaas-Access-Token": {d.token()}, "User-Agent": {"Asaas_Prod/3.0"}}, Body: encoded}
}

func (d *double) Forgeries(reference string) map[string]payment.Callback {
	with := func(token ...string) payment.Callback {
		callback := d.Callback(reference)
		callback.Header["Asaas-Access-Token"] = token
		return callback
	}
	return map[string]payment.Callback{
		"no token":        with(),
		"an empty token":  with(""),
		"another token":   with(strings.Repeat("x", 36)),
		"half a token":    with(handMade[:20]),
		"the API key":     with(key),
		"the wrong order": with("wrong", handMade),
	}
}
