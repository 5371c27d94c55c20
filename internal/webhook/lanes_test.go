package webhook

import (
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"carteira/internal/event"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/sqldb"
)

// engineOf is an engine that tests drive step by step.
func (w *world) engineOf() *engine { return newEngine(w.Service, slog.New(slog.DiscardHandler)) }

func (w *world) lanes() (list []laneRow) {
	w.t.Helper()
	list, err := sqldb.All(w.t.Context(), w.db, func(r sqldb.Row) (l laneRow, err error) {
		var until int64
		var sending string
		err = r.Scan(&l.lane, &l.token, &until, &sending)
		l.until, l.sending = time.UnixMicro(until), splitIDs(sending)
		return l, err
	}, `SELECT lane, token, until, sending FROM delivery_lanes ORDER BY lane`)
	must(w.t, err)
	return list
}

func TestLaneIsOneProcessesAtATime(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		other := w.another(t)
		id, _ := w.subscribe(newReceiver(t).URL, event.InvoicePaid)
		w.happen(10, event.InvoicePaid)
		if jobs := w.claimAll(2); len(jobs) != 2 {
			t.Fatalf("%d were claimed", len(jobs))
		}
		// It has fewer under way than it may, but who sends more knows nothing of these.
		if jobs := other.claimAll(slots); len(jobs) != 0 {
			t.Errorf("another one claimed %d", len(jobs))
		}
		if l := w.lanes(); len(l) != 1 || l[0].lane != id || len(l[0].sending) != 2 || !l[0].until.Equal(noon.Add(lease)) {
			t.Errorf("%+v", l)
		}
	})
}

func TestLaneIsGivenBackWithItsLastClosing(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		r := newReceiver(t)
		w.subscribe(r.URL, event.InvoicePaid)
		for _, status := range []int{http.StatusOK, http.StatusInternalServerError, http.StatusNotFound} {
			r.answer(status)
			w.happen(3, event.InvoicePaid)
			w.round()
			if l := w.lanes()[0]; l.token != "" || len(l.sending) != 0 || l.until.After(w.clock.Now()) {
				t.Errorf("after %d: %+v", status, l)
			}
		}
	})
}

// The only process there can be does not wait for the one that died before it,
// nor uses a number twice.
func TestOnlyProcessInheritsTheLanes(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		next := w.another(t)
		w.subscribe(newReceiver(t).URL, event.InvoicePaid)
		w.happen(10, event.InvoicePaid)
		if jobs := w.claimAll(2); len(jobs) != 2 || jobs[0].number != 1 {
			t.Fatalf("%d were claimed", len(jobs))
		}
		must(t, next.Inherit(t.Context()))
		jobs := next.claimAll(2)
		if len(jobs) != 2 || jobs[0].number != 2 || jobs[1].number != 2 {
			t.Errorf("%d were claimed, or with numbers that were used", len(jobs))
		}
	})
}

// A lane that answers well has more at hand than under way, and never more
// under way than it may.
func TestLaneThatAnswersWellIsFilledUp(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		r := newReceiver(t)
		id, _ := w.subscribe(r.URL, event.InvoicePaid)
		ids := w.happen(300, event.InvoicePaid)
		e := w.engineOf()
		most := 0
		for range 5000 {
			n, err := e.round(t.Context())
			must(t, err)
			for more := 1; more > 0; {
				most = max(most, n)
				if more, err = e.refill(t.Context()); err != nil {
					t.Fatal(err)
				}
				most = max(most, more)
			}
			e.sending.Wait()
			if n == 0 {
				break
			}
		}
		wantOnce(t, r, ids)
		if n := w.count(id)[Delivered]; n != len(ids) || most <= laneCap || r.busiest() > laneCap {
			t.Errorf("%d delivered, %d claimed at once, %d under way at once", n, most, r.busiest())
		}
		if l := w.lanes()[0]; l.token != "" {
			t.Errorf("%+v", l)
		}
	})
}

// What is at hand was read when it was claimed. After a change of its webhook,
// or a second, it is read again.
func TestWhatIsAtHandIsReadAgain(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		old, moved := newReceiver(t), newReceiver(t)
		id, _ := w.subscribe(old.URL, event.InvoicePaid)
		e := w.engineOf()
		for _, change := range []func(){
			func() { w.put(id, `{"url":"`+moved.URL+`"}`) },
			func() { w.clock.Advance(fresh + time.Microsecond) },
		} {
			ids := w.happen(4, event.InvoicePaid)
			all, err := e.take(t.Context(), []ask{{lane: id, n: 4}})
			must(t, err)
			h := all[0].hold()
			e.holds[id], h.changed = h, e.changed.Load()
			change()
			e.holding.Lock()
			e.enter(h)
			e.hire(t.Context())
			e.holding.Unlock()
			e.sending.Wait()
			if n := len(moved.messages()) + len(old.messages()); n != 0 && !strings.Contains(w.find(id).URL, moved.URL) {
				t.Errorf("%d were sent to where it was", n)
			}
			if w.lanes()[0].token != "" {
				t.Error("the lane was not given back")
			}
			w.rounds()
			for _, one := range ids {
				if moved.times()[one] != 1 {
					t.Errorf("%s came %d times", one, moved.times()[one])
				}
			}
		}
		if n := len(old.messages()); n != 0 {
			t.Errorf("%d came to where it was before", n)
		}
	})
}

func TestFailureLeavesWhatIsAtHand(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		r := newReceiver(t)
		id, _ := w.subscribe(r.URL, event.InvoicePaid)
		w.happen(40, event.InvoicePaid)
		r.answer(http.StatusInternalServerError)
		e := w.engineOf()
		e.streaks[id] = 1000 // it used to answer well
		n, err := e.round(t.Context())
		must(t, err)
		e.sending.Wait()
		if sent := len(r.messages()); n != 40 || sent > 2*laneCap || sent != w.find(id).Failures {
			t.Errorf("%d were at hand, %d sent, %d failures counted", n, sent, w.find(id).Failures)
		}
		if again := w.claimAll(slots); len(again) != failingLaneCap {
			t.Errorf("%d are claimed of a failing lane", len(again))
		}
	})
}

// What was accepted before a failure is recorded before it: otherwise it would
// begin the count of failures anew.
func TestFailuresAreCountedFromTheFirstOne(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		r := newReceiver(t)
		id, _ := w.subscribe(r.URL, event.InvoicePaid)
		w.happen(100, event.InvoicePaid)
		var came atomic.Int64
		r.meet = func(<-chan struct{}) {
			if came.Add(1) > 30 {
				r.answer(http.StatusNotFound)
			}
		}
		e := w.engineOf()
		e.streaks[id] = 1000 // it used to answer well
		for range 100 {
			_, err := e.round(t.Context())
			must(t, err)
			e.sending.Wait()
		}
		n, hook := w.count(id), w.find(id)
		if hook.Active || hook.Failures != maxFailures || n[Refused] != maxFailures || n[Delivered] > 30 || n[Parked]+n[Delivered]+n[Refused] != 100 {
			t.Errorf("%v, and %d failures are counted", n, hook.Failures)
		}
	})
}

func TestResendOfWhatALaneSendsIsRefused(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		r, other := newReceiver(t), w.another(t)
		id, _ := w.subscribe(r.URL, event.InvoicePaid)
		w.happen(2, event.InvoicePaid)
		sending := w.claimAll(1)[0]
		if _, err := other.Resend(t.Context(), w.actor, "", sending.id); fault.KindOf(err) != fault.KindConflict {
			t.Errorf("sent beside the engine: %v", err)
		}
		ids := []int64{w.history(id)[0].ID, w.history(id)[1].ID}
		free := ids[1-slices.Index(ids, sending.id)]
		if d, err := other.Resend(t.Context(), w.actor, "", free); err != nil || d.Status != Delivered {
			t.Errorf("%+v, %v", d, err)
		}
		// The engine has died: its attempt can no longer be recorded, nor is its number used again.
		w.clock.Advance(lease)
		d, err := other.Resend(t.Context(), w.actor, "", sending.id)
		if err != nil || d.Status != Delivered || len(d.Attempts) != 1 || d.Attempts[0].Number != 2 {
			t.Errorf("%+v, %v", d, err)
		}
		if kept, err := w.close(t.Context(), sending, outcome{verdict: broken, at: noon}); kept || err != nil {
			t.Errorf("a late closing was kept: %t, %v", kept, err)
		}
		if n := w.rounds(); n != 0 {
			t.Errorf("%d were sent again", n)
		}
	})
}

// One who waited for a delivery, and came back too late, changes nothing.
func TestLateCloseOfAResendChangesNothing(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		r := newReceiver(t)
		id, _ := w.subscribe(r.URL, event.InvoicePaid)
		w.happen(1, event.InvoicePaid)
		var late job
		must(t, w.db.Write(t.Context(), func(tx *sqldb.Tx) (err error) {
			late, err = w.claimOne(t.Context(), tx, w.actor, w.history(id)[0].ID)
			return err
		}))
		if n := w.rounds(); n != 0 {
			t.Fatalf("%d were sent while somebody waits for it", n)
		}
		w.clock.Advance(lease)
		jobs := w.claimAll(1)
		if len(jobs) != 1 || jobs[0].number != 3 {
			t.Fatalf("%d were claimed", len(jobs))
		}
		if kept, err := w.close(t.Context(), late, outcome{verdict: accepted, at: noon}); kept || err != nil {
			t.Errorf("a late closing was kept: %t, %v", kept, err)
		}
		if kept, err := w.close(t.Context(), jobs[0], outcome{verdict: accepted, at: noon}); !kept || err != nil {
			t.Errorf("the other was not: %t, %v", kept, err)
		}
	})
}

func TestStoppedEngineGivesItsLanesBack(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		id, _ := w.subscribe(newReceiver(t).URL, event.InvoicePaid)
		w.happen(8, event.InvoicePaid)
		e := w.engineOf()
		all, err := e.take(t.Context(), []ask{{lane: id, n: 8}})
		must(t, err)
		e.holds[id] = all[0].hold()
		e.stop(t.Context())
		if jobs := w.another(t).claimAll(slots); len(jobs) != laneCap || jobs[0].number != 1 {
			t.Errorf("another one gets %d", len(jobs))
		}
	})
}
