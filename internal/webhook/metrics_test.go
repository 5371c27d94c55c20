package webhook

import (
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"carteira/internal/event"
)

// scrape reads the engine's counters and gauges, by name and label.
func (w *world) scrape() map[string]float64 {
	w.t.Helper()
	reg := prometheus.NewPedanticRegistry()
	reg.MustRegister(w.Metrics()...)
	families, err := reg.Gather()
	must(w.t, err)
	values := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			name := f.GetName()
			if labels := m.GetLabel(); len(labels) == 1 {
				name += " " + labels[0].GetValue()
			}
			values[name] = m.GetGauge().GetValue() + m.GetCounter().GetValue()
		}
	}
	return values
}

func (w *world) wantGivenUp(refused, exhausted, address float64) {
	w.t.Helper()
	got := map[string]float64{}
	for name, value := range w.scrape() {
		if reason, ok := strings.CutPrefix(name, "carteira_webhook_given_up_total "); ok {
			got[reason] = value
		}
	}
	if want := map[string]float64{"refused": refused, "exhausted": exhausted, "address": address}; !maps.Equal(got, want) {
		w.t.Errorf("given up are %v, want %v", got, want)
	}
}

func TestGivenUpAreCountedByReason(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		r := newReceiver(t)
		id, _ := w.subscribe(r.URL, event.InvoicePaid)
		w.wantGivenUp(0, 0, 0)
		r.answer(http.StatusGone)
		w.happen(2, event.InvoicePaid)
		w.rounds()
		w.wantGivenUp(2, 0, 0)

		r.answer(http.StatusInternalServerError)
		_, _, err := w.Test(t.Context(), w.actor, id)
		must(t, err)
		w.happen(1, event.InvoicePaid)
		for range schedule {
			w.wantGivenUp(2, 0, 0)
			w.rounds()
			w.clock.Advance(12 * time.Hour)
		}
		w.wantGivenUp(2, 1, 0)

		w.exec(`UPDATE webhooks SET url = 'https://10.0.0.1/'`) // the gate has become stricter meanwhile
		w.happen(1, event.InvoicePaid)
		w.rounds()
		w.wantGivenUp(2, 1, 1)
		r.answer(http.StatusOK)
		w.put(id, `{"url":"`+r.URL+`"}`)
		w.happen(1, event.InvoicePaid)
		w.rounds()
		w.wantGivenUp(2, 1, 1)
	})
}

func TestLanesAtTheirCapAreCounted(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		r := newReceiver(t)
		w.subscribe(r.URL, event.InvoicePaid)
		w.subscribe(r.URL, event.CustomerCreated)
		failing, _ := w.subscribe(r.URL, event.CustomerExpired)
		w.exec(`UPDATE webhooks SET failures = 1 WHERE id = ?`, failing)
		want := func(n float64) {
			t.Helper()
			if got := w.scrape()["carteira_webhook_lanes_at_cap"]; got != n {
				t.Errorf("%v are at their cap, want %v", got, n)
			}
		}
		want(0)
		w.happen(laneCap+1, event.InvoicePaid)
		w.happen(laneCap-1, event.CustomerCreated)
		w.happen(failingLaneCap+1, event.CustomerExpired)
		if jobs := w.claimAll(slots); len(jobs) != laneCap+laneCap-1+failingLaneCap {
			t.Fatalf("%d were claimed", len(jobs))
		}
		want(0) // so it was when it looked
		if jobs := w.claimAll(slots); len(jobs) != 0 {
			t.Fatalf("%d more were claimed", len(jobs))
		}
		want(2)
		w.clock.Advance(lease)
		w.rounds()
		want(0)
	})
}

func TestOldestDueIsWhatNobodySends(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		r := newReceiver(t)
		id, _ := w.subscribe(r.URL, event.InvoicePaid)
		want := func(seconds float64) {
			t.Helper()
			if got, ok := w.scrape()["carteira_webhook_oldest_due_seconds"]; got != seconds || !ok {
				t.Errorf("due for %v seconds, want %v; there: %t", got, seconds, ok)
			}
		}
		want(0)
		w.happen(1, event.InvoicePaid)
		w.clock.Advance(5 * time.Second)
		w.happen(1, event.InvoicePaid)
		want(5)
		w.claimAll(1)
		want(0) // the other one is due just now
		w.clock.Advance(lease + time.Second)
		want((lease + 6*time.Second).Seconds()) // the first one again, as long as it has been due
		r.answer(http.StatusServiceUnavailable)
		w.rounds()
		want(0)
		w.clock.Advance(3 * time.Minute)
		if got := w.scrape()["carteira_webhook_oldest_due_seconds"]; got < 60 || got > 120 {
			t.Errorf("two retries are due for %v seconds", got)
		}
		w.put(id, `{"active":false}`)
		want(0)
	})
}

// A scrape goes on without it: the other metrics are wanted most when the
// database is away.
func TestOldestDueIsAbsentWithoutADatabase(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.exec(`ALTER TABLE delivery_queue RENAME TO mislaid`)
		got := w.scrape()
		if _, ok := got["carteira_webhook_oldest_due_seconds"]; ok || len(got) == 0 {
			t.Errorf("%v", got)
		}
	})
}
