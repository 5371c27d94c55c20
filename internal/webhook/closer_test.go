package webhook

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"testing"

	"carteira/internal/event"
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
		jobs := w.claimAll(slots)
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

// Lanes are given back in the order in which they are taken: otherwise two
// processes could wait for each other.
func TestLanesAreGivenBackInOrder(t *testing.T) {
	var batch []closing
	closed := map[int64]bool{}
	for i, lane := range []int64{7, -3, 12, 7, 5, 9} {
		id := int64(i + 1)
		closed[id] = true
		batch = append(batch, closing{job: job{id: id, hold: &hold{row: laneRow{lane: lane}, open: map[int64]bool{id: true}}}})
	}
	batch[3].job.hold = batch[0].job.hold
	batch[5].job.hold.open[99] = true // has more
	var lanes []int64
	for _, h := range (&closer{Service: &Service{}}).covered(batch, closed) {
		lanes = append(lanes, h.row.lane)
	}
	if !slices.Equal(lanes, []int64{-3, 5, 7, 12}) {
		t.Errorf("given back are %v", lanes)
	}
}
