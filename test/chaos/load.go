//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	writers = 4
	payers  = 2
	// pace is how long a writer rests between writes.
	pace = 80 * time.Millisecond
	// callTimeout is how long a caller waits for an answer before it repeats the
	// request, at another process if there is one.
	callTimeout = 5 * time.Second
)

// write is one customer that a caller makes, however often it must ask.
type write struct {
	name    string
	sent    time.Time // the first try
	acked   time.Time // zero: it was never acknowledged
	refused string    // an unexpected answer
}

// load is callers who write all the time, and customers who pay.
type load struct {
	lab    *lab
	client *http.Client
	stop   context.CancelFunc
	done   sync.WaitGroup
	abort  context.CancelFunc // of what was paid and is not settled
	paying sync.WaitGroup

	mu       sync.Mutex
	writes   []*write
	payments []*payment
	begun    int // customers who were to pay
	// internal counts answers of 500, which should have been 503.
	internal int
}

func startLoad(ctx context.Context, lab *lab) *load {
	after, abort := context.WithCancel(ctx)
	ctx, stop := context.WithCancel(ctx)
	w := &load{
		lab: lab, stop: stop, abort: abort,
		client: &http.Client{Timeout: callTimeout, Transport: &http.Transport{MaxIdleConnsPerHost: writers + payers}},
	}
	for i := range writers {
		w.done.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				w.create(ctx, i, map[string]any{"name": fmt.Sprintf("chaos-%d-%d", i, n)})
				if !lab.eager {
					pause(ctx, pace)
				}
			}
		})
	}
	for i := range payers {
		if lab.house.unpaid {
			break
		}
		w.done.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				w.payer(ctx, after, i, n)
				pause(ctx, pace)
			}
		})
	}
	return w
}

func pause(ctx context.Context, span time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(span):
	}
}

// create makes a customer and returns the answer; "" when there was none.
func (w *load) create(ctx context.Context, caller int, customer map[string]any) (text string) {
	x := &write{name: fmt.Sprint(customer["name"]), sent: time.Now()}
	w.mu.Lock()
	w.writes = append(w.writes, x)
	w.mu.Unlock()
	text, refused := w.repeat(ctx, caller, call{http.MethodPost, "/customers", x.name, customer})
	w.mu.Lock()
	defer w.mu.Unlock()
	if x.refused = refused; text != "" {
		x.acked = time.Now()
	}
	return text
}

// call is a request to the API.
type call struct {
	method, path, key string
	body              any
}

// repeat sends a request, at one process after the other, until it is answered or
// refused. Neither is known when ctx ends before.
func (w *load) repeat(ctx context.Context, try int, call call) (text, refused string) {
	for ; ctx.Err() == nil; try++ {
		status, body, err := w.send(ctx, w.lab.address(try), call)
		switch {
		case err != nil, status == http.StatusServiceUnavailable, status == http.StatusBadGateway:
		case status == http.StatusInternalServerError: // no answer that a caller wants, and it repeats the request all the same
			w.mu.Lock()
			w.internal++
			w.mu.Unlock()
		case status == http.StatusOK, status == http.StatusConflict && strings.Contains(body, "its answer was lost"):
			return body, ""
		case status == http.StatusConflict: // under way, as far as is known
		default:
			return "", fmt.Sprintf("%d %.200s", status, body)
		}
		pause(ctx, 100*time.Millisecond)
	}
	return "", ""
}

func (w *load) send(ctx context.Context, addr string, call call) (int, string, error) {
	body, _ := json.Marshal(call.body)
	request, err := http.NewRequestWithContext(ctx, call.method, "http://"+addr+"/api/v1"+call.path, bytes.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	request.Header.Set("Authorization", "Bearer "+w.lab.token)
	request.Header.Set("Content-Type", "application/json")
	if call.key != "" {
		request.Header.Set("Idempotency-Key", call.key)
	}
	return w.do(request)
}

func (w *load) do(request *http.Request) (int, string, error) {
	response, err := w.client.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return response.StatusCode, string(text), err
}

// end stops the callers; what is not answered then never is. What was paid goes
// on to be settled.
func (w *load) end() {
	w.stop()
	w.done.Wait()
}

// close also gives up what was paid.
func (w *load) close() {
	w.end()
	w.abort()
	w.paying.Wait()
}

// refused reports whether a caller got an answer that is no good: the trial is lost.
func (w *load) refused() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.ContainsFunc(w.writes, func(write *write) bool { return write.refused != "" })
}

// snapshot is a copy of what was written and paid so far.
func (w *load) snapshot() (writes []write, payments []payment) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, write := range w.writes {
		writes = append(writes, *write)
	}
	for _, payment := range w.payments {
		payments = append(payments, *payment)
	}
	return writes, payments
}
