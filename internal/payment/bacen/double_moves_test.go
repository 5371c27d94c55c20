package bacen_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"carteira/internal/payment"
	"carteira/internal/platform/money"
	"carteira/test/kit/apidoctest"
	"carteira/test/kit/gatewaytest"
)

// What follows is how the suite moves the double.

func (d *double) Authorisations() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.autopay.recs)
}

// recOf is the authorisation that has our reference.
func (d *double) recOf(reference string) object {
	for _, rec := range d.autopay.recs {
		if strings.HasPrefix(fmt.Sprint(rec["vinculo"].(object)["contrato"]), reference) {
			return rec
		}
	}
	panic("no authorisation " + reference)
}

// Approve pays what the code pays, too.
func (d *double) Approve(reference string) {
	d.mu.Lock()
	rec := d.recOf(reference)
	step(rec, "APROVADA")
	txID := ""
	if start, ok := rec["ativacao"].(object); ok {
		start["tipoJornada"] = "JORNADA_3"
		txID = fmt.Sprint(start["dadosJornada"].(object)["txid"])
	}
	d.mu.Unlock()
	if txID != "" {
		d.Pay(txID, d.Asked(txID))
	}
}

func (d *double) Decline(reference string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	rec := d.recOf(reference)
	step(rec, "REJEITADA")
	rec["encerramento"] = object{"rejeicao": object{"codigo": "AP13", "descricao": "Rejeitada pelo usuário pagador"}}
}

func (d *double) Revoke(reference string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.end(d.recOf(reference), "USUARIO_PAGADOR", "SLDB")
}

func (d *double) Debits() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.autopay.debits)
}

func (d *double) Announced(ref payment.DebitRef) money.Cents {
	d.mu.Lock()
	defer d.mu.Unlock()
	amount, err := money.Parse(fmt.Sprint(d.autopay.debits[ref.Reference]["valor"].(object)["original"]))
	if err != nil {
		panic(err)
	}
	return amount
}

func (d *double) Collect(ref payment.DebitRef, amount money.Cents) {
	d.mu.Lock()
	defer d.mu.Unlock()
	debit := d.autopay.debits[ref.Reference]
	step(debit, "CONCLUIDA")
	step(newest(debit), "PAGA")
	debit["pix"] = []any{object{
		"endToEndId": endToEndID(ref.Reference), "txid": ref.Reference, "valor": amount.String(), "horario": gatewaytest.Now.Format(stamp),
	}}
}

func (d *double) Fail(ref payment.DebitRef) {
	d.mu.Lock()
	defer d.mu.Unlock()
	debit := d.autopay.debits[ref.Reference]
	attempt := newest(debit)
	debit["status"] = "ATIVA"
	step(attempt, "REJEITADA")
	attempt["rejeicao"] = object{"codigo": "AM02", "descricao": "Valor acima do limite do pagador"}
}

func (d *double) GiveBack(ref payment.DebitRef, amount money.Cents) {
	d.mu.Lock()
	defer d.mu.Unlock()
	pix := d.autopay.debits[ref.Reference]["pix"].([]any)[0].(object)
	list, _ := pix["devolucoes"].([]any)
	pix["devolucoes"] = append(list, returned(len(list), amount, "DEVOLVIDO"))
}

func (d *double) AuthorisationCallback(reference string) payment.Callback {
	d.mu.Lock()
	defer d.mu.Unlock()
	rec := d.recOf(reference)
	told := object{"idRec": rec["idRec"], "status": rec["status"], "atualizacao": rec["atualizacao"]}
	return d.calls("webhookrec", "recs", "RecNotification", told)
}

func (d *double) DebitCallback(ref payment.DebitRef) payment.Callback {
	d.mu.Lock()
	defer d.mu.Unlock()
	debit := d.autopay.debits[ref.Reference]
	told := object{}
	for _, field := range []string{"idRec", "txid", "status", "atualizacao", "tentativas", "pix"} {
		told[field] = debit[field]
	}
	return d.calls("webhookcobr", "cobsr", "CobRNotification", told)
}

// calls is a callback with what the document says of its kind.
func (d *double) calls(hook, list, schema string, told object) payment.Callback {
	address, err := url.Parse(d.hooks[hook] + "/" + strings.TrimPrefix(hook, "webhook"))
	if err != nil || d.hooks[hook] == "" {
		panic("no webhook was registered")
	}
	encoded, _ := json.Marshal(object{list: []any{told}})
	var decoded map[string][]any
	_ = json.Unmarshal(encoded, &decoded)
	if err := apidoctest.Bacen().CheckSchema(schema, decoded[list][0]); err != nil {
		panic(err)
	}
	return payment.Callback{Header: http.Header{}, Query: address.Query(), Body: encoded}
}
