package asaas_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"carteira/internal/payment"
	"carteira/internal/platform/money"
	"carteira/test/kit/gatewaytest"
)

// object is a JSON object.
type object = map[string]any

func (d *double) handleAutopay() {
	d.authorisations, d.instructions = map[string]object{}, map[string]object{}
	const authorisations, instructions = "/v3/pix/automatic/authorizations", "/v3/pix/automatic/paymentInstructions"
	d.mux.HandleFunc("POST "+authorisations, d.authorise)
	d.mux.HandleFunc("GET "+authorisations, func(w http.ResponseWriter, r *http.Request) { listBy(w, r, "customerId", d.authorisations) })
	d.mux.HandleFunc("GET "+authorisations+"/{id}", d.readAuthorisation)
	d.mux.HandleFunc("DELETE "+authorisations+"/{id}", d.endAuthorisation)
	d.mux.HandleFunc("GET "+instructions, func(w http.ResponseWriter, r *http.Request) { listBy(w, r, "paymentId", d.instructions) })
	d.mux.HandleFunc("POST "+instructions+"/{id}/retries", d.retry)
}

func makesAutopay(r *http.Request) bool {
	return makes(r) || r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/authorizations")
}

// listBy lists those that have a field as it is asked for.
func listBy(w http.ResponseWriter, r *http.Request, field string, all map[string]object) {
	asked := r.URL.Query().Get(field)
	data := []object{}
	for _, one := range all {
		if asked == "" || one[field] == asked {
			data = append(data, one)
		}
	}
	reply(w, object{"object": "list", "hasMore": false, "totalCount": len(data), "limit": 100, "offset": 0, "data": data})
}

// fields are those of the reference page for authorisations.
var fields = []string{
	"frequency", "contractId", "startDate", "finishDate", "value", "description", "customerId", "immediateQrCode",
	"minLimitValue", "paymentCreationMode", "retryPolicy",
}

var frequencies = []string{"WEEKLY", "MONTHLY", "QUARTERLY", "SEMIANNUALLY", "ANNUALLY"}

func (d *double) authorise(w http.ResponseWriter, r *http.Request) {
	made := body(r)
	qr, _ := made["immediateQrCode"].(object)
	_, err := money.Parse(fmt.Sprint(qr["originalValue"]))
	for name := range made {
		if !slices.Contains(fields, name) {
			err = fmt.Errorf("no field %s", name)
		}
	}
	if err != nil || d.customers[fmt.Sprint(made["customerId"])] == nil || !slices.Contains(frequencies, fmt.Sprint(made["frequency"])) ||
		len(fmt.Sprint(made["contractId"])) > 35 || len([]rune(fmt.Sprint(made["description"]))) > 35 || made["startDate"] == nil ||
		made["value"] != nil && made["minLimitValue"] != nil {
		refuse(w, 400, "invalid_object", "Autorização inválida.")
		return
	}
	d.next++
	id := fmt.Sprintf("d51008fa-e28e-4823-82b4-%012d", d.next)
	made["id"], made["status"] = id, "CREATED"
	made["payload"] = "00020101021226br.gov.bcb.pix80" + id
	qr["conciliationIdentifier"], qr["expirationDate"] = fmt.Sprintf("QR%030d", d.next), "16/11/2026 09:00:00"
	d.authorisations[id] = made
	reply(w, made)
}

func (d *double) readAuthorisation(w http.ResponseWriter, r *http.Request) {
	found := d.authorisations[r.PathValue("id")]
	if found == nil {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	reply(w, found)
}

func (d *double) endAuthorisation(w http.ResponseWriter, r *http.Request) {
	found := d.authorisations[r.PathValue("id")]
	switch {
	case found == nil:
		w.WriteHeader(http.StatusNotFound)
	case found["status"] != "CREATED" && found["status"] != "ACTIVE":
		refuse(w, 400, "invalid_action", "A autorização não pode ser cancelada.")
	default:
		found["status"] = "CANCELLED"
		reply(w, found)
	}
}

// instruct makes the order to the payer's bank for a charge of an authorisation.
func (d *double) instruct(charge object, day any, purpose string) object {
	made := object{
		"id": d.id("instruction-"), "dueDate": day, "status": "SCHEDULED", "paymentId": charge["id"], "purpose": purpose,
		"authorization": object{"id": charge["pixAutomaticAuthorizationId"]},
	}
	d.instructions[fmt.Sprint(made["id"])] = made
	return made
}

func (d *double) retry(w http.ResponseWriter, r *http.Request) {
	before, asked := d.instructions[r.PathValue("id")], body(r)
	if before == nil || before["status"] != "REFUSED" || asked["dueDate"] == nil {
		refuse(w, 400, "invalid_action", "A instrução não pode ser retentada.")
		return
	}
	charge := d.charges[fmt.Sprint(before["paymentId"])]
	reply(w, d.instruct(charge, asked["dueDate"], "RETRY_AFTER_DUE_DATE"))
}

func (d *double) Authorisations() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.authorisations)
}

func (d *double) authorisationOf(reference string) object {
	for _, found := range d.authorisations {
		if found["contractId"] == reference {
			return found
		}
	}
	panic("no authorisation " + reference)
}

// Approve makes a payment of the code, which has nothing of ours but the code.
func (d *double) Approve(reference string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	found := d.authorisationOf(reference)
	found["status"] = "ACTIVE"
	qr := found["immediateQrCode"].(object)
	id := d.id("pay_")
	d.charges[id] = object{
		"id": id, "object": "payment", "status": "RECEIVED", "value": qr["originalValue"], "billingType": "PIX", "deleted": false,
		"clientPaymentDate": "2026-11-15", "externalReference": nil, "pixQrCodeId": qr["conciliationIdentifier"],
	}
}

func (d *double) Decline(reference string) { d.set(reference, "REFUSED") }

func (d *double) Revoke(reference string) { d.set(reference, "CANCELLED") }

func (d *double) set(reference, status string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.authorisationOf(reference)["status"] = status
}

func (d *double) Debits() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := 0
	for _, charge := range d.charges {
		if charge["pixAutomaticAuthorizationId"] != nil {
			n++
		}
	}
	return n
}

func (d *double) Announced(ref payment.DebitRef) money.Cents { return d.Asked(ref.Reference) }

func (d *double) newest(ref payment.DebitRef) object {
	charge := d.find(ref.Reference)
	var newest object
	for _, made := range d.instructions {
		if made["paymentId"] == charge["id"] && (newest == nil || fmt.Sprint(made["dueDate"]) > fmt.Sprint(newest["dueDate"])) {
			newest = made
		}
	}
	return newest
}

func (d *double) Collect(ref payment.DebitRef, amount money.Cents) {
	d.Pay(ref.Reference, amount)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.newest(ref)["status"] = "DONE"
}

func (d *double) Fail(ref payment.DebitRef) {
	d.mu.Lock()
	defer d.mu.Unlock()
	newest := d.newest(ref)
	newest["status"], newest["refusalReason"] = "REFUSED", "INSUFFICIENT_BALANCE"
}

func (d *double) GiveBack(ref payment.DebitRef, amount money.Cents) { d.Refund(ref.Reference, amount) }

func (d *double) AuthorisationCallback(reference string) payment.Callback {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.calls(object{
		"id": "evt_1&1", "event": "PIX_AUTOMATIC_RECURRING_AUTHORIZATION_ACTIVATED", "authorization": d.authorisationOf(reference),
	})
}

func (d *double) DebitCallback(ref payment.DebitRef) payment.Callback {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.calls(object{
		"id": "evt_1&2", "event": "PIX_AUTOMATIC_RECURRING_PAYMENT_INSTRUCTION_SCHEDULED", "paymentInstruction": d.newest(ref),
	})
}

func (d *double) calls(told object) payment.Callback {
	encoded, _ := json.Marshal(told)
	return payment.Callback{Header: http.Header{"Asaas-Access-Token": {d.token()}}, Body: encoded}
}

var _ gatewaytest.DebitDouble = (*double)(nil)
