//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

const (
	writers = 4
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
	took    time.Duration
	tries   int
	refused string // an unexpected answer
}

// load is callers who write all the time.
type load struct {
	lab    *lab
	client *http.Client
	stop   context.CancelFunc
	done   sync.WaitGroup

	mu     sync.Mutex
	writes []*write
	// internal counts answers of 500, which should have been 503.
	internal int
}

func startLoad(ctx context.Context, lab *lab) *load {
	ctx, stop := context.WithCancel(ctx)
	w := &load{lab: lab, stop: stop, client: &http.Client{Timeout: callTimeout, Transport: &http.Transport{MaxIdleConnsPerHost: writers}}}
	for i := range writers {
		w.done.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				w.one(ctx, i, n)
				if !lab.eager {
					pause(ctx, pace)
				}
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

// one makes a customer and repeats the request until it is answered.
func (w *load) one(ctx context.Context, writer, n int) {
	x := &write{name: fmt.Sprintf("chaos-%d-%d", writer, n), sent: time.Now()}
	w.mu.Lock()
	w.writes = append(w.writes, x)
	w.mu.Unlock()
	for try := writer; ctx.Err() == nil; try++ {
		began := time.Now()
		status, body, err := w.post(ctx, w.lab.address(try), x.name)
		if done := w.settle(x, status, body, err, time.Since(began)); done {
			return
		}
		pause(ctx, 100*time.Millisecond)
	}
}

// settle records an answer, and reports whether the write is over.
func (w *load) settle(write *write, status int, body string, err error, took time.Duration) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	write.tries++
	switch {
	case err != nil, status == http.StatusServiceUnavailable, status == http.StatusBadGateway:
		return false
	case status == http.StatusInternalServerError: // no answer that anybody wants, and the caller repeats it all the same
		w.internal++
		return false
	case status == http.StatusOK, status == http.StatusConflict && strings.Contains(body, "its answer was lost"):
		write.acked, write.took = time.Now(), took
		return true
	case status == http.StatusConflict: // under way, as far as anybody knows
		return false
	}
	write.refused = fmt.Sprintf("%d %.200s", status, body)
	return true
}

func (w *load) post(ctx context.Context, addr, name string) (int, string, error) {
	body, _ := json.Marshal(map[string]string{"name": name})
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+addr+"/api/v1/customers", bytes.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	request.Header.Set("Authorization", "Bearer "+w.lab.token)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Idempotency-Key", name)
	response, err := w.client.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return response.StatusCode, string(text), err
}

// end stops the callers; what is not answered then never is.
func (w *load) end() {
	w.stop()
	w.done.Wait()
}

// snapshot is a copy of what was written so far.
func (w *load) snapshot() []write {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := make([]write, len(w.writes))
	for i, write := range w.writes {
		list[i] = *write
	}
	return list
}
