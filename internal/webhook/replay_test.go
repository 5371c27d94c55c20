package webhook_test

import (
	"net/http"
	"testing"
	"time"

	"carteira/internal/event"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/sqldb"
	"carteira/internal/webhook"
	"carteira/test/kit/webhooktest"
)

func TestReplaySendsWhatWasMissed(t *testing.T) {
	webhooktest.Each(t, func(t *testing.T, world *webhooktest.World) {
		receiver := webhooktest.NewReceiver(t)
		id, _ := world.Subscribe(receiver.URL, event.InvoicePaid)
		before := world.Happen(3, event.InvoicePaid) // delivered before the time
		world.Rounds()
		world.Clock.Advance(time.Hour)
		since := world.Clock.Now()
		delivered := world.Happen(3, event.InvoicePaid)
		world.Rounds()
		receiver.Answer(http.StatusUnauthorized)
		refused := world.Happen(3, event.InvoicePaid)
		world.Rounds()
		world.Put(id, `{"active":false}`)
		if _, err := world.StartReplay(t.Context(), world.Actor, id, since); fault.KindOf(err) != fault.KindInvalid {
			t.Errorf("one that is off is replayed: %v", err)
		}
		missed := world.Happen(webhook.ReplayBatch+50, event.InvoicePaid)
		unwanted := world.Happen(2, event.CustomerCreated)
		world.Put(id, `{"active":true}`)
		receiver.Answer(http.StatusOK)

		replay, err := world.StartReplay(t.Context(), world.Actor, id, since)
		webhooktest.Must(t, err)
		webhooktest.Must(t, world.DB.Write(t.Context(), func(tx *sqldb.Tx) error { // one step, then the process dies
			_, err := world.ReplayStep(t.Context(), tx, replay)
			return err
		}))
		half := len(world.History(id))
		if half <= 9 || half >= 9+len(missed) {
			t.Fatalf("one step queued %d", half-9)
		}
		again := world.Another()
		webhooktest.Must(t, again.ContinueReplays(t.Context()))
		webhooktest.Must(t, again.ContinueReplays(t.Context())) // there is nothing left to continue
		world.Rounds()
		times := receiver.Times()
		for what, want := range map[string]struct {
			ids   []string
			times int
		}{
			"before": {before, 1}, "delivered": {delivered, 1}, "refused": {refused, 2}, "missed": {missed, 1}, "unwanted": {unwanted, 0},
		} {
			for _, id := range want.ids {
				if times[id] != want.times {
					t.Fatalf("%s, which is %s, came %d times", id, what, times[id])
				}
			}
		}
		open, err := webhook.UnfinishedReplays(t.Context(), world.DB)
		if err != nil || len(open) != 0 {
			t.Errorf("unfinished: %+v, %v", open, err)
		}
		queued, err := sqldb.Value[int](t.Context(), world.DB, `SELECT queued FROM replays`)
		if err != nil || queued != len(missed)+len(refused) {
			t.Errorf("%d were queued, %v; want %d", queued, err, len(missed)+len(refused))
		}
	})
}

// A transaction that began first may be numbered last.
func TestReplayTakesEventsThatAreNumberedOutOfOrder(t *testing.T) {
	webhooktest.Each(t, func(t *testing.T, world *webhooktest.World) {
		receiver := webhooktest.NewReceiver(t)
		id, _ := world.Subscribe(receiver.URL, event.InvoicePaid)
		world.Put(id, `{"active":false}`)
		world.Clock.Advance(time.Second)
		later := world.Happen(1, event.InvoicePaid)
		world.Clock.Advance(-time.Second)
		earlier := world.Happen(1, event.InvoicePaid)
		world.Put(id, `{"active":true}`)
		_, err := world.StartReplay(t.Context(), world.Actor, id, webhooktest.Morning.Add(time.Millisecond))
		webhooktest.Must(t, err)
		webhooktest.Must(t, world.ContinueReplays(t.Context()))
		world.Clock.Advance(time.Hour)
		world.Rounds()
		if times := receiver.Times(); times[later[0]] != 1 || times[earlier[0]] != 0 {
			t.Errorf("since the first came %d times, from before it %d", times[later[0]], times[earlier[0]])
		}
	})
}

func TestPruneRemovesOldHistoryInSteps(t *testing.T) {
	webhooktest.Each(t, func(t *testing.T, world *webhooktest.World) {
		receiver := webhooktest.NewReceiver(t)
		id, _ := world.Subscribe(receiver.URL, event.InvoicePaid)
		world.Happen(2*webhook.PruneBatch+10, event.InvoicePaid)
		world.Exec(`UPDATE deliveries SET status = 'delivered' WHERE id > 4`)
		world.Exec(`DELETE FROM delivery_queue WHERE delivery_id > 4`)
		world.Happen(7, event.CustomerCreated) // recorded without a delivery
		world.Clock.Advance(30*24*time.Hour - time.Second)
		world.Happen(5, event.InvoicePaid)
		webhooktest.Must(t, world.Prune(t.Context()))
		if n := len(world.History(id)); n != 2*webhook.PruneBatch+15 {
			t.Fatalf("%d are left before their time", n)
		}
		world.Clock.Advance(2 * time.Second)
		more, err := world.PruneStep(t.Context())
		webhooktest.Must(t, err)
		if n := 2*webhook.PruneBatch + 15 - len(world.History(id)); n != webhook.PruneBatch-4 || !more { // four are pending
			t.Errorf("one step removed %d; are there more: %t", n, more)
		}
		webhooktest.Must(t, world.Prune(t.Context()))
		if n := world.Count(id); n[webhook.Pending] != 9 || len(n) != 1 {
			t.Errorf("left are %v", n)
		}
		if n, err := sqldb.Value[int64](t.Context(), world.DB, `SELECT count(*) FROM events`); err != nil || n != 9 {
			t.Errorf("%d events are left, %v", n, err)
		}
	})
}

// What waits for its webhook to be switched on is late, not history.
func TestPruneLeavesWhatIsParked(t *testing.T) {
	webhooktest.Each(t, func(t *testing.T, world *webhooktest.World) {
		receiver := webhooktest.NewReceiver(t)
		id, _ := world.Subscribe(receiver.URL, event.InvoicePaid)
		delivered := world.Happen(3, event.InvoicePaid)
		world.Rounds()
		parked := world.Happen(3, event.InvoicePaid)
		world.Put(id, `{"active":false}`)
		world.Clock.Advance(100 * 24 * time.Hour)
		webhooktest.Must(t, world.Prune(t.Context()))
		if n := world.Count(id); n[webhook.Parked] != 3 || len(n) != 1 {
			t.Fatalf("left are %v", n)
		}
		world.Put(id, `{"active":true}`)
		world.Rounds()
		webhooktest.WantOnce(t, receiver, append(delivered, parked...))
		webhooktest.Must(t, world.Prune(t.Context()))
		if n := world.Count(id); len(n) != 0 {
			t.Errorf("left are %v", n)
		}
	})
}

func TestPruneRemovesFinishedReplays(t *testing.T) {
	webhooktest.Each(t, func(t *testing.T, world *webhooktest.World) {
		id, _ := world.Subscribe(webhooktest.NewReceiver(t).URL, event.InvoicePaid)
		start := func() int64 {
			replay, err := world.StartReplay(t.Context(), world.Actor, id, webhooktest.Morning)
			webhooktest.Must(t, err)
			return replay.ID
		}
		start()
		webhooktest.Must(t, world.ContinueReplays(t.Context()))
		unfinished := start()
		world.Clock.Advance(world.Keep())
		webhooktest.Must(t, world.Prune(t.Context()))
		count := func() int64 {
			n, err := sqldb.Value[int64](t.Context(), world.DB, `SELECT count(*) FROM replays`)
			webhooktest.Must(t, err)
			return n
		}
		if n := count(); n != 2 {
			t.Errorf("%d are left before their time", n)
		}
		world.Clock.Advance(time.Microsecond)
		webhooktest.Must(t, world.Prune(t.Context()))
		open, err := webhook.UnfinishedReplays(t.Context(), world.DB)
		if n := count(); err != nil || n != 1 || len(open) != 1 || open[0].ID != unfinished {
			t.Errorf("%d are left, unfinished: %+v, %v", n, open, err)
		}
	})
}

// A run does not walk again past what had to stay.
func TestPruneGoesOnWhereItWas(t *testing.T) {
	webhooktest.Each(t, func(t *testing.T, world *webhooktest.World) {
		receiver := webhooktest.NewReceiver(t)
		id, _ := world.Subscribe(receiver.URL, event.InvoicePaid)
		world.Happen(20, event.InvoicePaid)
		world.Put(id, `{"active":false}`)
		world.Clock.Advance(world.Keep() + time.Hour)
		webhooktest.Must(t, world.Prune(t.Context()))
		last, err := sqldb.Value[int64](t.Context(), world.DB, `SELECT MAX(id) FROM deliveries`)
		webhooktest.Must(t, err)
		if world.Pruned() != last || world.Count(id)[webhook.Parked] != 20 {
			t.Errorf("it stands at %d of %d, and %v are left", world.Pruned(), last, world.Count(id))
		}
		world.Exec(`UPDATE deliveries SET status = 'delivered'`) // by another process
		world.Exec(`DELETE FROM delivery_queue`)
		webhooktest.Must(t, world.Prune(t.Context()))
		if n := world.Count(id)[webhook.Delivered]; n != 20 {
			t.Errorf("%d are left, want all until tomorrow", n)
		}
		world.Clock.Advance(webhook.WholeWalk)
		webhooktest.Must(t, world.Prune(t.Context()))
		if n := world.Count(id); len(n) != 0 {
			t.Errorf("left are %v", n)
		}
	})
}
