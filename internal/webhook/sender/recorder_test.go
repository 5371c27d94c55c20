package sender_test

import (
	"testing"

	"carteira/internal/event"
	"carteira/internal/webhook"
	"carteira/internal/webhook/sender"
	"carteira/internal/webhook/webhooktest"
)

// Attempts that are recorded together keep each its own outcome.
func TestAcceptedAttemptsAreRecordedTogether(t *testing.T) {
	webhooktest.Each(t, func(t *testing.T, w *webhooktest.World) {
		r := webhooktest.NewReceiver(t)
		id, _ := w.Subscribe(r.URL, event.InvoicePaid)
		recovering, _ := w.Subscribe(r.URL+"/recovering", event.InvoicePaid)
		w.Happen(3, event.InvoicePaid)
		w.Exec(`UPDATE webhooks SET failures = 3 WHERE id = ?`, recovering)
		jobs := claimAll(w, sender.QuickSlots)
		late := jobs[0].Earlier()
		fallen := w.Sender().RecordTogether(t.Context(), webhooktest.Morning, append([]sender.Job{late}, jobs...))
		for _, j := range fallen {
			kept, err := w.Sender().Record(t.Context(), j, sender.Accepted(webhooktest.Morning))
			if err != nil || kept == j.SameAs(late) {
				t.Errorf("recording %d by itself: kept is %v, %v", j.ID(), kept, err)
			}
		}
		if len(fallen) != 2 { // the late one, and that of the webhook with failures
			t.Errorf("%d of %d fell out of the batch", len(fallen), len(jobs)+1)
		}
		if n := w.Webhook(recovering).Failures; n != 0 {
			t.Errorf("%d failures are still counted", n)
		}
		for _, d := range append(w.History(id), w.History(recovering)...) {
			if d.Status == webhook.Delivered && len(d.Attempts) != 1 {
				t.Errorf("delivery %d has attempts %+v", d.ID, d.Attempts)
			}
		}
		if n := w.Count(id); n[webhook.Delivered] != 3 {
			t.Errorf("deliveries are %v", n)
		}
	})
}
