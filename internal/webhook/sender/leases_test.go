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
	"carteira/test/kit/webhooktest"
)

func lanesOf(world *webhooktest.World) []sender.LaneRow {
	world.T.Helper()
	list, err := world.Sender().Lanes(world.T.Context())
	webhooktest.Must(world.T, err)
	return list
}

func TestLaneIsOneProcessesAtATime(t *testing.T) {
	webhooktest.Each(t, func(t *testing.T, world *webhooktest.World) {
		other := world.Another()
		id, _ := world.Subscribe(webhooktest.NewReceiver(t).URL, event.InvoicePaid)
		world.Happen(10, event.InvoicePaid)
		if jobs := claimAll(world, 2); len(jobs) != 2 {
			t.Fatalf("%d were claimed", len(jobs))
		}
		// It has fewer in flight than it may, but a process that sent more would not
		// know of these.
		if jobs := claimAll(other, sender.QuickSlots); len(jobs) != 0 {
			t.Errorf("another one claimed %d", len(jobs))
		}
		if l := lanesOf(world); len(l) != 1 || l[0].Lane != id || len(l[0].Sending) != 2 || !l[0].Until.Equal(webhooktest.Morning.Add(sender.LeaseTime)) {
			t.Errorf("%+v", l)
		}
	})
}

func TestLeaseIsKeptByRenewals(t *testing.T) {
	webhooktest.Each(t, func(t *testing.T, world *webhooktest.World) {
		other := world.Another()
		id, _ := world.Subscribe(webhooktest.NewReceiver(t).URL, event.InvoicePaid)
		world.Happen(10, event.InvoicePaid)
		claimAll(world, 2)
		for range 5 {
			world.Clock.Advance(sender.LeaseTime - time.Microsecond)
			if renewed, err := world.Sender().Renew(t.Context(), id); err != nil || !slices.Equal(renewed, []int64{id}) {
				t.Fatalf("renewed %v, %v", renewed, err)
			}
			if jobs := claimAll(other, 2); len(jobs) != 0 {
				t.Fatal("the lease was taken before its end")
			}
		}
		world.Clock.Advance(sender.LeaseTime)
		if jobs := claimAll(other, 2); len(jobs) != 2 || jobs[0].Number() != 2 {
			t.Errorf("%d were claimed after its end", len(jobs))
		}
		if renewed, err := world.Sender().Renew(t.Context(), id); err != nil || len(renewed) != 0 {
			t.Errorf("a lease that was lost is renewed: %v, %v", renewed, err)
		}
	})
}

func TestLaneIsGivenBackWithItsLastRecord(t *testing.T) {
	webhooktest.Each(t, func(t *testing.T, world *webhooktest.World) {
		receiver := webhooktest.NewReceiver(t)
		world.Subscribe(receiver.URL, event.InvoicePaid)
		for _, status := range []int{http.StatusOK, http.StatusInternalServerError, http.StatusNotFound} {
			receiver.Answer(status)
			world.Happen(3, event.InvoicePaid)
			world.Round()
			if row := lanesOf(world)[0]; row.Token != "" || len(row.Sending) != 0 || row.Until.After(world.Clock.Now()) {
				t.Errorf("after %d: %+v", status, row)
			}
		}
	})
}

// The only process there can be does not wait for the one that died before it,
// nor uses a number twice.
func TestOnlyProcessInheritsTheLanes(t *testing.T) {
	webhooktest.Each(t, func(t *testing.T, world *webhooktest.World) {
		next := world.Another()
		world.Subscribe(webhooktest.NewReceiver(t).URL, event.InvoicePaid)
		world.Happen(10, event.InvoicePaid)
		if jobs := claimAll(world, 2); len(jobs) != 2 || jobs[0].Number() != 1 {
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
	webhooktest.Each(t, func(t *testing.T, world *webhooktest.World) {
		receiver := webhooktest.NewReceiver(t)
		id, _ := world.Subscribe(receiver.URL, event.InvoicePaid)
		world.Happen(6, event.InvoicePaid)
		claimAll(world, 4) // as a run does that panics then
		stop := world.Start()
		defer stop()
		webhooktest.Eventually(t, "all is delivered", func() bool { return world.Count(id)[webhook.Delivered] == 6 })
	})
}

// A lane that answers well is prefetched, and never has more in flight than it may.
func TestLaneThatAnswersWellIsPrefetched(t *testing.T) {
	webhooktest.Each(t, func(t *testing.T, world *webhooktest.World) {
		receiver := webhooktest.NewReceiver(t)
		id, _ := world.Subscribe(receiver.URL, event.InvoicePaid)
		ids := world.Happen(300, event.InvoicePaid)
		var most atomic.Int64
		receiver.Meet = func(<-chan struct{}) {
			if l := lanesOf(world); len(l) == 1 {
				most.Store(max(most.Load(), int64(len(l[0].Sending))))
			}
		}
		stop := world.Start()
		webhooktest.Eventually(t, "all is delivered", func() bool { return world.Count(id)[webhook.Delivered] == len(ids) })
		stop()
		webhooktest.WantOnce(t, receiver, ids)
		if most.Load() <= sender.LaneLimit || receiver.Busiest() > sender.LaneLimit {
			t.Errorf("%d claimed at once, %d in flight at once", most.Load(), receiver.Busiest())
		}
		if row := lanesOf(world)[0]; row.Token != "" {
			t.Errorf("%+v", row)
		}
	})
}

// Address and switch count that a webhook has when a delivery is sent, prefetched
// or not.
func TestChangeOfAWebhookCountsForWhatIsPrefetched(t *testing.T) {
	webhooktest.Each(t, func(t *testing.T, world *webhooktest.World) {
		old, moved := webhooktest.NewReceiver(t), webhooktest.NewReceiver(t)
		id, _ := world.Subscribe(old.URL, event.InvoicePaid)
		var came, changed atomic.Int64
		old.Meet = func(<-chan struct{}) {
			if came.Add(1) == 30 {
				world.Put(id, `{"url":"`+moved.URL+`"}`)
				changed.Store(int64(len(old.Messages())))
			}
		}
		ids := world.Happen(200, event.InvoicePaid)
		stop := world.Start()
		webhooktest.Eventually(t, "all is delivered", func() bool { return world.Count(id)[webhook.Delivered] == len(ids) })
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
// reset the count of failures.
func TestFailuresAreCountedFromTheFirstOne(t *testing.T) {
	webhooktest.Each(t, func(t *testing.T, world *webhooktest.World) {
		receiver := webhooktest.NewReceiver(t)
		id, _ := world.Subscribe(receiver.URL, event.InvoicePaid)
		world.Happen(100, event.InvoicePaid)
		var came atomic.Int64
		receiver.Meet = func(<-chan struct{}) {
			if came.Add(1) > 30 {
				receiver.Answer(http.StatusNotFound)
			}
		}
		stop := world.Start()
		webhooktest.Eventually(t, "it is switched off", func() bool { return !world.Webhook(id).Active })
		stop()
		count, hook := world.Count(id), world.Webhook(id)
		if hook.Failures != sender.MaxFailures || count[webhook.Refused] != sender.MaxFailures || count[webhook.Delivered] > 30 ||
			count[webhook.Parked]+count[webhook.Delivered]+count[webhook.Refused] != 100 {
			t.Errorf("%v, and %d failures are counted", count, hook.Failures)
		}
	})
}

func TestResendOfWhatALaneSendsIsRefused(t *testing.T) {
	webhooktest.Each(t, func(t *testing.T, world *webhooktest.World) {
		receiver, other := webhooktest.NewReceiver(t), world.Another()
		id, _ := world.Subscribe(receiver.URL, event.InvoicePaid)
		world.Happen(2, event.InvoicePaid)
		sending := claimAll(world, 1)[0]
		if _, err := other.Resend(t.Context(), world.Actor, "", sending.ID()); fault.KindOf(err) != fault.KindConflict {
			t.Errorf("sent beside the sender: %v", err)
		}
		ids := []int64{world.History(id)[0].ID, world.History(id)[1].ID}
		free := ids[1-slices.Index(ids, sending.ID())]
		if delivery, err := other.Resend(t.Context(), world.Actor, "", free); err != nil || delivery.Status != webhook.Delivered {
			t.Errorf("%+v, %v", delivery, err)
		}
		// The sender has died: its attempt can no longer be recorded, nor is its number used again.
		world.Clock.Advance(sender.LeaseTime)
		delivery, err := other.Resend(t.Context(), world.Actor, "", sending.ID())
		if err != nil || delivery.Status != webhook.Delivered || len(delivery.Attempts) != 1 || delivery.Attempts[0].Number != 2 {
			t.Errorf("%+v, %v", delivery, err)
		}
		if kept, err := world.Sender().Record(t.Context(), sending, sender.Broken(webhooktest.Morning)); kept || err != nil {
			t.Errorf("a late record was kept: %t, %v", kept, err)
		}
		if n := world.Rounds(); n != 0 {
			t.Errorf("%d were sent again", n)
		}
	})
}

// A person who waited for a delivery, and came back too late, changes nothing.
func TestLateRecordOfAResendChangesNothing(t *testing.T) {
	webhooktest.Each(t, func(t *testing.T, world *webhooktest.World) {
		id, _ := world.Subscribe(webhooktest.NewReceiver(t).URL, event.InvoicePaid)
		world.Happen(1, event.InvoicePaid)
		var late sender.Job
		webhooktest.Must(t, world.DB.Write(t.Context(), func(tx *sqldb.Tx) (err error) {
			late, _, err = world.Sender().ClaimNow(t.Context(), tx, world.Actor.Company.ID, world.History(id)[0].ID)
			return err
		}))
		if n := world.Rounds(); n != 0 {
			t.Fatalf("%d were sent while a person waits for it", n)
		}
		world.Clock.Advance(sender.WaiterTime)
		jobs := claimAll(world, 1)
		if len(jobs) != 1 || jobs[0].Number() != 3 {
			t.Fatalf("%d were claimed", len(jobs))
		}
		if kept, err := world.Sender().Record(t.Context(), late, sender.Accepted(webhooktest.Morning)); kept || err != nil {
			t.Errorf("a late record was kept: %t, %v", kept, err)
		}
		if kept, err := world.Sender().Record(t.Context(), jobs[0], sender.Accepted(webhooktest.Morning)); !kept || err != nil {
			t.Errorf("the other was not: %t, %v", kept, err)
		}
	})
}

func TestStoppedSenderGivesItsLanesBack(t *testing.T) {
	webhooktest.Each(t, func(t *testing.T, world *webhooktest.World) {
		receiver := webhooktest.NewReceiver(t)
		arrived, release := make(chan struct{}, 100), make(chan struct{})
		receiver.Meet = func(<-chan struct{}) {
			arrived <- struct{}{}
			<-release
		}
		id, _ := world.Subscribe(receiver.URL, event.InvoicePaid)
		world.Happen(8, event.InvoicePaid)
		stop := world.Start()
		<-arrived
		stopped := make(chan struct{})
		go func() {
			stop()
			close(stopped)
		}()
		close(release)
		<-stopped
		if row := lanesOf(world)[0]; row.Token != "" {
			t.Errorf("%+v", row)
		}
		sent := len(receiver.Messages())
		if n := world.Count(id)[webhook.Delivered]; n != sent || sent > sender.LaneLimit {
			t.Errorf("%d were sent, %d are delivered", sent, n)
		}
		if jobs := claimAll(world.Another(), sender.QuickSlots); len(jobs) != min(8-sent, sender.LaneLimit) || jobs[0].Number() != 1 {
			t.Errorf("another one gets %d", len(jobs))
		}
	})
}
