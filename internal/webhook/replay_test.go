package webhook

import (
	"net/http"
	"testing"
	"time"

	"carteira/internal/event"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/sqldb"
)

func TestReplaySendsWhatWasMissed(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		r := newReceiver(t)
		id, _ := w.subscribe(r.URL, event.InvoicePaid)
		before := w.happen(3, event.InvoicePaid) // delivered before the time
		w.rounds()
		w.clock.Advance(time.Hour)
		since := w.clock.Now()
		delivered := w.happen(3, event.InvoicePaid)
		w.rounds()
		r.answer(http.StatusUnauthorized)
		refused := w.happen(3, event.InvoicePaid)
		w.rounds()
		w.put(id, `{"active":false}`)
		if _, err := w.StartReplay(t.Context(), w.actor, id, since); fault.KindOf(err) != fault.KindInvalid {
			t.Errorf("one that is off is replayed: %v", err)
		}
		missed := w.happen(replayBatch+50, event.InvoicePaid)
		unwanted := w.happen(2, event.CustomerCreated)
		w.put(id, `{"active":true}`)
		r.answer(http.StatusOK)

		replay, err := w.StartReplay(t.Context(), w.actor, id, since)
		must(t, err)
		must(t, w.db.Write(t.Context(), func(tx *sqldb.Tx) error { // one step, then the process dies
			_, err := w.replayStep(t.Context(), tx, replay)
			return err
		}))
		half := len(w.history(id))
		if half <= 9 || half >= 9+len(missed) {
			t.Fatalf("one step queued %d", half-9)
		}
		again := w.another(t)
		must(t, again.ContinueReplays(t.Context()))
		must(t, again.ContinueReplays(t.Context())) // there is nothing left to continue
		w.rounds()
		times := r.times()
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
		open, err := unfinishedReplays(t.Context(), w.db)
		if err != nil || len(open) != 0 {
			t.Errorf("unfinished: %+v, %v", open, err)
		}
		queued, err := sqldb.Value[int](t.Context(), w.db, `SELECT queued FROM replays`)
		if err != nil || queued != len(missed)+len(refused) {
			t.Errorf("%d were queued, %v; want %d", queued, err, len(missed)+len(refused))
		}
	})
}

// A transaction that began first may be numbered last.
func TestReplayTakesEventsThatAreNumberedOutOfOrder(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		r := newReceiver(t)
		id, _ := w.subscribe(r.URL, event.InvoicePaid)
		w.put(id, `{"active":false}`)
		w.clock.Advance(time.Second)
		later := w.happen(1, event.InvoicePaid)
		w.clock.Advance(-time.Second)
		earlier := w.happen(1, event.InvoicePaid)
		w.put(id, `{"active":true}`)
		_, err := w.StartReplay(t.Context(), w.actor, id, noon.Add(time.Millisecond))
		must(t, err)
		must(t, w.ContinueReplays(t.Context()))
		w.clock.Advance(time.Hour)
		w.rounds()
		if times := r.times(); times[later[0]] != 1 || times[earlier[0]] != 0 {
			t.Errorf("since the first came %d times, from before it %d", times[later[0]], times[earlier[0]])
		}
	})
}

func TestPruneRemovesOldHistoryInSteps(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		r := newReceiver(t)
		id, _ := w.subscribe(r.URL, event.InvoicePaid)
		w.happen(2*pruneBatch+10, event.InvoicePaid)
		w.exec(`UPDATE deliveries SET status = 'delivered' WHERE id > 4`)
		w.exec(`DELETE FROM delivery_queue WHERE delivery_id > 4`)
		w.happen(7, event.CustomerCreated) // of which nobody was told
		w.clock.Advance(30*24*time.Hour - time.Second)
		w.happen(5, event.InvoicePaid)
		must(t, w.Prune(t.Context()))
		if n := len(w.history(id)); n != 2*pruneBatch+15 {
			t.Fatalf("%d are left before their time", n)
		}
		w.clock.Advance(2 * time.Second)
		more, err := w.pruneStep(t.Context(), &w.walks.deliveries, w.clock.Now().Add(-w.options.Keep))
		must(t, err)
		if n := 2*pruneBatch + 15 - len(w.history(id)); n != pruneBatch-4 || !more { // four are pending
			t.Errorf("one step removed %d; are there more: %t", n, more)
		}
		must(t, w.Prune(t.Context()))
		if n := w.count(id); n[Pending] != 9 || len(n) != 1 {
			t.Errorf("left are %v", n)
		}
		if n, err := sqldb.Value[int64](t.Context(), w.db, `SELECT count(*) FROM events`); err != nil || n != 9 {
			t.Errorf("%d events are left, %v", n, err)
		}
	})
}

// What waits for its webhook to be switched on is late, not history.
func TestPruneLeavesWhatIsParked(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		r := newReceiver(t)
		id, _ := w.subscribe(r.URL, event.InvoicePaid)
		delivered := w.happen(3, event.InvoicePaid)
		w.rounds()
		parked := w.happen(3, event.InvoicePaid)
		w.put(id, `{"active":false}`)
		w.clock.Advance(100 * 24 * time.Hour)
		must(t, w.Prune(t.Context()))
		if n := w.count(id); n[Parked] != 3 || len(n) != 1 {
			t.Fatalf("left are %v", n)
		}
		w.put(id, `{"active":true}`)
		w.rounds()
		wantOnce(t, r, append(delivered, parked...))
		must(t, w.Prune(t.Context()))
		if n := w.count(id); len(n) != 0 {
			t.Errorf("left are %v", n)
		}
	})
}

func TestPruneRemovesFinishedReplays(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		id, _ := w.subscribe(newReceiver(t).URL, event.InvoicePaid)
		start := func() int64 {
			replay, err := w.StartReplay(t.Context(), w.actor, id, noon)
			must(t, err)
			return replay.ID
		}
		start()
		must(t, w.ContinueReplays(t.Context()))
		unfinished := start()
		w.clock.Advance(w.options.Keep)
		must(t, w.Prune(t.Context()))
		count := func() int64 {
			n, err := sqldb.Value[int64](t.Context(), w.db, `SELECT count(*) FROM replays`)
			must(t, err)
			return n
		}
		if n := count(); n != 2 {
			t.Errorf("%d are left before their time", n)
		}
		w.clock.Advance(time.Microsecond)
		must(t, w.Prune(t.Context()))
		open, err := unfinishedReplays(t.Context(), w.db)
		if n := count(); err != nil || n != 1 || len(open) != 1 || open[0].ID != unfinished {
			t.Errorf("%d are left, unfinished: %+v, %v", n, open, err)
		}
	})
}

// A run does not walk again past what had to stay.
func TestPruneGoesOnWhereItWas(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		r := newReceiver(t)
		id, _ := w.subscribe(r.URL, event.InvoicePaid)
		w.happen(20, event.InvoicePaid)
		w.put(id, `{"active":false}`)
		w.clock.Advance(w.options.Keep + time.Hour)
		must(t, w.Prune(t.Context()))
		last, err := sqldb.Value[int64](t.Context(), w.db, `SELECT MAX(id) FROM deliveries`)
		must(t, err)
		if w.walks.deliveries.after != last || w.count(id)[Parked] != 20 {
			t.Errorf("it stands at %d of %d, and %v are left", w.walks.deliveries.after, last, w.count(id))
		}
		w.exec(`UPDATE deliveries SET status = 'delivered'`) // by another process
		w.exec(`DELETE FROM delivery_queue`)
		must(t, w.Prune(t.Context()))
		if n := w.count(id)[Delivered]; n != 20 {
			t.Errorf("%d are left, want all until tomorrow", n)
		}
		w.clock.Advance(wholeWalk)
		must(t, w.Prune(t.Context()))
		if n := w.count(id); len(n) != 0 {
			t.Errorf("left are %v", n)
		}
	})
}
