package browser

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// evolution is a double of the bridge: one instance, missing at first, which a phone
// scans when the test says so. The room's own test has a stricter one.
type evolution struct {
	mu    sync.Mutex
	state string // "": there is no instance; else close, connecting, open
}

func (e *evolution) is(state string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.state = state
}

func (e *evolution) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e.mu.Lock()
	defer e.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	operation, name, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/instance/"), "/")
	switch key := r.Header.Get("apikey"); {
	case name != "" && e.state == "":
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprintf(w, `{"status":404,"error":"Not Found","response":{"message":["The \"%s\" instance does not exist"]}}`, name)
	case key != "chave-da-ponte":
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, `{"status":401,"error":"Unauthorized","response":{"message":"Unauthorized"}}`)
	case operation == "create":
		e.state = "close"
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, `{"instance":{"instanceName":"carteira-1","status":"close"},"hash":"5E0B"}`)
	case operation == "fetchInstances" && e.state == "":
		_, _ = io.WriteString(w, `[]`)
	case operation == "fetchInstances":
		_, _ = io.WriteString(w, `[{"name":"carteira-1","connectionStatus":"open","ownerJid":"5535987654321@s.whatsapp.net"}]`)
	case operation == "connect" && e.state != "open":
		e.state = "connecting"
		fmt.Fprintf(w, `{"pairingCode":null,"code":"2@%s","base64":"data:image/png;base64,AA","count":1}`, strings.Repeat("y8eK+bjtEjUWy9/FOM", 12))
	case operation == "logout":
		e.state = "close"
		_, _ = io.WriteString(w, `{"status":"SUCCESS","error":false,"response":{"message":"Instance logged out"}}`)
	case operation == "connect" || operation == "connectionState":
		fmt.Fprintf(w, `{"instance":{"instanceName":"%s","state":"%s"}}`, name, e.state)
	default:
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, `{"key":{"id":"BAE594145F4C59B4"},"status":"PENDING"}`)
	}
}

// A phone is connected by its QR code inside the panel, which sees by itself that the
// code was scanned, and sends a test from it.
func TestPhoneIsConnectedByItsCode(t *testing.T) {
	_, b := newCompany(t)
	bridge := &evolution{}
	server := httptest.NewTLSServer(bridge)
	defer server.Close()
	b.begin()
	b.menu("/messages")
	b.click(`main a[href="/messages/channels/new"]`)
	b.click(`main a[href="/messages/channels/new?kind=evolution"]`)
	b.fill("base_url", server.URL)
	b.fill("apikey", "chave-da-ponte")
	b.press("Salvar")
	b.see("Agora conecte o celular", "ainda não tem a instância carteira-1")
	b.picture(t, rules(t), "phone-missing")
	b.press("Mostrar o QR code")
	b.see("Esperando o celular", "Dispositivos conectados")
	b.picture(t, rules(t), "phone-code")
	bridge.is("open")
	b.see("As mensagens saem de (35) 98765-4321")
	b.within("WhatsApp connected by its QR code", 5)
	b.picture(t, rules(t), "phone-connected")
	b.press("Desconectar")
	b.see("Desconectado")
	b.press("Mostrar o QR code")
	b.see("Esperando o celular")
	bridge.is("open")
	b.see("Conectado")
	b.within("and connected again", 2)
	b.visit("/messages/channels/1")
	b.see("As mensagens saem de (35) 98765-4321")
	b.fill("to", "(35) 98765-4321")
	b.press("Enviar um teste")
	b.see("O teste foi aceito")
}
