package bacen_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
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
	clientID     = "Client_Id_9a8b7c6d5e4f"
	clientSecret = "Client_Secret_1f2e3d4c5b6a"
	pixKey       = "71cdf9ba-c695-4e3c-b010-abb521a3f1be"
	stamp        = "2006-01-02T15:04:05.000Z"
)

var basic = base64.StdEncoding.EncodeToString([]byte(clientID + ":" + clientSecret))

// double is a bank in memory. It speaks as the central bank's document says, or
// as Efí does.
type double struct {
	mu      sync.Mutex
	mux     *http.ServeMux
	path    string // of tokens
	proves  func(*http.Request) bool
	efi     bool // it refuses in Efí's words
	cobs    map[string]map[string]any
	webhook string            // as it was registered
	hooks   map[string]string // those of PIX Automático, likewise
	autopay autopay
	blind   bool // the application may not read webhooks
	tokens  int  // how many were given out
	revoked int  // tokens up to this one are no longer accepted
	apart   bool // codes are not returned with the charge
}

func newDouble(base string) *double {
	d := &double{
		mux: http.NewServeMux(), path: "/oauth/token", proves: provesByBasic, cobs: map[string]map[string]any{},
		hooks: map[string]string{},
	}
	d.mux.HandleFunc("PUT "+base+"/cob/{txid}", d.create)
	d.mux.HandleFunc("GET "+base+"/cob/{txid}", d.read)
	d.mux.HandleFunc("PATCH "+base+"/cob/{txid}", d.remove)
	d.mux.HandleFunc("PUT "+base+"/cobv/{txid}", d.create)
	d.mux.HandleFunc("GET "+base+"/cobv/{txid}", d.read)
	d.mux.HandleFunc("PATCH "+base+"/cobv/{txid}", d.remove)
	d.mux.HandleFunc("GET "+base+"/loc/{id}/qrcode", d.code)
	d.mux.HandleFunc("GET "+base+"/cob", d.list)
	d.mux.HandleFunc("PUT "+base+"/webhook/{key}", d.register)
	d.mux.HandleFunc("GET "+base+"/webhook/{key}", d.registered)
	d.handleAutopay(base)
	return d
}

// newEfi is Efí, which departs from the document in how it refuses.
func newEfi() *double {
	d := newDouble("/v2")
	d.efi = true
	return d
}

// guard holds the double and its callers to the central bank's document.
func guard(t *testing.T, d *double, base string) http.Handler {
	t.Helper()
	guard := &apidoctest.Guard{
		Document: apidoctest.Bacen(), Double: d, Base: base,
		Besides: []string{"POST " + d.path},
		Query:   []string{"gw-dev-app-key"}, // Banco do Brasil's
		Broken:  func(err error) { t.Error(err) },
	}
	if d.efi {
		guard.Besides = append(guard.Besides, "GET "+base+"/loc/")
		guard.Free = []int{400, 403, 404, 409}
	}
	return guard
}

func (d *double) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(r.TLS.PeerCertificates) == 0 {
		panic("a call without a certificate came through")
	}
	if r.URL.Path == d.path {
		d.giveToken(w, r)
		return
	}
	var n int
	if _, err := fmt.Sscanf(r.Header.Get("Authorization"), "Bearer token-of-bank-%d", &n); err != nil || n > d.tokens || n <= d.revoked {
		d.refuse(w, 401, "invalid_token", "The access token is invalid")
		return
	}
	d.mux.ServeHTTP(w, r)
}

func provesByBasic(r *http.Request) bool {
	id, secret, _ := r.BasicAuth()
	return id == clientID && secret == clientSecret
}

func (d *double) giveToken(w http.ResponseWriter, r *http.Request) {
	if !d.proves(r) {
		reply(w, 401, map[string]string{"error": "invalid_client", "error_description": "Invalid or inactive credentials"})
		return
	}
	d.tokens++
	reply(w, 200, map[string]any{"access_token": fmt.Sprintf("token-of-bank-%d", d.tokens), "token_type": "Bearer", "expires_in": 3600})
}

func makes(r *http.Request) bool {
	return r.Method == http.MethodPut && strings.Contains(r.URL.Path, "/cob")
}

func reply(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	if status >= 400 {
		w.Header().Set("Content-Type", "application/problem+json")
	}
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

// refuse says no in the words of the document, or in Efí's.
func (d *double) refuse(w http.ResponseWriter, status int, name, message string) {
	if d.efi {
		reply(w, status, map[string]string{"nome": name, "mensagem": message})
		return
	}
	reply(w, status, map[string]any{
		"type": "https://pix.bcb.gov.br/api/v2/error/" + name, "title": name, "status": status, "detail": message,
	})
}

func body(r *http.Request) map[string]any {
	var b map[string]any
	if json.NewDecoder(r.Body).Decode(&b) != nil {
		return nil
	}
	return b
}

func (d *double) create(w http.ResponseWriter, r *http.Request) {
	b, txID := body(r), r.PathValue("txid")
	switch {
	case d.cobs[txID] != nil && d.efi:
		d.refuse(w, 409, "txid_duplicado", "Campo txid informado já foi utilizado em outra cobrança.")
		return
	case d.cobs[txID] != nil, b["chave"] != pixKey:
		d.refuse(w, 400, "CobOperacaoInvalida", "A cobrança não pode ser criada")
		return
	}
	location := "pix.example.com/qr/v2/" + txID
	b["txid"], b["status"], b["revisao"], b["location"] = txID, "ATIVA", 0, location
	b["loc"] = map[string]any{
		"id": 789 + len(d.cobs), "txid": txID, "location": location, "tipoCob": kindOf(r), "criacao": gatewaytest.Now.Format(stamp),
	}
	if kindOf(r) == "cobv" {
		receiver := map[string]any{"logradouro": "Rua A", "cidade": "Recife", "uf": "PE", "cep": "70011750"}
		maps.Copy(b, receiver) // the document wants it of the charge, too
		maps.Copy(receiver, map[string]any{"cnpj": "11222333000181", "nome": "Ana Internet"})
		b["recebedor"] = receiver
	}
	b["calendario"].(map[string]any)["criacao"] = gatewaytest.Now.Format(stamp)
	if !d.apart {
		b["pixCopiaECola"] = codeOf(txID)
	}
	d.cobs[txID] = b
	reply(w, 201, b)
}

// kindOf is cob or cobv.
func kindOf(r *http.Request) string {
	if strings.Contains(r.URL.Path, "/cobv/") {
		return "cobv"
	}
	return "cob"
}

// found is the charge of a call, if it is of its kind.
func (d *double) found(r *http.Request) (map[string]any, bool) {
	c, ok := d.cobs[r.PathValue("txid")]
	return c, ok && c["loc"].(map[string]any)["tipoCob"] == kindOf(r)
}

func codeOf(txID string) string {
	return "00020101021226br.gov.bcb.pix2561pix.example.com/qr/v2/" + txID
}

func (d *double) read(w http.ResponseWriter, r *http.Request) {
	c, ok := d.found(r)
	if !ok {
		d.refuse(w, 404, "NaoEncontrado", "Nenhuma cobrança encontrada para o txid informado")
		return
	}
	reply(w, 200, c)
}

func (d *double) list(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	reply(w, 200, map[string]any{
		"parametros": map[string]any{
			"inicio": query.Get("inicio"), "fim": query.Get("fim"),
			"paginacao": map[string]any{"paginaAtual": 0, "itensPorPagina": 1, "quantidadeDePaginas": 1, "quantidadeTotalDeItens": 0},
		},
		"cobs": []any{},
	})
}

func (d *double) code(w http.ResponseWriter, r *http.Request) {
	for txID, cob := range d.cobs {
		if fmt.Sprint(cob["loc"].(map[string]any)["id"]) == r.PathValue("id") {
			reply(w, 200, map[string]string{"qrcode": codeOf(txID), "imagemQrcode": "data:image/png;base64,iVBORw0KGgo="})
			return
		}
	}
	d.refuse(w, 404, "location_nao_encontrada", "location")
}

func (d *double) remove(w http.ResponseWriter, r *http.Request) {
	c, ok := d.found(r)
	switch {
	case !ok:
		d.refuse(w, 404, "NaoEncontrado", "Nenhuma cobrança encontrada para o txid informado")
	case c["status"] != "ATIVA":
		d.refuse(w, 400, "CobOperacaoInvalida", "A cobrança não está ativa")
	default:
		c["status"] = body(r)["status"]
		reply(w, 200, c)
	}
}

// register answers with nothing, as the document says.
func (d *double) register(w http.ResponseWriter, r *http.Request) {
	if d.efi && r.Header.Get("X-Skip-Mtls-Checking") != "true" || r.PathValue("key") != pixKey {
		d.refuse(w, 400, "WebhookOperacaoInvalida", "A URL não respondeu com o código HTTP esperado: 400")
		return
	}
	d.webhook, _ = body(r)["webhookUrl"].(string)
	w.WriteHeader(http.StatusOK)
}

func (d *double) registered(w http.ResponseWriter, _ *http.Request) {
	switch {
	case d.blind:
		d.refuse(w, 403, "AcessoNegado", "O escopo webhook.read falta")
	case d.webhook == "":
		d.refuse(w, 404, "NaoEncontrado", "Nenhum webhook")
	default:
		reply(w, 200, map[string]string{
			"webhookUrl": d.webhook, "cnpj": "11222333000181", "criacao": gatewaytest.Now.Format(stamp),
		})
	}
}

func (d *double) Charges() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.cobs)
}

func (d *double) Asked(reference string) money.Cents {
	d.mu.Lock()
	defer d.mu.Unlock()
	amount, err := money.Parse(d.cobs[reference]["valor"].(map[string]any)["original"].(string))
	if err != nil {
		panic(err)
	}
	return amount
}

func endToEndID(reference string) string { return "E00416968202611151200" + reference[21:] }

func (d *double) Pay(reference string, amount money.Cents) {
	d.mu.Lock()
	defer d.mu.Unlock()
	c := d.cobs[reference]
	c["status"] = "CONCLUIDA"
	c["pix"] = []any{map[string]any{
		"endToEndId": endToEndID(reference), "txid": reference, "valor": amount.String(), "chave": pixKey, "horario": gatewaytest.Now.Format(stamp),
	}}
}

// Refund gives a part back, and also records a refund that failed.
func (d *double) Refund(reference string, amount money.Cents) {
	d.mu.Lock()
	defer d.mu.Unlock()
	pix := d.cobs[reference]["pix"].([]any)[0].(map[string]any)
	list, _ := pix["devolucoes"].([]any)
	pix["devolucoes"] = append(list, returned(len(list), amount, "DEVOLVIDO"), returned(len(list)+1, 7_00, "NAO_REALIZADO"))
}

func returned(n int, amount money.Cents, status string) map[string]any {
	return map[string]any{
		"id": fmt.Sprint(n), "rtrId": fmt.Sprintf("D%031d", n), "valor": amount.String(), "status": status,
		"horario": map[string]any{
			"solicitacao": gatewaytest.Now.Add(-time.Minute).Format(stamp), "liquidacao": gatewaytest.Now.Format(stamp),
		},
	}
}

// Callback arrives at the address that was registered, with what banks add to its
// end. What it says of a PIX is as the document says.
func (d *double) Callback(reference string) payment.Callback {
	d.mu.Lock()
	defer d.mu.Unlock()
	address, err := url.Parse(d.webhook + "/pix")
	if err != nil || address.Path == "" {
		panic("no webhook was registered")
	}
	received := d.cobs[reference]["pix"].([]any)[0]
	if err := apidoctest.Bacen().CheckSchema("Pix", received); err != nil {
		panic(err)
	}
	list := []any{received}
	if d.efi { // it reports sent PIX, too
		list = append([]any{map[string]any{"endToEndId": "E0", "tipo": "SOLICITACAO", "valor": "1.00", "status": "EM_PROCESSAMENTO"}}, list...)
	}
	encoded, _ := json.Marshal(map[string]any{"pix": list})
	return payment.Callback{Header: http.Header{}, Query: address.Query(), Body: encoded}
}

func (d *double) Forgeries(reference string) map[string]payment.Callback {
	with := func(hmac ...string) payment.Callback {
		callback := d.Callback(reference)
		callback.Query["hmac"] = hmac
		return callback
	}
	genuine := d.Callback(reference).Query["hmac"][0]
	return map[string]payment.Callback{
		"no proof":      with(),
		"an empty one":  with(""),
		"another proof": with(strings.Repeat("0", 64)),
		"half of it":    with(genuine[:32]),
		"two of them":   with("x", genuine),
		"the secret":    with(clientSecret),
	}
}
