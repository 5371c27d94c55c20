package payment

import (
	"context"
	"sync"
)

// turns lets one caller of this process at a time deal with an invoice: the
// others would only ask the database again and again whether it is done.
type turns struct {
	mu    sync.Mutex
	lines map[int64]*line
}

type line struct {
	turn    chan struct{}
	members int
}

// enter waits for the turn; leave passes it on.
func (t *turns) enter(ctx context.Context, invoiceID int64) (leave func(), err error) {
	t.mu.Lock()
	if t.lines == nil {
		t.lines = map[int64]*line{}
	}
	l := t.lines[invoiceID]
	if l == nil {
		l = &line{turn: make(chan struct{}, 1)}
		t.lines[invoiceID] = l
	}
	l.members++
	t.mu.Unlock()
	select {
	case l.turn <- struct{}{}:
		return func() {
			<-l.turn
			t.drop(invoiceID, l)
		}, nil
	case <-ctx.Done():
		t.drop(invoiceID, l)
		return nil, ctx.Err()
	}
}

func (t *turns) drop(invoiceID int64, l *line) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if l.members--; l.members == 0 {
		delete(t.lines, invoiceID)
	}
}
