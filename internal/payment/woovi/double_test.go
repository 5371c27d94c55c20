package woovi_test

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"maps"
	"net/http"
	"slices"
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
	appID    = "Q2xpZW50X0lkXzEyMzQ1Njc4OTA6Q2xpZW50X1NlY3JldA=="
	handMade = "an-authorization-of-somebody"
)

var signingKey = sync.OnceValue(func() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return key
})

func publicPEM(key *rsa.PublicKey) string {
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		panic(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
}

// double is Woovi in memory.
type double struct {
	mu           sync.Mutex
	mux          *http.ServeMux
	next         int
	made         int
	charges      map[string]map[string]any // by correlation id
	transactions []map[string]any
	webhooks     []map[string]any
	keys         []string // PEM
	keysStatus   int      // of their address; 0: 200
	keyCalls     int
	denyStatus   int  // to an unknown AppID; 0: 401
	astray       bool // a test has it answer otherwise than the document says

	subscriptions map[string]map[string]any // by correlation id
	instalments   map[string]map[string]any // by global id
	bare          bool                      // an instalment is sent without an object around it
}

func newDouble() *double {
	d := &double{mux: http.NewServeMux(), charges: map[string]map[string]any{}, keys: []string{"nonsense", publicPEM(&signingKey().PublicKey)}}
	d.mux.HandleFunc("POST /api/v1/charge", d.create)
	d.mux.HandleFunc("GET /api/v1/charge", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, 200, map[string]any{"charges": []any{}, "pageInfo": map[string]int{"skip": 0}})
	})
	d.mux.HandleFunc("GET /api/v1/charge/{id}", d.read)
	d.mux.HandleFunc("DELETE /api/v1/charge/{id}", d.remove)
	d.mux.HandleFunc("GET /api/v1/transaction", d.list)
	d.mux.HandleFunc("GET /api/v1/webhook", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, 200, map[string]any{"webhooks": append([]map[string]any{}, d.webhooks...)})
	})
	d.mux.HandleFunc("POST /api/v1/webhook", d.register)
	d.mux.HandleFunc("DELETE /api/v1/webhook/{id}", d.unregister)
	d.handleAutopay()
	return d
}

// guard holds the double and its callers to Woovi's document.
func guard(t *testing.T, d *double) http.Handler {
	t.Helper()
	return &apidoctest.Guard{
		Document: apidoctest.Woovi(), Double: d,
		Free: []int{http.StatusInternalServerError, http.StatusServiceUnavailable},
		Broken: func(err error) {
			if !d.astray {
				t.Error(err)
			}
		},
	}
}

func (d *double) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case r.URL.Path == "/api/v1/webhook/public-keys":
		d.giveKeys(w, r)
	case r.Header.Get("Authorization") != appID:
		status := d.denyStatus
		if status == 0 {
			status = 401
		}
		reply(w, status, map[string]any{"errors": []any{map[string]string{"message": "appID inválido"}}})
	default:
		d.mux.ServeHTTP(w, r)
	}
}

func makes(r *http.Request) bool {
	return r.Method == http.MethodPost && r.URL.Path == "/api/v1/charge"
}

func (d *double) giveKeys(w http.ResponseWriter, r *http.Request) {
	d.keyCalls++
	if r.Header.Get("Authorization") != "" {
		panic("a credential was shown for public keys")
	}
	if d.keysStatus != 0 {
		reply(w, d.keysStatus, map[string]string{})
		return
	}
	var list []any
	for i, key := range d.keys {
		list = append(list, map[string]any{"key_identifier": strconv.Itoa(i), "is_current": i == 0, "key": key})
	}
	reply(w, 200, map[string]any{"public_keys": list})
}

func reply(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

func refuse(w http.ResponseWriter, message string) {
	reply(w, 400, map[string]string{"error": message})
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

func (d *double) create(w http.ResponseWriter, r *http.Request) {
	b := body(r)
	id := fmt.Sprint(b["correlationID"])
	if old := d.charges[id]; old != nil {
		if r.URL.Query().Get("return_existing") != "true" {
			refuse(w, "correlationID já existe")
			return
		}
		reply(w, 200, map[string]any{"charge": old, "correlationID": id, "brCode": old["brCode"]})
		return
	}
	value, err := strconv.ParseInt(fmt.Sprint(b["value"]), 10, 64)
	lives, err2 := strconv.ParseInt(fmt.Sprint(b["expiresIn"]), 10, 64)
	if err != nil || err2 != nil || value <= 0 || lives < 900 {
		refuse(w, "valor ou expiração inválida")
		return
	}
	d.next++
	d.made++
	c := map[string]any{
		"status": "ACTIVE", "value": value, "correlationID": id, "transactionID": fmt.Sprintf("tx%030d", d.next), "identifier": fmt.Sprintf("tx%030d", d.next),
		"globalID": base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "Charge:%d?>", d.next)), // has / and = in it
		"brCode":   "00020101021226br.gov.bcb.pix" + strconv.Itoa(d.next), "expiresIn": strconv.FormatInt(lives, 10),
		"expiresDate": gatewaytest.Now.Add(time.Duration(lives) * time.Second).Format("2006-01-02T15:04:05.000Z"),
	}
	if payer, given := b["customer"].(map[string]any); given {
		c["customer"] = knownCustomer(payer)
	}
	d.charges[id] = c
	reply(w, 200, map[string]any{"charge": c, "correlationID": id, "brCode": c["brCode"]})
}

// knownCustomer is a payer as Woovi returns it, with the tax id and its kind.
func knownCustomer(payer map[string]any) map[string]any {
	known := maps.Clone(payer)
	if id, given := payer["taxID"]; given {
		known["taxID"] = map[string]any{"taxID": id, "type": "BR:CPF"}
	}
	return known
}

func (d *double) named(id string) map[string]any {
	for reference, charge := range d.charges {
		if reference == id || charge["globalID"] == id {
			return charge
		}
	}
	return nil
}

func (d *double) read(w http.ResponseWriter, r *http.Request) {
	c := d.named(r.PathValue("id"))
	if c == nil {
		refuse(w, "Cobrança não encontrada")
		return
	}
	reply(w, 200, map[string]any{"charge": c})
}

func (d *double) remove(w http.ResponseWriter, r *http.Request) {
	c := d.named(r.PathValue("id"))
	if c == nil || c["status"] != "ACTIVE" {
		refuse(w, "A cobrança não pode ser removida")
		return
	}
	delete(d.charges, fmt.Sprint(c["correlationID"]))
	reply(w, 200, map[string]any{"status": "OK", "id": r.PathValue("id")})
}

func (d *double) list(w http.ResponseWriter, r *http.Request) {
	list := []any{}
	for _, transaction := range d.transactions {
		if transaction["charge"].(map[string]any)["correlationID"] == r.URL.Query().Get("charge") {
			list = append(list, transaction)
		}
	}
	reply(w, 200, map[string]any{"transactions": list, "pageInfo": map[string]int{"skip": 0, "limit": 100}})
}

func (d *double) register(w http.ResponseWriter, r *http.Request) {
	hook, _ := body(r)["webhook"].(map[string]any)
	if hook["url"] == nil || !strings.HasPrefix(fmt.Sprint(hook["event"]), "OPENPIX:") && !strings.HasPrefix(fmt.Sprint(hook["event"]), "PIX_AUTOMATIC_") {
		refuse(w, "webhook inválido")
		return
	}
	d.next++
	hook["id"] = "V2ViaG9vazo/" + strconv.Itoa(d.next)
	d.webhooks = append(d.webhooks, hook)
	reply(w, 200, map[string]any{"webhook": hook})
}

func (d *double) unregister(w http.ResponseWriter, r *http.Request) {
	before := len(d.webhooks)
	d.webhooks = slices.DeleteFunc(d.webhooks, func(hook map[string]any) bool { return hook["id"] == r.PathValue("id") })
	if len(d.webhooks) == before {
		refuse(w, "webhook não encontrado")
		return
	}
	reply(w, 200, map[string]string{"status": "OK"})
}

func (d *double) Charges() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.made
}

func (d *double) Asked(reference string) money.Cents {
	d.mu.Lock()
	defer d.mu.Unlock()
	return money.Cents(d.charges[reference]["value"].(int64))
}

func (d *double) Pay(reference string, amount money.Cents) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.next++
	c := d.charges[reference]
	c["status"] = "COMPLETED"
	d.transactions = append(d.transactions, map[string]any{
		"charge": map[string]any{"correlationID": reference}, "value": int64(amount), "time": gatewaytest.Now.Format("2006-01-02T15:04:05.000Z"),
		"endToEndId": fmt.Sprintf("E231144472026111512%013d", d.next), "transactionID": c["transactionID"], "type": "CONFIRMED", "status": "PAYMENT",
	})
}

// Refund gives a part back, which is one more transaction.
func (d *double) Refund(reference string, amount money.Cents) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.next++
	d.transactions = append(d.transactions, map[string]any{
		"charge": map[string]any{"correlationID": reference}, "value": int64(amount), "time": gatewaytest.Now.Format("2006-01-02T15:04:05.000Z"),
		"endToEndId": fmt.Sprintf("D231144472026111512%013d", d.next), "type": "CONFIRMED", "status": "REFUND",
	})
}

// authorization is what the webhooks were registered with, or else what was
// entered by hand.
func (d *double) authorization() string {
	for _, hook := range d.webhooks {
		return fmt.Sprint(hook["authorization"])
	}
	return handMade
}

func (d *double) Callback(reference string) payment.Callback {
	d.mu.Lock()
	defer d.mu.Unlock()
	told := map[string]any{"event": "OPENPIX:CHARGE_COMPLETED", "charge": d.charges[reference]}
	for _, transaction := range d.transactions {
		if transaction["charge"].(map[string]any)["correlationID"] == reference {
			told["pix"] = transaction
		}
	}
	encoded, _ := json.Marshal(told)
	var charge struct{ Charge any }
	_ = json.Unmarshal(encoded, &charge)
	if err := apidoctest.Woovi().CheckSchema("Charge", charge.Charge); err != nil {
		panic(err)
	}
	return signed(d.authorization(), encoded, signingKey())
}

func signed(authorization string, body []byte, key *rsa.PrivateKey) payment.Callback {
	sum := sha256.Sum256(body)
	signature, err := rsa.SignPKCS1v15(nil, key, crypto.SHA256, sum[:])
	if err != nil {
		panic(err)
	}
	return payment.Callback{
		Header: http.Header{"Authorization": {authorization}, "X-Webhook-Signature": {base64.StdEncoding.EncodeToString(signature)}},
		Body:   body,
	}
}

func (d *double) Forgeries(reference string) map[string]payment.Callback {
	with := func(change func(*payment.Callback)) payment.Callback {
		callback := d.Callback(reference)
		change(&callback)
		return callback
	}
	other, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	genuine := d.Callback(reference)
	return map[string]payment.Callback{
		"no authorization":     with(func(callback *payment.Callback) { callback.Header.Del("Authorization") }),
		"another company's":    with(func(callback *payment.Callback) { callback.Header.Set("Authorization", "of another company") }),
		"the AppID":            with(func(callback *payment.Callback) { callback.Header.Set("Authorization", appID) }),
		"no signature":         with(func(callback *payment.Callback) { callback.Header.Del("X-Webhook-Signature") }),
		"an empty signature":   with(func(callback *payment.Callback) { callback.Header.Set("X-Webhook-Signature", "") }),
		"a broken signature":   with(func(callback *payment.Callback) { callback.Header.Set("X-Webhook-Signature", "?") }),
		"another signature":    with(func(callback *payment.Callback) { callback.Header.Set("X-Webhook-Signature", "AAAA") }),
		"somebody's signature": signed(genuine.Header.Get("Authorization"), genuine.Body, other),
		"an altered body": with(func(callback *payment.Callback) {
			callback.Body = []byte(strings.Replace(string(callback.Body), "35", "36", 1))
		}),
		"a body with one space": with(func(callback *payment.Callback) { callback.Body = append(slices.Clone(callback.Body), ' ') }),
	}
}
