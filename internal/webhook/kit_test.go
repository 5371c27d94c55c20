package webhook

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"sync"
	"testing"
	"time"

	"carteira/internal/account"
	"carteira/internal/event"
	"carteira/internal/platform/input"
	"carteira/internal/platform/outbound"
	"carteira/internal/platform/secret"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/sqldb/sqldbtest"
)

// patience bounds what must end by itself; no test waits for it to pass.
const patience = 60 * time.Second

// noon is the morning of 31 January 2026 in São Paulo.
var noon = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)

// schedule is that of the contract.
var schedule = []time.Duration{0, time.Minute, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 6 * time.Hour}

// world is a company and the service, on a clock that tests set.
type world struct {
	*Service
	t     *testing.T
	url   string
	clock *sqldbtest.Clock
	box   *secret.Box
	log   *event.Log
	actor account.Actor
}

func each(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		t.Helper()
		test(t, newWorld(t, engine))
	})
}

func newWorld(t *testing.T, engine sqldb.Engine) *world {
	t.Helper()
	w := &world{t: t, url: sqldbtest.URL(t, engine), clock: sqldbtest.NewClock(noon), box: secret.NewBox(secret.NewKey())}
	w = w.another(t)
	company, _, err := account.New(w.db, account.Config{}).CreateCompany(t.Context(), account.ReadNewCompany(input.FromStrings(map[string]string{
		"name": "Rede Clara", "email": "paula@example.com", "user_name": "Paula Ramos",
	})))
	must(t, err)
	w.actor = account.System(company, "test")
	return w
}

// another is the same world seen by another process.
func (w *world) another(t *testing.T) *world {
	t.Helper()
	other := *w
	db := sqldbtest.Open(t, w.url, sqldbtest.WithClock(w.clock))
	gate := outbound.NewGate([]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, nil)
	client := outbound.NewClient(gate, outbound.Options{Timeout: Timeout, RootCAs: testCAs(), UserAgent: "Carteira/1.0"})
	other.log = &event.Log{}
	other.Service = New(db, other.log, w.box, gate, client, Options{PerCompany: 100, Delays: schedule})
	return &other
}

// testCAs trusts the certificate of every httptest server.
var testCAs = sync.OnceValue(func() *x509.CertPool {
	s := httptest.NewTLSServer(nil)
	defer s.Close()
	pool := x509.NewCertPool()
	pool.AddCert(s.Certificate())
	return pool
})

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// subscribe makes a webhook and returns its id and secret.
func (w *world) subscribe(url string, names ...event.Name) (int64, string) {
	w.t.Helper()
	list, err := json.Marshal(names)
	must(w.t, err)
	in, err := input.FromJSON(fmt.Appendf(nil, `{"url":%q,"events":%s}`, url, list))
	must(w.t, err)
	made, plain, err := w.Create(w.t.Context(), w.actor, in)
	must(w.t, err)
	return made.ID, plain
}

// put changes a webhook.
func (w *world) put(id int64, fields string) Webhook {
	w.t.Helper()
	in, err := input.FromJSON([]byte(fields))
	must(w.t, err)
	changed, err := w.Update(w.t.Context(), w.actor, id, in)
	must(w.t, err)
	return changed
}

func (w *world) find(id int64) Webhook {
	w.t.Helper()
	found, err := w.Find(w.t.Context(), w.actor, id)
	must(w.t, err)
	return found
}

// happen records events in one transaction and returns their ids.
func (w *world) happen(n int, name event.Name) (ids []string) {
	w.t.Helper()
	must(w.t, w.db.Write(w.t.Context(), func(tx *sqldb.Tx) error {
		ids = nil
		for range n {
			e, err := w.log.RecordEvent(w.t.Context(), tx, w.actor.Source(), name, map[string]any{"n": 1})
			if err != nil {
				return err
			}
			ids = append(ids, e.ID)
		}
		return nil
	}))
	return ids
}

// round claims what is due, sends it and returns how many there were.
func (w *world) round() int {
	w.t.Helper()
	e := newEngine(w.Service, slog.New(slog.DiscardHandler))
	n, err := e.round(w.t.Context())
	must(w.t, err)
	e.sending.Wait()
	return n
}

// rounds goes on until nothing is due.
func (w *world) rounds() (all int) {
	w.t.Helper()
	for range 5000 {
		n := w.round()
		if n == 0 {
			return all
		}
		all += n
	}
	w.t.Fatal("there is always more")
	return 0
}

// run runs the engine until the test stops it.
func (w *world) run() (stop func()) {
	ctx, cancel := context.WithCancel(w.t.Context())
	var running sync.WaitGroup
	running.Go(func() { w.Run(ctx, slog.New(slog.DiscardHandler)) })
	return func() {
		cancel()
		running.Wait()
	}
}

// history is the deliveries of a webhook, oldest first.
func (w *world) history(id int64) []Delivery {
	w.t.Helper()
	list, _, err := w.Deliveries(w.t.Context(), w.actor, id, DeliveryFilter{}, input.Page{Number: 1, Size: 10_000})
	must(w.t, err)
	for i, j := 0, len(list)-1; i < j; i, j = i+1, j-1 {
		list[i], list[j] = list[j], list[i]
	}
	return list
}

// count tells how many deliveries of a webhook have each status.
func (w *world) count(id int64) map[Status]int {
	w.t.Helper()
	n := map[Status]int{}
	for _, d := range w.history(id) {
		n[d.Status]++
	}
	return n
}

func (w *world) exec(text string, args ...any) {
	w.t.Helper()
	must(w.t, w.db.Write(w.t.Context(), func(tx *sqldb.Tx) error {
		_, err := tx.Exec(w.t.Context(), text, args...)
		return err
	}))
}

// receiver keeps what it gets and answers as it is told.
type receiver struct {
	*httptest.Server
	mu     sync.Mutex
	status int
	header map[string]string
	meet   func(gone <-chan struct{}) // runs before the answer; gone tells that nobody waits for it any more
	got    []message
	now    int // requests under way
	most   int
}

type message struct {
	header http.Header
	body   string
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{status: http.StatusOK}
	r.Server = httptest.NewUnstartedServer(r)
	r.Config.ErrorLog = log.New(io.Discard, "", 0) // of connections that were not needed after all
	r.StartTLS()
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) ServeHTTP(rw http.ResponseWriter, req *http.Request) {
	body, _ := io.ReadAll(req.Body)
	r.mu.Lock()
	r.got = append(r.got, message{req.Header.Clone(), string(body)})
	r.now++
	r.most = max(r.most, r.now)
	meet := r.meet
	r.mu.Unlock()
	if meet != nil {
		meet(req.Context().Done())
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now--
	for name, value := range r.header {
		rw.Header().Set(name, value)
	}
	rw.WriteHeader(r.status)
}

func (r *receiver) answer(status int, header ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status, r.header = status, map[string]string{}
	for i := 0; i < len(header); i += 2 {
		r.header[header[i]] = header[i+1]
	}
}

func (r *receiver) messages() []message {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]message(nil), r.got...)
}

func (r *receiver) busiest() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.most
}

// times is how often each event came.
func (r *receiver) times() map[string]int {
	n := map[string]int{}
	for _, m := range r.messages() {
		n[m.header.Get("X-Service-Delivery")]++
	}
	return n
}

// wantSigned checks a signature as a receiver would.
func wantSigned(t *testing.T, key string, m message) {
	t.Helper()
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(m.header.Get("X-Service-Timestamp") + "." + m.body))
	if want := "sha256=" + hex.EncodeToString(mac.Sum(nil)); m.header.Get("X-Service-Signature") != want {
		t.Errorf("signed %s, want %s", m.header.Get("X-Service-Signature"), want)
	}
}

// wantOnce wants each event to have come once, and nothing else.
func wantOnce(t *testing.T, r *receiver, ids []string) {
	t.Helper()
	times := r.times()
	for _, id := range ids {
		if times[id] != 1 {
			t.Errorf("%s came %d times", id, times[id])
		}
	}
	if len(times) != len(ids) {
		t.Errorf("%d events came, want %d", len(times), len(ids))
	}
}

func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for late := time.Now().Add(patience); !condition(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(late) {
			t.Fatalf("still not so: %s", what)
		}
	}
}
