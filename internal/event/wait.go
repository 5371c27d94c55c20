package event

import (
	"context"
	"fmt"
	"sync"
	"time"

	"carteira/internal/platform/rows"
	"carteira/internal/platform/sqldb"
)

// Bounds of waiting. One reader more is answered at once, as if it had not asked
// to wait.
const (
	WaitersPerToken   = 5
	WaitersPerCompany = 20
	waitersPerProcess = 10_000
)

// Reader identifies a reader of a feed.
type Reader struct{ CompanyID, TokenID int64 }

// Wait is Read that waits for an event when there is none, up to patience. It
// uses no connection to the database meanwhile, and ends with ctx and Stop.
func (f *Feed) Wait(ctx context.Context, reader Reader, query Query, patience time.Duration) (Page, error) {
	if patience <= 0 {
		return f.Read(ctx, reader.CompanyID, query)
	}
	if !f.waiting.enter(reader) {
		return f.Read(ctx, reader.CompanyID, query)
	}
	defer f.waiting.leave(reader)
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for {
		woken := f.waiting.signal(reader.CompanyID) // before the read, or an event could come between the two
		page, err := f.Read(ctx, reader.CompanyID, query)
		if err != nil || len(page.Bodies) > 0 {
			return page, err
		}
		query.After = page.LastID
		if f.waiting.saw(reader.CompanyID, page.last) || page.More {
			woken = alreadyClosed
		}
		select {
		case <-woken:
		case <-timer.C:
			return page, nil
		case <-ctx.Done():
			return page, nil
		case <-f.waiting.stopped:
			return page, nil
		}
	}
}

// alreadyClosed is the signal for a reader that has not come to the end.
var alreadyClosed = func() chan struct{} {
	signal := make(chan struct{})
	close(signal)
	return signal
}()

// Stop ends the waiting of all readers, now and from now on.
func (f *Feed) Stop() { f.waiting.stop() }

// PollEvery is how often Poll is to be called.
const PollEvery = time.Second

// Poll wakes the readers of companies for which another process has recorded
// events. It runs one statement, and none while no reader waits.
func (f *Feed) Poll(ctx context.Context) error {
	companyIDs := f.waiting.companies()
	if len(companyIDs) == 0 {
		return nil
	}
	list, err := sqldb.All(ctx, f.db, rows.Into(func(found *news) []any {
		return []any{&found.companyID, &found.last, &found.unplaced}
	}), `
		SELECT company_id, last_position, FALSE FROM event_feeds WHERE company_id {in ?}
		UNION ALL
		SELECT DISTINCT company_id, 0, TRUE FROM events WHERE position IS NULL AND company_id {in ?}`,
		companyIDs, companyIDs)
	if err != nil {
		return fmt.Errorf("look for events of other processes: %w", err)
	}
	for _, news := range list {
		if f.waiting.isNew(news) {
			f.waiting.wake(news.companyID)
		}
	}
	return nil
}

// waitingRoom has the readers of this process that wait, by company.
type waitingRoom struct {
	mu      sync.Mutex
	total   int
	byToken map[int64]int
	rows    map[int64]*waitingRow
	stopped chan struct{}
	stop    func()
}

// waitingRow has the readers of one company.
type waitingRow struct {
	readers int
	signal  chan struct{} // closed when there is something new, and replaced
	seen    int64         // the last position there was at any reader's last look; -1: no reader has looked
}

func newWaitingRoom() *waitingRoom {
	stopped := make(chan struct{})
	return &waitingRoom{
		byToken: map[int64]int{},
		rows:    map[int64]*waitingRow{},
		stopped: stopped,
		stop:    sync.OnceFunc(func() { close(stopped) }),
	}
}

// enter reports whether there is room for one more reader.
func (w *waitingRoom) enter(reader Reader) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	row := w.rows[reader.CompanyID]
	full := w.total >= waitersPerProcess || w.byToken[reader.TokenID] >= WaitersPerToken ||
		row != nil && row.readers >= WaitersPerCompany
	if full {
		return false
	}
	if row == nil {
		row = &waitingRow{signal: make(chan struct{}), seen: -1}
		w.rows[reader.CompanyID] = row
	}
	row.readers++
	w.total++
	w.byToken[reader.TokenID]++
	return true
}

func (w *waitingRoom) leave(reader Reader) {
	w.mu.Lock()
	defer w.mu.Unlock()
	row := w.rows[reader.CompanyID]
	if row.readers--; row.readers == 0 {
		delete(w.rows, reader.CompanyID)
	}
	if w.byToken[reader.TokenID]--; w.byToken[reader.TokenID] == 0 {
		delete(w.byToken, reader.TokenID)
	}
	w.total--
}

func (w *waitingRoom) has(companyID int64) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.rows[companyID] != nil
}

func (w *waitingRoom) companies() []int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := make([]int64, 0, len(w.rows))
	for companyID := range w.rows {
		list = append(list, companyID)
	}
	return list
}

// signal is closed at the next wake of a company that has a reader.
func (w *waitingRoom) signal(companyID int64) <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.rows[companyID].signal
}

func (w *waitingRoom) wake(companyID int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if row := w.rows[companyID]; row != nil {
		row.wake()
	}
}

func (r *waitingRow) wake() {
	close(r.signal)
	r.signal = make(chan struct{})
}

// saw records the last position that a reader saw, and reports whether another
// reader has seen more. A reader that sees more than the others wakes them:
// Poll would not, since for it there is nothing new any more.
func (w *waitingRoom) saw(companyID, position int64) (behind bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	row := w.rows[companyID]
	if row.seen >= 0 && position > row.seen && row.readers > 1 {
		row.wake()
	}
	behind = position < row.seen
	row.seen = max(row.seen, position)
	return behind
}

func (w *waitingRoom) isNew(news news) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	row := w.rows[news.companyID]
	return row != nil && (news.unplaced || news.last > row.seen)
}

// Waiting is how many readers of a company wait in this process.
func (f *Feed) Waiting(companyID int64) int {
	f.waiting.mu.Lock()
	defer f.waiting.mu.Unlock()
	if row := f.waiting.rows[companyID]; row != nil {
		return row.readers
	}
	return 0
}
