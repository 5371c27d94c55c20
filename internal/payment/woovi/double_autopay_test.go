package woovi_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"carteira/internal/payment"
	"carteira/internal/platform/money"
	"carteira/test/kit/apidoctest"
	"carteira/test/kit/gatewaytest"
)

// object is a JSON object.
type object = map[string]any

const woovisTime = "2006-01-02T15:04:05.000Z"

func (d *double) handleAutopay() {
	d.subscriptions, d.instalments = map[string]object{}, map[string]object{}
	d.mux.HandleFunc("POST /api/v1/subscriptions", d.subscribe)
	d.mux.HandleFunc("GET /api/v1/subscriptions/{id}", d.readSubscription)
	d.mux.HandleFunc("PUT /api/v1/subscriptions/{id}/cancel", d.cancelSubscription)
	d.mux.HandleFunc("GET /api/v1/subscriptions/{id}/installments", d.listInstalments)
	d.mux.HandleFunc("GET /api/v1/installments/{id}", d.readInstalment)
	d.mux.HandleFunc("POST /api/v1/installments/{id}/cobr", d.debit)
}

func makesAutopay(r *http.Request) bool {
	return r.Method == http.MethodPost && (r.URL.Path == "/api/v1/subscriptions" || strings.HasSuffix(r.URL.Path, "/cobr"))
}

func globalID(kind string, n int) string {
	return base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "%s:%d?>", kind, n))
}

func (d *double) subscribe(w http.ResponseWriter, r *http.Request) {
	b := body(r)
	payer, _ := b["customer"].(object)
	options, _ := b["pixRecurringOptions"].(object)
	reference := fmt.Sprint(b["correlationID"])
	if payer["taxID"] == nil || payer["address"] == nil || len([]rune(fmt.Sprint(b["comment"]))) >= 30 ||
		d.subscriptions[reference] != nil || options["journey"] != "ONLY_RECURRENCY" || options["retryPolicy"] != "NON_PERMITED" {
		refuse(w, "assinatura inválida")
		return
	}
	d.next++
	made := object{
		"globalID": globalID("PaymentSubscription", d.next), "correlationID": reference, "value": b["value"], "name": b["name"],
		"status": "ACTIVE", "type": "PIX_RECURRING", "frequency": b["frequency"], "customer": knownCustomer(payer),
		"pixRecurring": object{"emv": "00020126180014br.gov.bcb.pix80" + strconv.Itoa(d.next), "status": "CREATED", "journey": options["journey"]},
	}
	d.subscriptions[reference] = made
	first := fmt.Sprint(b["dayGenerateCharge"])[:10]
	instalment := object{
		"globalID": globalID("PaymentSubscriptionInstallment", d.next), "dateGenerateCharge": first + "T12:00:00.000Z",
		"installmentNumber": 1, "value": b["value"], "status": "SCHEDULED", "cobr": nil,
		"createdAt": gatewaytest.Now.Format(woovisTime), "paymentSubscriptionGlobalID": made["globalID"], "correlationID": reference,
	}
	d.instalments[fmt.Sprint(instalment["globalID"])] = instalment
	reply(w, 200, object{"subscription": made})
}

func (d *double) subscription(id string) object {
	for reference, found := range d.subscriptions {
		if reference == id || found["globalID"] == id {
			return found
		}
	}
	return nil
}

func (d *double) readSubscription(w http.ResponseWriter, r *http.Request) {
	found := d.subscription(r.PathValue("id"))
	if found == nil {
		refuse(w, "Assinatura não encontrada")
		return
	}
	reply(w, 200, object{"subscription": found})
}

func (d *double) cancelSubscription(w http.ResponseWriter, r *http.Request) {
	found := d.subscription(r.PathValue("id"))
	if found == nil {
		refuse(w, "Assinatura não encontrada")
		return
	}
	found["pixRecurring"].(object)["status"] = "CANCELED"
	reply(w, 200, object{})
}

func (d *double) listInstalments(w http.ResponseWriter, r *http.Request) {
	found := d.subscription(r.PathValue("id"))
	if found == nil {
		refuse(w, "Assinatura não encontrada")
		return
	}
	list := []object{}
	for _, instalment := range d.instalments {
		if instalment["paymentSubscriptionGlobalID"] == found["globalID"] {
			list = append(list, instalment)
		}
	}
	reply(w, 200, object{"installments": list, "pageInfo": object{"skip": 0, "limit": 100, "hasNextPage": false}})
}

func (d *double) readInstalment(w http.ResponseWriter, r *http.Request) {
	found := d.instalments[r.PathValue("id")]
	switch {
	case found == nil:
		refuse(w, "Parcela não encontrada")
	case d.bare:
		reply(w, 200, found)
	default:
		reply(w, 200, object{"installment": found})
	}
}

func (d *double) debit(w http.ResponseWriter, r *http.Request) {
	found := d.instalments[r.PathValue("id")]
	value, err := body(r)["value"].(json.Number).Int64()
	by := d.subscription(fmt.Sprint(found["correlationID"]))
	if found == nil || found["cobr"] != nil || err != nil || by["pixRecurring"].(object)["status"] != "APPROVED" {
		refuse(w, "A cobrança não pode ser criada")
		return
	}
	found["cobr"] = object{
		"status": "CREATED", "value": value, "tries": []any{
			object{"tryStatus": "REQUESTED", "value": value, "finalityPurpose": "AGND", "requestedExecutionDate": found["dateGenerateCharge"]},
		},
	}
	reply(w, 200, object{})
}

func (d *double) Authorisations() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.subscriptions)
}

func (d *double) Approve(reference string) { d.set(reference, "APPROVED") }

func (d *double) Decline(reference string) { d.set(reference, "REJECTED") }

func (d *double) Revoke(reference string) { d.set(reference, "REJECTED") }

func (d *double) set(reference, status string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.subscriptions[reference]["pixRecurring"].(object)["status"] = status
}

func (d *double) Debits() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := 0
	for _, instalment := range d.instalments {
		if instalment["cobr"] != nil {
			n++
		}
	}
	return n
}

func (d *double) cobrOf(ref payment.DebitRef) object { return d.instalments[ref.ID]["cobr"].(object) }

func (d *double) Announced(ref payment.DebitRef) money.Cents {
	d.mu.Lock()
	defer d.mu.Unlock()
	return money.Cents(d.cobrOf(ref)["value"].(int64))
}

func (d *double) Collect(ref payment.DebitRef, amount money.Cents) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.next++
	debit := d.cobrOf(ref)
	debit["status"], debit["value"], debit["endToEndId"] = "COMPLETED", int64(amount), fmt.Sprintf("E231144472026120107%013d", d.next)
	debit["paymentDate"] = gatewaytest.Now.Format(woovisTime)
	debit["tries"].([]any)[0].(object)["tryStatus"] = "PAID"
}

func (d *double) Fail(ref payment.DebitRef) {
	d.mu.Lock()
	defer d.mu.Unlock()
	debit := d.cobrOf(ref)
	try := debit["tries"].([]any)[0].(object)
	debit["status"], try["tryStatus"], try["rejectCode"] = "REJECTED", "REJECTED", "AM02"
}

func (d *double) GiveBack(payment.DebitRef, money.Cents) { panic("Woovi does not tell") }

func (d *double) AuthorisationCallback(reference string) payment.Callback {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.calls("PIX_AUTOMATIC_APPROVED", "Subscription", d.subscriptions[reference])
}

func (d *double) DebitCallback(ref payment.DebitRef) payment.Callback {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.calls("PIX_AUTOMATIC_COBR_COMPLETED", "Installment", d.instalments[ref.ID])
}

// calls is a callback with a subscription or an instalment as its body.
func (d *double) calls(event, schema string, told object) payment.Callback {
	encoded, _ := json.Marshal(told)
	var decoded object
	_ = json.Unmarshal(encoded, &decoded)
	if err := apidoctest.Woovi().CheckSchema(schema, decoded); err != nil {
		panic(err)
	}
	decoded["event"] = event
	encoded, _ = json.Marshal(decoded)
	return signed(d.authorization(), encoded, signingKey())
}
