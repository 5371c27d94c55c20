package sender_test

import (
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"carteira/internal/event"
	"carteira/internal/webhook/sender"
	"carteira/internal/webhook/webhooktest"
)

// scrape reads the engine's counters and gauges, by name and label.
func scrape(w *webhooktest.World) map[string]float64 {
	w.T.Helper()
	reg := prometheus.NewPedanticRegistry()
	reg.MustRegister(w.Metrics()...)
	families, err := reg.Gather()
	webhooktest.Must(w.T, err)
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

func wantGivenUp(w *webhooktest.World, refused, exhausted, address float64) {
	w.T.Helper()
	got := map[string]float64{}
	for name, value := range scrape(w) {
		if reason, ok := strings.CutPrefix(name, "carteira_webhook_given_up_total "); ok {
			got[reason] = value
		}
	}
	if want := map[string]float64{"refused": refused, "exhausted": exhausted, "address": address, "set_aside": 0}; !maps.Equal(got, want) {
		w.T.Errorf("given up are %v, want %v", got, want)
	}
}

func TestGivenUpAreCountedByReason(t *testing.T) {
	webhooktest.Each(t, func(t *testing.T, w *webhooktest.World) {
		r := webhooktest.NewReceiver(t)
		id, _ := w.Subscribe(r.URL, event.InvoicePaid)
		wantGivenUp(w, 0, 0, 0)
		r.Answer(http.StatusGone)
		w.Happen(2, event.InvoicePaid)
		w.Rounds()
		wantGivenUp(w, 2, 0, 0)

		r.Answer(http.StatusInternalServerError)
		_, _, err := w.Test(t.Context(), w.Actor, id)
		webhooktest.Must(t, err)
		w.Happen(1, event.InvoicePaid)
		for range webhooktest.Schedule {
			wantGivenUp(w, 2, 0, 0)
			w.Rounds()
			w.Clock.Advance(12 * time.Hour)
		}
		wantGivenUp(w, 2, 1, 0)

		w.Exec(`UPDATE webhooks SET url = 'https://10.0.0.1/'`) // the gate has become stricter meanwhile
		w.Happen(1, event.InvoicePaid)
		w.Rounds()
		wantGivenUp(w, 2, 1, 1)
		r.Answer(http.StatusOK)
		w.Put(id, `{"url":"`+r.URL+`"}`)
		w.Happen(1, event.InvoicePaid)
		w.Rounds()
		wantGivenUp(w, 2, 1, 1)
	})
}

func TestLanesAtTheirCapAreCounted(t *testing.T) {
	webhooktest.Each(t, func(t *testing.T, w *webhooktest.World) {
		r := webhooktest.NewReceiver(t)
		w.Subscribe(r.URL, event.InvoicePaid)
		w.Subscribe(r.URL, event.CustomerCreated)
		failing, _ := w.Subscribe(r.URL, event.CustomerExpired)
		w.Exec(`UPDATE webhooks SET failures = 1 WHERE id = ?`, failing)
		want := func(n float64) {
			t.Helper()
			if got := scrape(w)["carteira_webhook_lanes_at_cap"]; got != n {
				t.Errorf("%v are at their cap, want %v", got, n)
			}
		}
		want(0)
		w.Happen(sender.LaneLimit+1, event.InvoicePaid)
		w.Happen(sender.LaneLimit-1, event.CustomerCreated)
		w.Happen(sender.FailingLaneLimit+1, event.CustomerExpired)
		if jobs := claimAll(w, sender.QuickSlots); len(jobs) != sender.LaneLimit+sender.LaneLimit-1+sender.FailingLaneLimit {
			t.Fatalf("%d were claimed", len(jobs))
		}
		want(0) // so it was when it looked
		if jobs := claimAll(w, sender.QuickSlots); len(jobs) != 0 {
			t.Fatalf("%d more were claimed", len(jobs))
		}
		want(2)
		w.Clock.Advance(sender.LeaseTime)
		w.Rounds()
		want(0)
	})
}

func TestOldestDueIsWhatNobodySends(t *testing.T) {
	webhooktest.Each(t, func(t *testing.T, w *webhooktest.World) {
		r := webhooktest.NewReceiver(t)
		id, _ := w.Subscribe(r.URL, event.InvoicePaid)
		want := func(seconds float64) {
			t.Helper()
			if got, ok := scrape(w)["carteira_webhook_oldest_due_seconds"]; got != seconds || !ok {
				t.Errorf("due for %v seconds, want %v; there: %t", got, seconds, ok)
			}
		}
		want(0)
		w.Happen(1, event.InvoicePaid)
		w.Clock.Advance(5 * time.Second)
		w.Happen(1, event.InvoicePaid)
		want(5)
		claimAll(w, 1)
		want(0) // the other one is due just now
		w.Clock.Advance(sender.LeaseTime + time.Second)
		want((sender.LeaseTime + 6*time.Second).Seconds()) // the first one again, as long as it has been due
		r.Answer(http.StatusServiceUnavailable)
		w.Rounds()
		want(0)
		w.Clock.Advance(3 * time.Minute)
		if got := scrape(w)["carteira_webhook_oldest_due_seconds"]; got < 60 || got > 120 {
			t.Errorf("two retries are due for %v seconds", got)
		}
		w.Put(id, `{"active":false}`)
		want(0)
	})
}

// A scrape goes on without it: the other metrics are wanted most when the
// database is away.
func TestOldestDueIsAbsentWithoutADatabase(t *testing.T) {
	webhooktest.Each(t, func(t *testing.T, w *webhooktest.World) {
		w.Exec(`ALTER TABLE delivery_queue RENAME TO mislaid`)
		got := scrape(w)
		if _, ok := got["carteira_webhook_oldest_due_seconds"]; ok || len(got) == 0 {
			t.Errorf("%v", got)
		}
	})
}
