package payment

import (
	"context"
	"sync"
)

// waiters lets one caller of this process at a time work on an invoice: the
// others would only poll the database until the first is done.
type waiters struct {
	mu     sync.Mutex
	queues map[int64]*queue
}

// queue is the callers that wait for one invoice, and the one that works on it.
type queue struct {
	lock    chan struct{}
	members int
}

// lock waits until no other caller works on the invoice; unlock lets the next
// one in.
func (w *waiters) lock(ctx context.Context, invoiceID int64) (unlock func(), err error) {
	queue := w.join(invoiceID)
	select {
	case queue.lock <- struct{}{}:
		return func() {
			<-queue.lock
			w.leave(invoiceID, queue)
		}, nil
	case <-ctx.Done():
		w.leave(invoiceID, queue)
		return nil, ctx.Err()
	}
}

func (w *waiters) join(invoiceID int64) *queue {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.queues == nil {
		w.queues = map[int64]*queue{}
	}
	q := w.queues[invoiceID]
	if q == nil {
		q = &queue{lock: make(chan struct{}, 1)}
		w.queues[invoiceID] = q
	}
	q.members++
	return q
}

func (w *waiters) leave(invoiceID int64, queue *queue) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if queue.members--; queue.members == 0 {
		delete(w.queues, invoiceID)
	}
}
