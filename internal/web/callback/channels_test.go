package callback_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"carteira/internal/account"
	"carteira/internal/platform/secret"
	"carteira/internal/platform/sqldb"
	"carteira/internal/reminder"
	"carteira/internal/reminder/whatsapp"
	"carteira/internal/web"
	"carteira/internal/web/callback"
	"carteira/test/kit/housetest"
	"carteira/test/kit/sqldbtest"
	"carteira/test/kit/worldtest"
)

const appSecret = "0f1e2d3c4b5a69788796a5b4c3d2e1f0"

// meta is a company with a WhatsApp number, and Meta that calls.
type meta struct {
	t         *testing.T
	reminders *reminder.Service
	channel   reminder.Channel
	address   string
	log       *housetest.Log
}

func newMeta(t *testing.T, engine sqldb.Engine) *meta {
	t.Helper()
	world := worldtest.New(t, engine)
	m := &meta{t: t, log: &housetest.Log{}}
	m.reminders = reminder.New(world.DB, secret.NewBox(secret.NewKey()), account.New(world.DB, account.Config{}), world.Customers,
		reminder.Options{Kinds: []reminder.Kind{whatsapp.Kind}})
	var err error
	m.channel, _, err = m.reminders.CreateChannel(t.Context(), world.Actor, m.reminders.ReadNewChannel(housetest.Form(
		"kind", "whatsapp_cloud", "phone_number_id", "106540352242922", "token", "EAAJB", "app_secret", appSecret)))
	housetest.Must(t, err)
	mux := http.NewServeMux()
	callback.RegisterChannels(mux, m.reminders)
	log := slog.New(slog.NewTextHandler(m.log, nil))
	served := httptest.NewServer(web.Observe(mux, log, web.NewMetrics(prometheus.NewRegistry())))
	t.Cleanup(served.Close)
	m.address = served.URL + "/channels/whatsapp_cloud/" + m.channel.CallbackKey
	return m
}

func (m *meta) call(method, address, body, key string) (int, string) {
	m.t.Helper()
	request, err := http.NewRequestWithContext(m.t.Context(), method, address, strings.NewReader(body))
	housetest.Must(m.t, err)
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(body))
	request.Header.Set("X-Hub-Signature-256", "sha256="+hex.EncodeToString(mac.Sum(nil)))
	response, err := http.DefaultClient.Do(request)
	housetest.Must(m.t, err)
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	housetest.Must(m.t, err)
	return response.StatusCode, string(answer)
}

func TestMetaMakesSureThatTheAddressIsOurs(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		meta := newMeta(t, engine)
		question := url.Values{"hub.mode": {"subscribe"}, "hub.verify_token": {meta.channel.VerifyToken}, "hub.challenge": {"1158201444"}}
		if status, answer := meta.call(http.MethodGet, meta.address+"?"+question.Encode(), "", ""); status != 200 || answer != "1158201444" {
			t.Errorf("%d %q", status, answer)
		}
		question.Set("hub.verify_token", "guess")
		if status, _ := meta.call(http.MethodGet, meta.address+"?"+question.Encode(), "", ""); status != 403 {
			t.Errorf("a guessed token: %d", status)
		}
		if strings.Contains(meta.log.String(), meta.channel.CallbackKey) {
			t.Errorf("the key is in the log:\n%s", meta.log)
		}
	})
}

func TestMetasReportsNeedItsSignature(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		meta := newMeta(t, engine)
		body := `{"object":"whatsapp_business_account","entry":[{"changes":[{"field":"messages","value":` +
			`{"statuses":[{"id":"wamid.unknown","status":"read","timestamp":"1769000000"}]}}]}]}`
		for name, tt := range map[string]struct {
			address, body, key string
			want               int
		}{
			"genuine, of a message of another system": {meta.address, body, appSecret, 200},
			"forged":          {meta.address, body, "another", 401},
			"guessed address": {strings.Replace(meta.address, meta.channel.CallbackKey, "guess", 1), body, appSecret, 404},
			"another kind":    {strings.Replace(meta.address, "whatsapp_cloud", "smtp", 1), body, appSecret, 404},
			"nonsense":        {meta.address, "<html>", appSecret, 422},
			"too large":       {meta.address, strings.Repeat(" ", 3<<20+1), appSecret, 413},
		} {
			if got, answer := meta.call(http.MethodPost, tt.address, tt.body, tt.key); got != tt.want {
				t.Errorf("%s: %d, want %d: %s", name, got, tt.want, answer)
			}
		}
		if strings.Contains(meta.log.String(), meta.channel.CallbackKey) {
			t.Errorf("the key is in the log:\n%s", meta.log)
		}
	})
}

// counted is a body that knows how much of it was read.
type counted struct {
	io.Reader
	read int
}

func (c *counted) Read(into []byte) (int, error) {
	n, err := c.Reader.Read(into)
	c.read += n
	return n, err
}

func TestBodiesOfStrangersAreNotRead(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		meta := newMeta(t, engine)
		mux := http.NewServeMux()
		callback.RegisterChannels(mux, meta.reminders)
		for key, read := range map[string]bool{meta.channel.CallbackKey: true, strings.Repeat("x", len(meta.channel.CallbackKey)): false} {
			body := &counted{Reader: strings.NewReader(strings.Repeat("a", 1<<20))}
			w := httptest.NewRecorder()
			mux.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/channels/whatsapp_cloud/"+key, body))
			if (body.read > 0) != read {
				t.Errorf("of a body under %s %d bytes were read, answered %d", key, body.read, w.Code)
			}
		}
	})
}
