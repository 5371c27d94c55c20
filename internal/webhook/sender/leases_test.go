package sender_test

import (
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"carteira/internal/event"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/sqldb"
	"carteira/internal/webhook"
	"carteira/internal/webhook/sender"
	"carteira/internal/webhook/webhooktest"
)

func lanesOf(w *webhooktest.World) []sender.LaneRow {
	w.T.Helper()
	list, err := w.Sender().Lanes(w.T.Context())
	webhooktest.Must(w.T, err)
	return list
}

func TestLaneIsOneProcessesAtATime(t *testing.T) {
	webhooktest.Each(t, func(t *testing.T, w *webhooktest.World) {
		other := w.Another()
		id, _ := w.Subscribe(webhooktest.NewReceiver(t).URL, event.InvoicePaid)
		w.Happen(10, event.InvoicePaid)
		if jobs := claimAll(w, 2); len(jobs) != 2 {
			t.Fatalf("%d were claimed", len(jobs))
		}
		// It has fewer in flight than it may, but who sends more knows nothing of these.
		if jobs := claimAll(other, sender.QuickSlots); len(jobs) != 0 {
			t.Errorf("another one claimed %d", len(jobs))
		}
		if l := lanesOf(w); len(l) != 1 || l[0].Lane != id || len(l[0].Sending) != 2 || !l[0].Until.Equal(webhooktest.Morning.Add(sender.LeaseTime)) {
			t.Errorf("%+v", l)
		}
	})
}

func TestLeaseIsKeptByRenewals(t *testing.T) {
	webhooktest.Each(t, func(t *testing.T, w *webhooktest.World) {
		other := w.Another()
		id, _ := w.Subscribe(webhooktest.NewReceiver(t).URL, event.InvoicePaid)
		w.Happen(10, event.InvoicePaid)
		claimAll(w, 2)
		for range 5 {
			w.Clock.Advance(sender.LeaseTime - time.Microsecond)
			if renewed, err := w.Sender().Renew(t.Context(), id); err != nil || !slices.Equal(renewed, []int64{id}) {
				t.Fatalf("renewed %v, %v", renewed, err)
			}
			if jobs := claimAll(other, 2); len(jobs) != 0 {
				t.Fatal("the lease was taken before its end")
			}
		}
		w.Clock.Advance(sender.LeaseTime)
		if jobs := claimAll(other, 2); len(jobs) != 2 || jobs[0].Number() != 2 {
			t.Errorf("%d were claimed after its end", len(jobs))
		}
		if renewed, err := w.Sender().Renew(t.Context(), id); err != nil || len(renewed) != 0 {
			t.Errorf("a lease that was lost is renewed: %v, %v", renewed, err)
		}
	})
}

func TestLaneIsGivenBackWithItsLastRecord(t *testing.T) {
	webhooktest.Each(t, func(t *testing.T, w *webhooktest.World) {
		r := webhooktest.NewReceiver(t)
		w.Subscribe(r.URL, event.InvoicePaid)
		for _, status := range []int{http.StatusOK, http.StatusInternalServerError, http.StatusNotFound} {
			r.Answer(status)
			w.Happen(3, event.InvoicePaid)
			w.Round()
			if l := lanesOf(w)[0]; l.Token != "" || len(l.Sending) != 0 || l.Until.After(w.Clock.Now()) {
				t.Errorf("after %d: %+v", status, l)
			}
		}
	})
}

// The only process there can be does not wait for the one that died before it,
// nor uses a number twice.
func TestOnlyProcessInheritsTheLanes(t *testing.T) {
	webhooktest.Each(t, func(t *testing.T, w *webhooktest.World) {
		next := w.Another()
		w.Subscribe(webhooktest.NewReceiver(t).URL, event.InvoicePaid)
		w.Happen(10, event.InvoicePaid)
		if jobs := claimAll(w, 2); len(jobs) != 2 || jobs[0].Number() != 1 {
			t.Fatalf("%d were claimed", len(jobs))
		}
		webhooktest.Must(t, next.Inherit(t.Context()))
		jobs := claimAll(next, 2)
		if len(jobs) != 2 || jobs[0].Number() != 2 || jobs[1].Number() != 2 {
			t.Errorf("%d were claimed, or with numbers that were used", len(jobs))
		}
	})
}

// A run that begins takes over what the run before it in the same process left.
func TestRunTakesOverTheLeasesOfTheLastOne(t *testing.T) {
	webhooktest.Each(t, func(t *testing.T, w *webhooktest.World) {
		r := webhooktest.NewReceiver(t)
		id, _ := w.Subscribe(r.URL, event.InvoicePaid)
		w.Happen(6, event.InvoicePaid)
		claimAll(w, 4) // as a run does that panics then
		stop := w.Start()
		defer stop()
		webhooktest.Eventually(t, "all is delivered", func() bool { return w.Count(id)[webhook.Delivered] == 6 })
	})
}

// A lane that answers well is prefetched, and never has more in flight than it may.
func TestLaneThatAnswersWellIsPrefetched(t *testing.T) {
	webhooktest.Each(t, func(t *testing.T, w *webhooktest.World) {
		r := webhooktest.NewReceiver(t)
		id, _ := w.Subscribe(r.URL, event.InvoicePaid)
		ids := w.Happen(300, event.InvoicePaid)
		var most atomic.Int64
		r.Meet = func(<-chan struct{}) {
			if l := lanesOf(w); len(l) == 1 {
				most.Store(max(most.Load(), int64(len(l[0].Sending))))
			}
		}
		stop := w.Start()
		webhooktest.Eventually(t, "all is delivered", func() bool { return w.Count(id)[webhook.Delivered] == len(ids) })
		stop()
		webhooktest.WantOnce(t, r, ids)
		if most.Load() <= sender.LaneLimit || r.Busiest() > sender.LaneLimit {
			t.Errorf("%d claimed at once, %d in flight at once", most.Load(), r.Busiest())
		}
		if l := lanesOf(w)[0]; l.Token != "" {
			t.Errorf("%+v", l)
		}
	})
}

// Address and switch count that a webhook has when a delivery is sent, prefetched
// or not.
func TestChangeOfAWebhookCountsForWhatIsPrefetched(t *testing.T) {
	webhooktest.Each(t, func(t *testing.T, w *webhooktest.World) {
		old, moved := webhooktest.NewReceiver(t), webhooktest.NewReceiver(t)
		id, _ := w.Subscribe(old.URL, event.InvoicePaid)
		var came, changed atomic.Int64
		old.Meet = func(<-chan struct{}) {
			if came.Add(1) == 30 {
				w.Put(id, `{"url":"`+moved.URL+`"}`)
				changed.Store(int64(len(old.Messages())))
			}
		}
		ids := w.Happen(200, event.InvoicePaid)
		stop := w.Start()
		webhooktest.Eventually(t, "all is delivered", func() bool { return w.Count(id)[webhook.Delivered] == len(ids) })
		stop()
		if late := int64(len(old.Messages())) - changed.Load(); late > sender.LaneLimit {
			t.Errorf("%d were sent to where it was before, after the change", late)
		}
		if len(moved.Messages())+len(old.Messages()) != len(ids) {
			t.Errorf("%d and %d came", len(old.Messages()), len(moved.Messages()))
		}
	})
}

// What was accepted before a failure is recorded before it: otherwise it would
// begin the count of failures anew.
func TestFailuresAreCountedFromTheFirstOne(t *testing.T) {
	webhooktest.Each(t, func(t *testing.T, w *webhooktest.World) {
		r := webhooktest.NewReceiver(t)
		id, _ := w.Subscribe(r.URL, event.InvoicePaid)
		w.Happen(100, event.InvoicePaid)
		var came atomic.Int64
		r.Meet = func(<-chan struct{}) {
			if came.Add(1) > 30 {
				r.Answer(http.StatusNotFound)
			}
		}
		stop := w.Start()
		webhooktest.Eventually(t, "it is switched off", func() bool { return !w.Webhook(id).Active })
		stop()
		n, hook := w.Count(id), w.Webhook(id)
		if hook.Failures != sender.MaxFailures || n[webhook.Refused] != sender.MaxFailures || n[webhook.Delivered] > 30 ||
			n[webhook.Parked]+n[webhook.Delivered]+n[webhook.Refused] != 100 {
			t.Errorf("%v, and %d failures are counted", n, hook.Failures)
		}
	})
}

func TestResendOfWhatALaneSendsIsRefused(t *testing.T) {
	webhooktest.Each(t, func(t *testing.T, w *webhooktest.World) {
		r, other := webhooktest.NewReceiver(t), w.Another()
		id, _ := w.Subscribe(r.URL, event.InvoicePaid)
		w.Happen(2, event.InvoicePaid)
		sending := claimAll(w, 1)[0]
		if _, err := other.Resend(t.Context(), w.Actor, "", sending.ID()); fault.KindOf(err) != fault.KindConflict {
			t.Errorf("sent beside the sender: %v", err)
		}
		ids := []int64{w.History(id)[0].ID, w.History(id)[1].ID}
		free := ids[1-slices.Index(ids, sending.ID())]
		if d, err := other.Resend(t.Context(), w.Actor, "", free); err != nil || d.Status != webhook.Delivered {
			t.Errorf("%+v, %v", d, err)
		}
		// The sender has died: its attempt can no longer be recorded, nor is its number used again.
		w.Clock.Advance(sender.LeaseTime)
		d, err := other.Resend(t.Context(), w.Actor, "", sending.ID())
		if err != nil || d.Status != webhook.Delivered || len(d.Attempts) != 1 || d.Attempts[0].Number != 2 {
			t.Errorf("%+v, %v", d, err)
		}
		if kept, err := w.Sender().Record(t.Context(), sending, sender.Broken(webhooktest.Morning)); kept || err != nil {
			t.Errorf("a late record was kept: %t, %v", kept, err)
		}
		if n := w.Rounds(); n != 0 {
			t.Errorf("%d were sent again", n)
		}
	})
}

// A person who waited for a delivery, and came back too late, changes nothing.
func TestLateRecordOfAResendChangesNothing(t *testing.T) {
	webhooktest.Each(t, func(t *testing.T, w *webhooktest.World) {
		id, _ := w.Subscribe(webhooktest.NewReceiver(t).URL, event.InvoicePaid)
		w.Happen(1, event.InvoicePaid)
		var late sender.Job
		webhooktest.Must(t, w.DB.Write(t.Context(), func(tx *sqldb.Tx) (err error) {
			late, _, err = w.Sender().ClaimNow(t.Context(), tx, w.Actor.Company.ID, w.History(id)[0].ID)
			return err
		}))
		if n := w.Rounds(); n != 0 {
			t.Fatalf("%d were sent while a person waits for it", n)
		}
		w.Clock.Advance(sender.WaiterTime)
		jobs := claimAll(w, 1)
		if len(jobs) != 1 || jobs[0].Number() != 3 {
			t.Fatalf("%d were claimed", len(jobs))
		}
		if kept, err := w.Sender().Record(t.Context(), late, sender.Accepted(webhooktest.Morning)); kept || err != nil {
			t.Errorf("a late record was kept: %t, %v", kept, err)
		}
		if kept, err := w.Sender().Record(t.Context(), jobs[0], sender.Accepted(webhooktest.Morning)); !kept || err != nil {
			t.Errorf("the other was not: %t, %v", kept, err)
		}
	})
}

func TestStoppedSenderGivesItsLanesBack(t *testing.T) {
	webhooktest.Each(t, func(t *testing.T, w *webhooktest.World) {
		r := webhooktest.NewReceiver(t)
		arrived, release := make(chan struct{}, 100), make(chan struct{})
		r.Meet = func(<-chan struct{}) {
			arrived <- struct{}{}
			<-release
		}
		id, _ := w.Subscribe(r.URL, event.InvoicePaid)
		w.Happen(8, event.InvoicePaid)
		stop := w.Start()
		<-arrived
		stopped := make(chan struct{})
		go func() {
			stop()
			close(stopped)
		}()
		close(release)
		<-stopped
		if l := lanesOf(w)[0]; l.Token != "" {
			t.Errorf("%+v", l)
		}
		sent := len(r.Messages())
		if n := w.Count(id)[webhook.Delivered]; n != sent || sent > sender.LaneLimit {
			t.Errorf("%d were sent, %d are delivered", sent, n)
		}
		if jobs := claimAll(w.Another(), sender.QuickSlots); len(jobs) != min(8-sent, sender.LaneLimit) || jobs[0].Number() != 1 {
			t.Errorf("another one gets %d", len(jobs))
		}
	})
}
