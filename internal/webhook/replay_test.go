package webhook_test

import (
	"net/http"
	"testing"
	"time"

	"carteira/internal/event"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/sqldb"
	"carteira/internal/webhook"
	"carteira/internal/webhook/webhooktest"
)

func TestReplaySendsWhatWasMissed(t *testing.T) {
	webhooktest.Each(t, func(t *testing.T, w *webhooktest.World) {
		r := webhooktest.NewReceiver(t)
		id, _ := w.Subscribe(r.URL, event.InvoicePaid)
		before := w.Happen(3, event.InvoicePaid) // delivered before the time
		w.Rounds()
		w.Clock.Advance(time.Hour)
		since := w.Clock.Now()
		delivered := w.Happen(3, event.InvoicePaid)
		w.Rounds()
		r.Answer(http.StatusUnauthorized)
		refused := w.Happen(3, event.InvoicePaid)
		w.Rounds()
		w.Put(id, `{"active":false}`)
		if _, err := w.StartReplay(t.Context(), w.Actor, id, since); fault.KindOf(err) != fault.KindInvalid {
			t.Errorf("one that is off is replayed: %v", err)
		}
		missed := w.Happen(webhook.ReplayBatch+50, event.InvoicePaid)
		unwanted := w.Happen(2, event.CustomerCreated)
		w.Put(id, `{"active":true}`)
		r.Answer(http.StatusOK)

		replay, err := w.StartReplay(t.Context(), w.Actor, id, since)
		webhooktest.Must(t, err)
		webhooktest.Must(t, w.DB.Write(t.Context(), func(tx *sqldb.Tx) error { // one step, then the process dies
			_, err := w.ReplayStep(t.Context(), tx, replay)
			return err
		}))
		half := len(w.History(id))
		if half <= 9 || half >= 9+len(missed) {
			t.Fatalf("one step queued %d", half-9)
		}
		again := w.Another()
		webhooktest.Must(t, again.ContinueReplays(t.Context()))
		webhooktest.Must(t, again.ContinueReplays(t.Context())) // there is nothing left to continue
		w.Rounds()
		times := r.Times()
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
		open, err := webhook.UnfinishedReplays(t.Context(), w.DB)
		if err != nil || len(open) != 0 {
			t.Errorf("unfinished: %+v, %v", open, err)
		}
		queued, err := sqldb.Value[int](t.Context(), w.DB, `SELECT queued FROM replays`)
		if err != nil || queued != len(missed)+len(refused) {
			t.Errorf("%d were queued, %v; want %d", queued, err, len(missed)+len(refused))
		}
	})
}

// A transaction that began first may be numbered last.
func TestReplayTakesEventsThatAreNumberedOutOfOrder(t *testing.T) {
	webhooktest.Each(t, func(t *testing.T, w *webhooktest.World) {
		r := webhooktest.NewReceiver(t)
		id, _ := w.Subscribe(r.URL, event.InvoicePaid)
		w.Put(id, `{"active":false}`)
		w.Clock.Advance(time.Second)
		later := w.Happen(1, event.InvoicePaid)
		w.Clock.Advance(-time.Second)
		earlier := w.Happen(1, event.InvoicePaid)
		w.Put(id, `{"active":true}`)
		_, err := w.StartReplay(t.Context(), w.Actor, id, webhooktest.Morning.Add(time.Millisecond))
		webhooktest.Must(t, err)
		webhooktest.Must(t, w.ContinueReplays(t.Context()))
		w.Clock.Advance(time.Hour)
		w.Rounds()
		if times := r.Times(); times[later[0]] != 1 || times[earlier[0]] != 0 {
			t.Errorf("since the first came %d times, from before it %d", times[later[0]], times[earlier[0]])
		}
	})
}

func TestPruneRemovesOldHistoryInSteps(t *testing.T) {
	webhooktest.Each(t, func(t *testing.T, w *webhooktest.World) {
		r := webhooktest.NewReceiver(t)
		id, _ := w.Subscribe(r.URL, event.InvoicePaid)
		w.Happen(2*webhook.PruneBatch+10, event.InvoicePaid)
		w.Exec(`UPDATE deliveries SET status = 'delivered' WHERE id > 4`)
		w.Exec(`DELETE FROM delivery_queue WHERE delivery_id > 4`)
		w.Happen(7, event.CustomerCreated) // of which nobody was told
		w.Clock.Advance(30*24*time.Hour - time.Second)
		w.Happen(5, event.InvoicePaid)
		webhooktest.Must(t, w.Prune(t.Context()))
		if n := len(w.History(id)); n != 2*webhook.PruneBatch+15 {
			t.Fatalf("%d are left before their time", n)
		}
		w.Clock.Advance(2 * time.Second)
		more, err := w.PruneStep(t.Context())
		webhooktest.Must(t, err)
		if n := 2*webhook.PruneBatch + 15 - len(w.History(id)); n != webhook.PruneBatch-4 || !more { // four are pending
			t.Errorf("one step removed %d; are there more: %t", n, more)
		}
		webhooktest.Must(t, w.Prune(t.Context()))
		if n := w.Count(id); n[webhook.Pending] != 9 || len(n) != 1 {
			t.Errorf("left are %v", n)
		}
		if n, err := sqldb.Value[int64](t.Context(), w.DB, `SELECT count(*) FROM events`); err != nil || n != 9 {
			t.Errorf("%d events are left, %v", n, err)
		}
	})
}

// What waits for its webhook to be switched on is late, not history.
func TestPruneLeavesWhatIsParked(t *testing.T) {
	webhooktest.Each(t, func(t *testing.T, w *webhooktest.World) {
		r := webhooktest.NewReceiver(t)
		id, _ := w.Subscribe(r.URL, event.InvoicePaid)
		delivered := w.Happen(3, event.InvoicePaid)
		w.Rounds()
		parked := w.Happen(3, event.InvoicePaid)
		w.Put(id, `{"active":false}`)
		w.Clock.Advance(100 * 24 * time.Hour)
		webhooktest.Must(t, w.Prune(t.Context()))
		if n := w.Count(id); n[webhook.Parked] != 3 || len(n) != 1 {
			t.Fatalf("left are %v", n)
		}
		w.Put(id, `{"active":true}`)
		w.Rounds()
		webhooktest.WantOnce(t, r, append(delivered, parked...))
		webhooktest.Must(t, w.Prune(t.Context()))
		if n := w.Count(id); len(n) != 0 {
			t.Errorf("left are %v", n)
		}
	})
}

func TestPruneRemovesFinishedReplays(t *testing.T) {
	webhooktest.Each(t, func(t *testing.T, w *webhooktest.World) {
		id, _ := w.Subscribe(webhooktest.NewReceiver(t).URL, event.InvoicePaid)
		start := func() int64 {
			replay, err := w.StartReplay(t.Context(), w.Actor, id, webhooktest.Morning)
			webhooktest.Must(t, err)
			return replay.ID
		}
		start()
		webhooktest.Must(t, w.ContinueReplays(t.Context()))
		unfinished := start()
		w.Clock.Advance(w.Keep())
		webhooktest.Must(t, w.Prune(t.Context()))
		count := func() int64 {
			n, err := sqldb.Value[int64](t.Context(), w.DB, `SELECT count(*) FROM replays`)
			webhooktest.Must(t, err)
			return n
		}
		if n := count(); n != 2 {
			t.Errorf("%d are left before their time", n)
		}
		w.Clock.Advance(time.Microsecond)
		webhooktest.Must(t, w.Prune(t.Context()))
		open, err := webhook.UnfinishedReplays(t.Context(), w.DB)
		if n := count(); err != nil || n != 1 || len(open) != 1 || open[0].ID != unfinished {
			t.Errorf("%d are left, unfinished: %+v, %v", n, open, err)
		}
	})
}

// A run does not walk again past what had to stay.
func TestPruneGoesOnWhereItWas(t *testing.T) {
	webhooktest.Each(t, func(t *testing.T, w *webhooktest.World) {
		r := webhooktest.NewReceiver(t)
		id, _ := w.Subscribe(r.URL, event.InvoicePaid)
		w.Happen(20, event.InvoicePaid)
		w.Put(id, `{"active":false}`)
		w.Clock.Advance(w.Keep() + time.Hour)
		webhooktest.Must(t, w.Prune(t.Context()))
		last, err := sqldb.Value[int64](t.Context(), w.DB, `SELECT MAX(id) FROM deliveries`)
		webhooktest.Must(t, err)
		if w.Pruned() != last || w.Count(id)[webhook.Parked] != 20 {
			t.Errorf("it stands at %d of %d, and %v are left", w.Pruned(), last, w.Count(id))
		}
		w.Exec(`UPDATE deliveries SET status = 'delivered'`) // by another process
		w.Exec(`DELETE FROM delivery_queue`)
		webhooktest.Must(t, w.Prune(t.Context()))
		if n := w.Count(id)[webhook.Delivered]; n != 20 {
			t.Errorf("%d are left, want all until tomorrow", n)
		}
		w.Clock.Advance(webhook.WholeWalk)
		webhooktest.Must(t, w.Prune(t.Context()))
		if n := w.Count(id); len(n) != 0 {
			t.Errorf("left are %v", n)
		}
	})
}
