package sender

import (
	"context"
	"time"

	"carteira/internal/platform/crashpoint"
)

const (
	// fullBatch is what a transaction waits for when the one before was large,
	// for as long as linger: it costs about the same for one as for dozens.
	fullBatch  = 64
	largeBatch = 16
	linger     = 2 * time.Millisecond
)

// report is what became of the record of an attempt.
type report struct {
	attempt attempt
	kept    bool // false: the claim had run out
	err     error
	alone   bool // it could not be recorded with its batch, and is to be recorded by itself
}

// recorder records accepted attempts in batches: all that come while one
// transaction is being committed share the next. Nearly all attempts are
// accepted, and a transaction for each costs several times the sending.
type recorder struct {
	store   store
	in      chan attempt
	out     chan<- []report
	done    <-chan struct{}
	waiting []attempt
}

func newRecorder(store store, out chan<- []report, done <-chan struct{}) *recorder {
	return &recorder{store: store, in: make(chan attempt, maxUnrecorded+quickSlots), out: out, done: done}
}

// run records until in is closed.
func (r *recorder) run(ctx context.Context) {
	for last := 0; r.gather(last); {
		batch := r.nextBatch()
		last = len(batch)
		select {
		case r.out <- r.record(ctx, batch):
		case <-r.done:
			return
		}
	}
}

// gather waits for attempts: for one, and after a large batch a moment for more.
func (r *recorder) gather(last int) (more bool) {
	if len(r.waiting) == 0 {
		attempt, ok := <-r.in
		if !ok {
			return false
		}
		r.waiting = append(r.waiting, attempt)
	}
	if last >= largeBatch {
		r.await(time.After(linger))
	}
	for len(r.in) > 0 {
		r.waiting = append(r.waiting, <-r.in)
	}
	return true
}

// await takes attempts until a batch is full, or it is late.
func (r *recorder) await(late <-chan time.Time) {
	for len(r.waiting) < fullBatch {
		select {
		case attempt, ok := <-r.in:
			if !ok {
				return
			}
			r.waiting = append(r.waiting, attempt)
		case <-late:
			return
		}
	}
}

// nextBatch takes the attempts that wait, at most one per delivery: a late
// attempt and its successor must not share a statement, which could not tell
// their fences apart.
func (r *recorder) nextBatch() (batch []attempt) {
	var later []attempt
	taken := make(map[int64]bool, len(r.waiting))
	for _, attempt := range r.waiting {
		if taken[attempt.job.id] {
			later = append(later, attempt)
			continue
		}
		taken[attempt.job.id] = true
		batch = append(batch, attempt)
	}
	r.waiting = later
	return batch
}

// record records a batch and says what became of each attempt. What is in the
// way of one is none of the others' business: it is recorded by itself.
func (r *recorder) record(ctx context.Context, batch []attempt) []report {
	record := func(ctx context.Context) (map[int64]bool, error) { return r.store.recordAccepted(ctx, batch) }
	kept, err := guarded(record)(ctx)
	if err != nil {
		kept = nil
	}
	crashpoint.Here("after-close")
	reports := make([]report, len(batch))
	for i, attempt := range batch {
		done := kept[attempt.job.id]
		reports[i] = report{attempt: attempt, kept: done, alone: !done}
	}
	return reports
}
