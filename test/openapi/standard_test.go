package openapi

import (
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// message is a delivery as a receiver got it.
type message struct {
	header http.Header
	body   []byte
}

// receiver is a server on this machine, by the name localhost and without TLS,
// as n8n is on one's own machine.
func receiver(t *testing.T) (string, <-chan message) {
	t.Helper()
	got := make(chan message, 1)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- message{r.Header, body}
	}))
	t.Cleanup(server.Close)
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	must(t, err)
	return "http://localhost:" + port + "/webhook/x", got
}

func (s *server) post(t *testing.T, path, body string, into any) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+s.address+"/api/v1"+path, strings.NewReader(body))
	must(t, err)
	req.Header.Set("Authorization", "Bearer "+s.token)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	must(t, err)
	defer resp.Body.Close() //nolint:errcheck // read to its end below
	answer, err := io.ReadAll(resp.Body)
	must(t, err)
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s %s", path, resp.Status, answer)
	}
	must(t, json.Unmarshal(answer, into))
}

// The libraries of Standard Webhooks take our secret and our deliveries as they
// are, and refuse one that was changed on its way.
func TestLibrariesOfStandardWebhooksVerifyDeliveries(t *testing.T) {
	t.Parallel()
	service := live(t)
	address, got := receiver(t)
	var made struct {
		Data struct{ Secret string }
	}
	service.post(t, "/webhooks", `{"url":"`+address+`","events":["invoice.paid"]}`, &made)
	service.post(t, "/webhooks/2/test", "", &struct{}{})
	delivery := <-got
	verifier, err := standardwebhooks.NewWebhook(made.Data.Secret)
	must(t, err)
	must(t, verifier.Verify(delivery.body, delivery.header))
	forged := bytes.Replace(delivery.body, []byte("ping"), []byte("pong"), 1)
	if verifier.Verify(forged, delivery.header) == nil {
		t.Error("the Go library takes a forged body")
	}
	body, forgery := filepath.Join(t.TempDir(), "body"), filepath.Join(t.TempDir(), "forgery")
	must(t, os.WriteFile(body, delivery.body, 0o600))
	must(t, os.WriteFile(forgery, forged, 0o600))
	env := []string{"SECRET=" + made.Data.Secret}
	for _, name := range []string{"webhook-id", "webhook-timestamp", "webhook-signature"} {
		env = append(env, strings.ToUpper(strings.ReplaceAll(name, "-", "_"))+"="+delivery.header.Get(name))
	}
	if said := run(t, env, "node", "standard.mjs", body, forgery); said != "verified, and the forgery refused\n" {
		t.Error(said)
	}
}
