package sender_test

import (
	"testing"

	"carteira/internal/event"
	"carteira/internal/webhook"
	"carteira/internal/webhook/sender"
	"carteira/test/kit/webhooktest"
)

// Attempts that are recorded together keep each its own outcome.
func TestAcceptedAttemptsAreRecordedTogether(t *testing.T) {
	webhooktest.Each(t, func(t *testing.T, world *webhooktest.World) {
		receiver := webhooktest.NewReceiver(t)
		id, _ := world.Subscribe(receiver.URL, event.InvoicePaid)
		recovering, _ := world.Subscribe(receiver.URL+"/recovering", event.InvoicePaid)
		world.Happen(3, event.InvoicePaid)
		world.Exec(`UPDATE webhooks SET failures = 3 WHERE id = ?`, recovering)
		jobs := claimAll(world, sender.QuickSlots)
		late := jobs[0].Earlier()
		fallen := world.Sender().RecordTogether(t.Context(), webhooktest.Morning, append([]sender.Job{late}, jobs...))
		for _, job := range fallen {
			kept, err := world.Sender().Record(t.Context(), job, sender.Accepted(webhooktest.Morning))
			if err != nil || kept == job.SameAs(late) {
				t.Errorf("recording %d by itself: kept is %v, %v", job.ID(), kept, err)
			}
		}
		if len(fallen) != 2 { // the late one, and that of the webhook with failures
			t.Errorf("%d of %d fell out of the batch", len(fallen), len(jobs)+1)
		}
		if n := world.Webhook(recovering).Failures; n != 0 {
			t.Errorf("%d failures are still counted", n)
		}
		for _, delivery := range append(world.History(id), world.History(recovering)...) {
			if delivery.Status == webhook.Delivered && len(delivery.Attempts) != 1 {
				t.Errorf("delivery %d has attempts %+v", delivery.ID, delivery.Attempts)
			}
		}
		if n := world.Count(id); n[webhook.Delivered] != 3 {
			t.Errorf("deliveries are %v", n)
		}
	})
}

// A batch is one batch, whatever its number of deliveries and webhooks.
func TestBatchesOfAnySizeAreRecordedTogether(t *testing.T) {
	webhooktest.Each(t, func(t *testing.T, world *webhooktest.World) {
		var lanes []int64
		for range 8 {
			id, _ := world.Subscribe(webhooktest.NewReceiver(t).URL, event.InvoicePaid)
			lanes = append(lanes, id)
		}
		world.Happen(4, event.InvoicePaid)
		byLane := map[int64][]sender.Job{}
		for _, job := range claimAll(world, sender.QuickSlots) {
			byLane[job.Lane()] = append(byLane[job.Lane()], job)
		}
		size := 0
		for _, count := range []int{1, 2, 5} { // 4, 8 and 20 deliveries
			var jobs []sender.Job
			for _, lane := range lanes[:count] {
				jobs = append(jobs, byLane[lane]...)
			}
			lanes = lanes[count:]
			size += len(jobs)
			if fallen := world.Sender().RecordTogether(t.Context(), webhooktest.Morning, jobs); len(fallen) > 0 {
				t.Errorf("%d of %d fell out of the batch", len(fallen), len(jobs))
			}
		}
		if size != 32 {
			t.Errorf("%d were recorded", size)
		}
	})
}
