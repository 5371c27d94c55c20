package webhooktest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"carteira/test/kit/tlstest"
)

// Receiver records what it gets and answers as configured.
type Receiver struct {
	*httptest.Server
	// Meet runs before the answer; gone is closed when the caller has stopped
	// waiting.
	Meet func(gone <-chan struct{})

	mu     sync.Mutex
	status int
	header map[string]string
	got    []Message
	now    int // requests in flight
	most   int
}

// Message is a request that a receiver got.
type Message struct {
	Header http.Header
	Body   string
}

// NewReceiver starts a receiver that answers 200.
func NewReceiver(t *testing.T) *Receiver {
	t.Helper()
	receiver := &Receiver{status: http.StatusOK}
	receiver.Server = httptest.NewUnstartedServer(receiver)
	receiver.Config.ErrorLog = log.New(io.Discard, "", 0) // of connections that were not needed after all
	tlstest.Start(receiver.Server)
	t.Cleanup(receiver.Close)
	return receiver
}

// ServeHTTP is the receiver.
func (r *Receiver) ServeHTTP(rw http.ResponseWriter, req *http.Request) {
	body, _ := io.ReadAll(req.Body)
	r.mu.Lock()
	r.got = append(r.got, Message{req.Header.Clone(), string(body)})
	r.now++
	r.most = max(r.most, r.now)
	meet := r.Meet
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

// Answer makes the receiver answer so from now on.
func (r *Receiver) Answer(status int, header ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status, r.header = status, map[string]string{}
	for i := 0; i < len(header); i += 2 {
		r.header[header[i]] = header[i+1]
	}
}

// Messages are the requests that came so far.
func (r *Receiver) Messages() []Message {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.got)
}

// Busiest is how many requests were there at once at most.
func (r *Receiver) Busiest() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.most
}

// Times is how often each event came.
func (r *Receiver) Times() map[string]int {
	n := map[string]int{}
	for _, message := range r.Messages() {
		n[message.Header.Get("X-Service-Delivery")]++
	}
	return n
}

// WantSigned checks a signature as a receiver would.
func WantSigned(t *testing.T, key string, message Message) {
	t.Helper()
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(message.Header.Get("X-Service-Timestamp") + "." + message.Body))
	if want := "sha256=" + hex.EncodeToString(mac.Sum(nil)); message.Header.Get("X-Service-Signature") != want {
		t.Errorf("signed %s, want %s", message.Header.Get("X-Service-Signature"), want)
	}
}

// SignStandard is the signature of Standard Webhooks: the HMAC-SHA256 of id, timestamp and body with dots between them,
// keyed with the bytes that the text after whsec_ encodes.
func SignStandard(secret, eventID, timestamp string, body []byte) string {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		panic(err)
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(eventID + "." + timestamp + "." + string(body)))
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// WantOnce wants each event to have come once, and nothing else.
func WantOnce(t *testing.T, receiver *Receiver, ids []string) {
	t.Helper()
	times := receiver.Times()
	for _, id := range ids {
		if times[id] != 1 {
			t.Errorf("%s came %d times", id, times[id])
		}
	}
	if len(times) != len(ids) {
		t.Errorf("%d events came, want %d", len(times), len(ids))
	}
}
