package webhook

import (
	"net/http"
	"sync"
	"testing"

	"carteira/internal/platform/event"
	"carteira/internal/platform/outbound"
)

// Attempts that are closed together keep each its own outcome.
func TestAcceptedAttemptsAreClosedTogether(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		r := newReceiver(t)
		id, _ := w.subscribe(r.URL, event.InvoicePaid)
		recovering, _ := w.subscribe(r.URL+"/recovering", event.InvoicePaid)
		w.happen(3, event.InvoicePaid)
		w.exec(`UPDATE webhooks SET failures = 3 WHERE id = ?`, recovering)
		jobs, err := w.claim(t.Context(), slots)
		must(t, err)
		late := jobs[0]
		late.begun-- // that of a claim before
		c := newCloser(w.Service)
		kept := make([]bool, len(jobs)+1)
		var closings sync.WaitGroup
		for i, j := range append(jobs, late) {
			closings.Go(func() {
				o := outcome{verdict: accepted, at: noon, response: outbound.Result{Status: http.StatusOK}}
				ours, err := c.close(t.Context(), j, o)
				if kept[i] = ours; err != nil {
					t.Error(err)
				}
			})
		}
		closings.Wait()
		for i, k := range kept {
			if k != (i < len(jobs)) {
				t.Errorf("closing %d of %d: kept is %v", i, len(jobs), k)
			}
		}
		if n := w.find(recovering).Failures; n != 0 {
			t.Errorf("%d failures are still counted", n)
		}
		for _, d := range append(w.history(id), w.history(recovering)...) {
			if d.Status == Delivered && len(d.Attempts) != 1 {
				t.Errorf("delivery %d has attempts %+v", d.ID, d.Attempts)
			}
		}
		if n := w.count(id); n[Delivered] != 3 {
			t.Errorf("deliveries are %v", n)
		}
	})
}
