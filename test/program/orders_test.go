package program

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"carteira/internal/platform/sqldb"
)

// newOrderBank is a bank with a company that has chosen the orders API.
func newOrderBank(t *testing.T) *bank {
	t.Helper()
	b := newBank(t)
	b.tills = orderTills
	return b
}

func (b *bank) routeOrders(mux *http.ServeMux) {
	mux.HandleFunc("POST /v1/orders", b.createOrder)
	mux.HandleFunc("GET /v1/orders", b.searchOrders)
	mux.HandleFunc("GET /v1/orders/{id}", b.readOrder)
	mux.HandleFunc("POST /v1/orders/{id}/cancel", b.cancelOrder)
}

// createOrder turns a used key down: the program must find by itself what it made.
func (b *bank) createOrder(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Amount    json.Number `json:"total_amount"`
		Reference string      `json:"external_reference"`
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		answerJSON(w, 400, map[string]any{"errors": []any{map[string]string{"message": err.Error()}}})
		return
	}
	at, status := b.made(r, http.StatusConflict)
	if at >= 0 {
		answerJSON(w, status, map[string]any{"errors": []any{map[string]string{"code": "idempotency_key_already_used"}}})
		return
	}
	at = b.add(r, body.Reference, body.Amount)
	answerJSON(w, status, orderOf(b.payments[at]))
}

var orderStatuses = map[any]string{"pending": "action_required", "approved": "processed", "cancelled": "canceled"}

// orderOf is the order that a payment belongs to. The money has another id there.
func orderOf(paid map[string]any) map[string]any {
	amount, status := fmt.Sprint(paid["transaction_amount"]), orderStatuses[paid["status"]]
	return map[string]any{
		"id": fmt.Sprintf("ORD%v", paid["id"]), "status": status, "external_reference": paid["external_reference"],
		"last_updated_date": time.Now().Format(time.RFC3339),
		"transactions": map[string]any{"payments": []any{map[string]any{
			"id": fmt.Sprintf("PAY%v", paid["id"]), "status": status, "amount": amount, "paid_amount": amount,
			"payment_method": map[string]any{"id": "pix", "type": "bank_transfer", "qr_code": fmt.Sprintf("00020126-code-%v", paid["id"])},
		}}},
	}
}

func (b *bank) searchOrders(w http.ResponseWriter, r *http.Request) {
	found := []map[string]any{}
	for _, paid := range b.payments {
		if paid["external_reference"] == r.URL.Query().Get("external_reference") {
			found = append(found, orderOf(paid))
		}
	}
	answerJSON(w, 200, map[string]any{"data": found})
}

func (b *bank) readOrder(w http.ResponseWriter, r *http.Request) {
	paid := b.find(strings.TrimPrefix(r.PathValue("id"), "ORD"))
	if paid == nil {
		answerJSON(w, 404, map[string]any{"errors": []any{map[string]string{"code": "order_not_found"}}})
		return
	}
	answerJSON(w, 200, orderOf(paid))
}

func (b *bank) cancelOrder(w http.ResponseWriter, r *http.Request) {
	paid := b.find(strings.TrimPrefix(r.PathValue("id"), "ORD"))
	if paid == nil || paid["status"] != "pending" {
		answerJSON(w, 409, map[string]any{"errors": []any{map[string]string{"code": "cannot_cancel_order"}}})
		return
	}
	paid["status"] = "cancelled"
	answerJSON(w, 200, orderOf(paid))
}

// The process dies after the order was made and before it knows of it. The next
// request gets the code of that order, and no other is made.
func TestOrderWhoseAnswerDiedWithTheProcessIsFoundAndPaidOnce(t *testing.T) {
	eachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		till := newOrderBank(t).till(t, engine)
		till.dieAt("charge-created")
		if n := till.bank.charges(); n != 1 {
			t.Errorf("%d orders at the gateway", n)
		}
		execute(t, till.open(), `UPDATE charges SET next_check_at = 0`)
		server := till.serveMortal()
		answer := server.client(till.token).want(200, "POST", "/invoices/"+till.invoice+"/pix", nil)
		if !strings.Contains(string(answer.body), "00020126-code-7100") {
			t.Errorf("answered %s", answer.body)
		}
		till.bank.pay()
		till.wantSettledInTime()
		server.stop()
	})
}

// An application with both events chosen reports the same money twice, under two
// ids, and each any number of times.
func TestMoneyOfAnOrderCountsOnceWhateverCallbacksCome(t *testing.T) {
	eachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		till := newOrderBank(t).till(t, engine)
		server := till.serveMortal()
		server.client(till.token).want(200, "POST", "/invoices/"+till.invoice+"/pix", nil)
		till.bank.pay()
		address := "http://" + server.address + till.callback
		for range 2 {
			if err := till.bank.callBack(address); err != nil {
				t.Fatal(err)
			}
			body := `{"type":"order","action":"order.processed","data":{"id":"ORD7100"}}`
			if err := till.bank.callBackAbout(address, "order", "ORD7100", body); err != nil {
				t.Fatal(err)
			}
		}
		till.wantSettled()
		db := till.open()
		eventually(t, "every callback was looked into", func() bool {
			return count(t, db, `SELECT count(*) FROM gateway_callbacks WHERE next_try_at IS NOT NULL`) == 0
		})
		till.wantSettled()
		server.stop()
	})
}
