package webhook

import (
	"context"
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
		var running sync.WaitGroup
		var mu sync.Mutex
		kept := map[bool]int{}
		c := newCloser(w.Service, &running, func(_ context.Context, x closing, ours bool, err error) {
			mu.Lock()
			defer mu.Unlock()
			if kept[ours]++; err != nil || ours == (x.job.id == late.id && x.job.begun == late.begun) {
				t.Errorf("closing %d, begun %d: kept is %v, %v", x.job.id, x.job.begun, ours, err)
			}
		})
		for _, j := range append(jobs, late) {
			o := outcome{verdict: accepted, at: noon, response: outbound.Result{Status: http.StatusOK}}
			c.add(t.Context(), closing{j, o})
		}
		running.Wait()
		if kept[true] != len(jobs) || kept[false] != 1 {
			t.Errorf("of %d closings and a late one %v were kept", len(jobs), kept)
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
