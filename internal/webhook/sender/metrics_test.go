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
	"carteira/test/kit/webhooktest"
)

// scrape reads the engine's counters and gauges, by name and label.
func scrape(world *webhooktest.World) map[string]float64 {
	world.T.Helper()
	reg := prometheus.NewPedanticRegistry()
	reg.MustRegister(world.Metrics()...)
	families, err := reg.Gather()
	webhooktest.Must(world.T, err)
	values := map[string]float64{}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			name := family.GetName()
			if labels := metric.GetLabel(); len(labels) == 1 {
				name += " " + labels[0].GetValue()
			}
			values[name] = metric.GetGauge().GetValue() + metric.GetCounter().GetValue()
		}
	}
	return values
}

func wantGivenUp(world *webhooktest.World, refused, exhausted, address float64) {
	world.T.Helper()
	got := map[string]float64{}
	for name, value := range scrape(world) {
		if reason, ok := strings.CutPrefix(name, "carteira_webhook_given_up_total "); ok {
			got[reason] = value
		}
	}
	if want := map[string]float64{"refused": refused, "exhausted": exhausted, "address": address, "set_aside": 0}; !maps.Equal(got, want) {
		world.T.Errorf("given up are %v, want %v", got, want)
	}
}

func TestGivenUpAreCountedByReason(t *testing.T) {
	webhooktest.Each(t, func(t *testing.T, world *webhooktest.World) {
		receiver := webhooktest.NewReceiver(t)
		id, _ := world.Subscribe(receiver.URL, event.InvoicePaid)
		wantGivenUp(world, 0, 0, 0)
		receiver.Answer(http.StatusGone)
		world.Happen(2, event.InvoicePaid)
		world.Rounds()
		wantGivenUp(world, 2, 0, 0)

		receiver.Answer(http.StatusInternalServerError)
		_, _, err := world.Test(t.Context(), world.Actor, id)
		webhooktest.Must(t, err)
		world.Happen(1, event.InvoicePaid)
		for range webhooktest.Schedule {
			wantGivenUp(world, 2, 0, 0)
			world.Rounds()
			world.Clock.Advance(12 * time.Hour)
		}
		wantGivenUp(world, 2, 1, 0)

		world.Exec(`UPDATE webhooks SET url = 'https://10.0.0.1/'`) // the gate has become stricter meanwhile
		world.Happen(1, event.InvoicePaid)
		world.Rounds()
		wantGivenUp(world, 2, 1, 1)
		receiver.Answer(http.StatusOK)
		world.Put(id, `{"url":"`+receiver.URL+`"}`)
		world.Happen(1, event.InvoicePaid)
		world.Rounds()
		wantGivenUp(world, 2, 1, 1)
	})
}

func TestLanesAtTheirCapAreCounted(t *testing.T) {
	webhooktest.Each(t, func(t *testing.T, world *webhooktest.World) {
		receiver := webhooktest.NewReceiver(t)
		world.Subscribe(receiver.URL, event.InvoicePaid)
		world.Subscribe(receiver.URL, event.CustomerCreated)
		failing, _ := world.Subscribe(receiver.URL, event.CustomerExpired)
		world.Exec(`UPDATE webhooks SET failures = 1 WHERE id = ?`, failing)
		want := func(n float64) {
			t.Helper()
			if got := scrape(world)["carteira_webhook_lanes_at_cap"]; got != n {
				t.Errorf("%v are at their cap, want %v", got, n)
			}
		}
		want(0)
		world.Happen(sender.LaneLimit+1, event.InvoicePaid)
		world.Happen(sender.LaneLimit-1, event.CustomerCreated)
		world.Happen(sender.FailingLaneLimit+1, event.CustomerExpired)
		if jobs := claimAll(world, sender.QuickSlots); len(jobs) != sender.LaneLimit+sender.LaneLimit-1+sender.FailingLaneLimit {
			t.Fatalf("%d were claimed", len(jobs))
		}
		want(0) // so it was when it looked
		if jobs := claimAll(world, sender.QuickSlots); len(jobs) != 0 {
			t.Fatalf("%d more were claimed", len(jobs))
		}
		want(2)
		world.Clock.Advance(sender.LeaseTime)
		world.Rounds()
		want(0)
	})
}

func TestOldestDueIsWhatNobodySends(t *testing.T) {
	webhooktest.Each(t, func(t *testing.T, world *webhooktest.World) {
		receiver := webhooktest.NewReceiver(t)
		id, _ := world.Subscribe(receiver.URL, event.InvoicePaid)
		want := func(seconds float64) {
			t.Helper()
			if got, ok := scrape(world)["carteira_webhook_oldest_due_seconds"]; got != seconds || !ok {
				t.Errorf("due for %v seconds, want %v; there: %t", got, seconds, ok)
			}
		}
		want(0)
		world.Happen(1, event.InvoicePaid)
		world.Clock.Advance(5 * time.Second)
		world.Happen(1, event.InvoicePaid)
		want(5)
		claimAll(world, 1)
		want(0) // the other one is due just now
		world.Clock.Advance(sender.LeaseTime + time.Second)
		want((sender.LeaseTime + 6*time.Second).Seconds()) // the first one again, as long as it has been due
		receiver.Answer(http.StatusServiceUnavailable)
		world.Rounds()
		want(0)
		world.Clock.Advance(3 * time.Minute)
		if got := scrape(world)["carteira_webhook_oldest_due_seconds"]; got < 60 || got > 120 {
			t.Errorf("two retries are due for %v seconds", got)
		}
		world.Put(id, `{"active":false}`)
		want(0)
	})
}

// A scrape goes on without it: the other metrics are wanted most when the
// database is away.
func TestOldestDueIsAbsentWithoutADatabase(t *testing.T) {
	webhooktest.Each(t, func(t *testing.T, world *webhooktest.World) {
		world.Exec(`ALTER TABLE delivery_queue RENAME TO mislaid`)
		got := scrape(world)
		if _, ok := got["carteira_webhook_oldest_due_seconds"]; ok || len(got) == 0 {
			t.Errorf("%v", got)
		}
	})
}
