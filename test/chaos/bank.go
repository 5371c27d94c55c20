//go:build linux

package main

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"
)

const (
	bankToken  = "APP_USR-0000-chaos"
	bankSecret = "secret-of-the-chaos"
)

// bank speaks as Mercado Pago does, as far as a payment with PIX needs it.
type bank struct {
	*httptest.Server
	mu      sync.Mutex
	charges []map[string]any
	keys    map[string]map[string]any // charges by idempotency key
	looks   int                       // how often it was asked about a charge
}

func newBank() *bank {
	b := &bank{keys: map[string]map[string]any{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/payments", b.create)
	mux.HandleFunc("GET /v1/payments/search", b.search)
	mux.HandleFunc("GET /v1/payments/{id}", b.read)
	b.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b.mu.Lock()
		defer b.mu.Unlock()
		mux.ServeHTTP(w, r)
	}))
	return b
}

func answerJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

func (b *bank) create(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Amount    json.Number `json:"transaction_amount"`
		Reference string      `json:"external_reference"`
		Expires   string      `json:"date_of_expiration"`
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		answerJSON(w, http.StatusBadRequest, map[string]any{"message": err.Error()})
		return
	}
	key := r.Header.Get("X-Idempotency-Key")
	if b.keys[key] == nil {
		id := 7100 + len(b.charges)
		b.keys[key] = map[string]any{
			"id": id, "status": "pending", "status_detail": "pending_waiting_transfer", "transaction_amount": body.Amount,
			"transaction_amount_refunded": 0, "currency_id": "BRL", "external_reference": body.Reference, "date_of_expiration": body.Expires,
			"point_of_interaction": map[string]any{"transaction_data": map[string]any{"qr_code": codeOf(id)}},
		}
		b.charges = append(b.charges, b.keys[key])
	}
	answerJSON(w, http.StatusCreated, b.keys[key])
}

func codeOf(id any) string { return fmt.Sprintf("00020126-code-%v", id) }

func (b *bank) search(w http.ResponseWriter, r *http.Request) {
	b.looks++
	found := []map[string]any{}
	for _, charge := range b.charges {
		if charge["external_reference"] == r.URL.Query().Get("external_reference") {
			found = append(found, charge)
		}
	}
	answerJSON(w, http.StatusOK, map[string]any{"results": found, "paging": map[string]int{"total": len(found)}})
}

func (b *bank) read(w http.ResponseWriter, r *http.Request) {
	b.looks++
	for _, charge := range b.charges {
		if fmt.Sprint(charge["id"]) == r.PathValue("id") {
			answerJSON(w, http.StatusOK, charge)
			return
		}
	}
	answerJSON(w, http.StatusNotFound, map[string]any{"message": "Payment not found"})
}

// pay pays the charge of a code, and returns its id.
func (b *bank) pay(code string) (id string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, charge := range b.charges {
		if codeOf(charge["id"]) == code {
			charge["status"], charge["status_detail"] = "approved", "accredited"
			charge["date_approved"] = time.Now().Format("2006-01-02T15:04:05.000-07:00")
			return fmt.Sprint(charge["id"])
		}
	}
	return ""
}

// counts are how many charges it has, and how often it was asked about them.
func (b *bank) counts() (charges, looks int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.charges), b.looks
}

// callback is the signed call by which the bank says that a charge changed.
func callback(ctx context.Context, address, id string) (*http.Request, error) {
	const asked = "bb56a2f1-6aae-46ac-982e-9dcd3581d08e"
	at := fmt.Sprint(time.Now().UnixMilli())
	mac := hmac.New(sha256.New, []byte(bankSecret))
	fmt.Fprintf(mac, "id:%s;request-id:%s;ts:%s;", id, asked, at)
	body := strings.NewReader(fmt.Sprintf(`{"id":1,"type":"payment","data":{"id":%q}}`, id))
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address+"?data.id="+id+"&type=payment", body)
	if err != nil {
		return nil, err
	}
	request.Header.Set("X-Request-Id", asked)
	request.Header.Set("X-Signature", "ts="+at+",v1="+hex.EncodeToString(mac.Sum(nil)))
	return request, nil
}
