//go:build linux

package main

import (
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"sync"
	"time"

	"carteira/test/kit/tlstest"
)

// marked finds the name of a customer of a trial in what is sent about it, and
// ofEvent what has happened.
var (
	marked  = regexp.MustCompile(`chaos-p?[0-9]+-[0-9]+`)
	ofEvent = regexp.MustCompile(`"event":\s*"([a-z._]+)"`)
)

// The events that are counted.
const (
	created = "customer.created"
	renewed = "customer.renewed"
	paid    = "invoice.paid"
)

var counted = []string{created, renewed, paid}

// nameOf is the event and the customer that a text is about.
func nameOf(text []byte) (event, customer string) {
	if found := ofEvent.FindSubmatch(text); found != nil {
		event = string(found[1])
	}
	return event, string(marked.Find(text))
}

// receiver is an integrator's server that writes down what came, and when.
type receiver struct {
	*httptest.Server
	mu    sync.Mutex
	first map[string]time.Time // by the event, the customer's name and the path
	times map[string]int       // by the event's id and the path it came to
	held  bool                 // nothing is taken
}

func newReceiver() *receiver {
	r := &receiver{first: map[string]time.Time{}, times: map[string]int{}}
	r.Server = httptest.NewUnstartedServer(http.HandlerFunc(r.receive))
	r.Config.ErrorLog = log.New(io.Discard, "", 0) // of those who are killed
	tlstest.Start(r.Server)
	return r
}

func (r *receiver) receive(_ http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return
	}
	event, customer := nameOf(body)
	place, now := event+customer+request.URL.Path, time.Now()
	for r.holds() {
		if pause(request.Context(), 10*time.Millisecond); request.Context().Err() != nil {
			return
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.times[request.Header.Get("X-Service-Delivery")+request.URL.Path]++
	if _, known := r.first[place]; !known {
		r.first[place] = now
	}
}

// hold has all that come wait until it ends.
func (r *receiver) hold(held bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.held = held
}

func (r *receiver) holds() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.held
}

// all counts what came, with what came again.
func (r *receiver) all() (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, times := range r.times {
		n += times
	}
	return n
}

// env makes a process trust the receiver and reach it.
func (r *receiver) env(dir string) ([]string, error) {
	file, err := os.CreateTemp(dir, "ca-*.pem")
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	err = pem.Encode(file, &pem.Block{Type: "CERTIFICATE", Bytes: r.Certificate().Raw})
	return []string{"SSL_CERT_FILE=" + file.Name(), "CARTEIRA_WEBHOOK_ALLOW_NETWORKS=127.0.0.0/8"}, err
}

// webhooks is how many the company has, so that each process sends for some.
const webhooks = 6

// path is where a webhook's deliveries come to.
func path(webhook int) string { return fmt.Sprintf("/healthy/%d", webhook) }

// arrivals are the times of the first arrivals, by event, customer and path.
type arrivals map[string]time.Time

func (r *receiver) arrivals() arrivals {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.first)
}

// last is when all webhooks had the event of a customer.
func (a arrivals) last(event, name string) (at time.Time, all bool) {
	for i := range webhooks {
		came, ok := a[event+name+path(i)]
		if !ok {
			return at, false
		}
		if came.After(at) {
			at = came
		}
	}
	return at, true
}

// repeated counts the deliveries that came more than once.
func (r *receiver) repeated() (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, times := range r.times {
		n += times - 1
	}
	return n
}
