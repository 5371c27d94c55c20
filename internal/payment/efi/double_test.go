package efi_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"carteira/internal/payment"
	"carteira/internal/payment/gatewaytest"
	"carteira/internal/platform/money"
)

const (
	clientID     = "Client_Id_9a8b7c6d5e4f"
	clientSecret = "Client_Secret_1f2e3d4c5b6a"
	pixKey       = "71cdf9ba-c695-4e3c-b010-abb521a3f1be"
)

// double is Efí in memory.
type double struct {
	mu      sync.Mutex
	mux     *http.ServeMux
	cobs    map[string]map[string]any
	webhook string // as it was registered
	tokens  int    // how many were given out
	revoked int    // tokens up to this one are no longer accepted
	apart   bool   // codes stand at their location only
}

func newDouble() *double {
	d := &double{mux: http.NewServeMux(), cobs: map[string]map[string]any{}}
	d.mux.HandleFunc("PUT /v2/cob/{txid}", d.create)
	d.mux.HandleFunc("GET /v2/cob/{txid}", d.read)
	d.mux.HandleFunc("PATCH /v2/cob/{txid}", d.remove)
	d.mux.HandleFunc("GET /v2/loc/{id}/qrcode", d.code)
	d.mux.HandleFunc("GET /v2/cob", func(w http.ResponseWriter, r *http.Request) {
		if _, err := time.Parse(time.RFC3339, r.URL.Query().Get("inicio")); err != nil {
			refuse(w, 400, "cob_consulta_invalida", "inicio")
			return
		}
		reply(w, 200, map[string]any{"parametros": map[string]any{}, "cobs": []any{}})
	})
	d.mux.HandleFunc("PUT /v2/webhook/{key}", d.register)
	return d
}

func (d *double) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(r.TLS.PeerCertificates) == 0 {
		panic("a call without a certificate came through")
	}
	if r.URL.Path == "/oauth/token" {
		d.giveToken(w, r)
		return
	}
	var n int
	if _, err := fmt.Sscanf(r.Header.Get("Authorization"), "Bearer token-of-efi-%d", &n); err != nil || n > d.tokens || n <= d.revoked {
		refuse(w, 401, "invalid_token", "The access token is invalid")
		return
	}
	d.mux.ServeHTTP(w, r)
}

func (d *double) giveToken(w http.ResponseWriter, r *http.Request) {
	id, secret, _ := r.BasicAuth()
	if id != clientID || secret != clientSecret || body(r)["grant_type"] != "client_credentials" {
		reply(w, 401, map[string]string{"error": "invalid_client", "error_description": "Invalid or inactive credentials"})
		return
	}
	d.tokens++
	reply(w, 200, map[string]any{"access_token": fmt.Sprintf("token-of-efi-%d", d.tokens), "token_type": "Bearer", "expires_in": 3600, "scope": "cob.read cob.write"})
}

func makes(r *http.Request) bool {
	return r.Method == http.MethodPut && strings.HasPrefix(r.URL.Path, "/v2/cob/")
}

func reply(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

func refuse(w http.ResponseWriter, status int, name, message string) {
	reply(w, status, map[string]string{"nome": name, "mensagem": message})
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
	asked, _ := b["valor"].(map[string]any)["original"].(string)
	_, err := money.Parse(asked)
	switch {
	case d.cobs[txID] != nil:
		refuse(w, 409, "txid_duplicado", "Campo txid informado já foi utilizado em outra cobrança.")
		return
	case b["chave"] != pixKey || err != nil || len(txID) < 26 || len(txID) > 35 || b["pixCopiaECola"] != nil || b["loc"] != nil:
		reply(w, 400, map[string]any{"type": "https://pix.bcb.gov.br/api/v2/error/CobOperacaoInvalida", "title": "Cobrança inválida.", "status": 400, "detail": "A requisição não respeita o schema."})
		return
	}
	b["txid"], b["status"], b["revisao"] = txID, "ATIVA", 0
	b["loc"] = map[string]any{"id": 789 + len(d.cobs), "location": "pix.example.com/qr/v2/" + txID, "tipoCob": "cob"}
	b["calendario"].(map[string]any)["criacao"] = gatewaytest.Now.Format("2006-01-02T15:04:05.000Z")
	if !d.apart {
		b["pixCopiaECola"] = codeOf(txID)
	}
	d.cobs[txID] = b
	reply(w, 201, b)
}

func codeOf(txID string) string {
	return "00020101021226br.gov.bcb.pix2561pix.example.com/qr/v2/" + txID
}

func (d *double) read(w http.ResponseWriter, r *http.Request) {
	c, ok := d.cobs[r.PathValue("txid")]
	if !ok {
		refuse(w, 404, "cobranca_nao_encontrada", "Nenhuma cobrança encontrada para o txid informado")
		return
	}
	reply(w, 200, c)
}

func (d *double) code(w http.ResponseWriter, r *http.Request) {
	for txID, cob := range d.cobs {
		if fmt.Sprint(cob["loc"].(map[string]any)["id"]) == r.PathValue("id") {
			reply(w, 200, map[string]string{"qrcode": codeOf(txID), "imagemQrcode": "data:image/png;base64,iVBORw0KGgo="})
			return
		}
	}
	refuse(w, 404, "location_nao_encontrada", "location")
}

func (d *double) remove(w http.ResponseWriter, r *http.Request) {
	c, ok := d.cobs[r.PathValue("txid")]
	switch {
	case !ok:
		refuse(w, 404, "cobranca_nao_encontrada", "Nenhuma cobrança encontrada para o txid informado")
	case c["status"] != "ATIVA":
		refuse(w, 400, "cobranca_nao_ativa", "A cobrança não está ativa")
	default:
		c["status"] = body(r)["status"]
		reply(w, 200, c)
	}
}

func (d *double) register(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("X-Skip-Mtls-Checking") != "true" || r.PathValue("key") != pixKey {
		refuse(w, 400, "webhook_invalido", "A URL não respondeu com o código HTTP esperado: 400")
		return
	}
	d.webhook, _ = body(r)["webhookUrl"].(string)
	reply(w, 201, map[string]string{"webhookUrl": d.webhook})
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
		"endToEndId": endToEndID(reference), "txid": reference, "valor": amount.String(), "chave": pixKey, "horario": gatewaytest.Now.Format("2006-01-02T15:04:05.000Z"),
	}}
}

// Refund gives a part back, beside one that failed.
func (d *double) Refund(reference string, amount money.Cents) {
	d.mu.Lock()
	defer d.mu.Unlock()
	pix := d.cobs[reference]["pix"].([]any)[0].(map[string]any)
	list, _ := pix["devolucoes"].([]any)
	pix["devolucoes"] = append(list,
		map[string]any{"id": fmt.Sprint(len(list)), "valor": amount.String(), "status": "DEVOLVIDO", "horario": map[string]any{
			"solicitacao": "2026-11-15T11:59:00.000Z", "liquidacao": "2026-11-15T12:00:00.000Z",
		}},
		map[string]any{"id": fmt.Sprint(len(list) + 1), "valor": "7.00", "status": "NAO_REALIZADO"})
}

// Callback arrives at the address that was registered, with what Efí adds to
// its end.
func (d *double) Callback(reference string) payment.Callback {
	d.mu.Lock()
	defer d.mu.Unlock()
	address, err := url.Parse(d.webhook + "/pix")
	if err != nil || address.Path == "" {
		panic("no webhook was registered")
	}
	encoded, _ := json.Marshal(map[string]any{"pix": []any{
		map[string]any{"endToEndId": "E0", "tipo": "SOLICITACAO", "valor": "1.00", "status": "EM_PROCESSAMENTO"}, // one that was sent
		d.cobs[reference]["pix"].([]any)[0],
	}})
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

// identity is a certificate of a client.
type identity struct{ certificate, key string }

var identities struct {
	sync.Once
	good, other identity
}

// certificates makes two: one that the double accepts, and another.
func certificates(t *testing.T) (good, other identity) {
	t.Helper()
	identities.Do(func() { identities.good, identities.other = newIdentity(), newIdentity() })
	return identities.good, identities.other
}

func newIdentity() identity {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "conta"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		panic(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		panic(err)
	}
	return identity{
		certificate: string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})),
		key:         string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})),
	}
}

// newLine starts a server that lets nobody in without the good certificate.
func newLine(t *testing.T, double *double) *gatewaytest.Line {
	t.Helper()
	good, _ := certificates(t)
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM([]byte(good.certificate))
	return gatewaytest.NewLine(t, double, makes, func(server *httptest.Server) {
		server.TLS = &tls.Config{ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool}
		server.Config.ErrorLog = quiet()
	})
}

var basic = base64.StdEncoding.EncodeToString([]byte(clientID + ":" + clientSecret))
