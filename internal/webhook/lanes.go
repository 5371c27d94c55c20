package webhook

import (
	"context"
	"log/slog"
	"sync"

	"carteira/internal/platform/sqldb"
)

// engine sends the deliveries of the lanes that it holds. A lane that answers
// well has some more at hand than are under way, so that its next one does not
// wait for a claim; one that is unknown or slow has only what is under way.
type engine struct {
	*Service
	log     *slog.Logger
	closer  *closer
	sending sync.WaitGroup
	low     chan struct{} // a lane wants more

	// Guarded by Service.holding.
	holds   map[int64]*hold
	line    [2][]*hold // lanes with something to send next: a first attempt, a retry
	workers int
	closing int           // answered and not yet recorded
	settled *sync.Cond    // a lane has nothing more to record
	streaks map[int64]int // lanes, and how many of theirs were accepted in a row
}

func newEngine(s *Service, log *slog.Logger) *engine {
	e := &engine{Service: s, log: log, low: make(chan struct{}, 1), holds: map[int64]*hold{}, streaks: map[int64]int{}}
	e.settled = sync.NewCond(&s.holding)
	e.closer = newCloser(s, &e.sending, e.closed)
	return e
}

const (
	// atHand bounds what is claimed and not yet under way.
	atHand = 16 * slots
	// underWay and laneUnderWay bound the attempts that have begun and are not
	// yet recorded: a kill makes them again.
	underWay     = 4 * slots
	laneUnderWay = 4 * laneCap
	// maxStreaks bounds the lanes that are remembered.
	maxStreaks = 10_000
)

// helping is how many deliveries of a lane are claimed at once.
func (e *engine) helping(lane int64) int {
	switch n := e.streaks[lane]; {
	case n < laneCap:
		return laneCap
	case n < 4*laneCap:
		return 4 * laneCap
	default:
		return 16 * laneCap
	}
}

// round looks for lanes with something due, takes those that nobody has and
// sends. It returns how many deliveries it claimed.
func (e *engine) round(ctx context.Context) (int, error) {
	lanes, err := e.look(ctx)
	if err != nil {
		return 0, err
	}
	e.holding.Lock()
	asks, room := e.wanted()
	now := e.db.Now()
	for _, l := range lanes {
		if n := min(e.helping(l.lane), room); n > 0 && e.holds[l.lane] == nil && !l.until.After(now) {
			asks = append(asks, ask{lane: l.lane, n: n})
			room -= n
		}
	}
	e.holding.Unlock()
	return e.serve(ctx, asks)
}

// refill fills up the lanes that want more.
func (e *engine) refill(ctx context.Context) (int, error) {
	e.holding.Lock()
	asks, _ := e.wanted()
	e.holding.Unlock()
	return e.serve(ctx, asks)
}

// wanted are the asks of lanes that are held, and how many may be claimed
// besides.
func (e *engine) wanted() (asks []ask, room int) {
	room = atHand
	for _, h := range e.holds {
		room -= len(h.queue)
	}
	for lane, h := range e.holds {
		if n := min(e.helping(lane), room); h.asked && n > 0 {
			asks = append(asks, ask{lane: lane, n: n, token: h.row.token, open: h.openIDs()})
			room -= n
		}
		h.asked = false
	}
	return asks, room
}

// serve claims and puts what it got in line.
func (e *engine) serve(ctx context.Context, asks []ask) (claimed int, err error) {
	changed := e.changed.Load()
	all, err := e.take(ctx, asks)
	e.holding.Lock()
	defer e.holding.Unlock()
	for _, t := range all {
		h := e.holds[t.row.lane]
		if h != nil && h.row.token == t.row.token {
			h.add(t)
			h.cap = min(h.cap, t.cap)
		} else {
			h = t.hold()
			e.holds[t.row.lane] = h
		}
		h.changed = changed
		e.enter(h)
		claimed += len(t.jobs)
	}
	e.hire(context.WithoutCancel(ctx))
	return claimed, err
}

// enter puts a lane at the end of the line, if it has something to send and may.
func (e *engine) enter(h *hold) {
	if h.ready || len(h.queue) == 0 || h.full() {
		return
	}
	h.ready = true
	at := lineOf(h.queue[0].step)
	e.line[at] = append(e.line[at], h)
}

// hire starts as many workers as can be busy.
func (e *engine) hire(ctx context.Context) {
	for range e.vacancies() {
		e.workers++
		e.sending.Go(func() { e.work(ctx) })
	}
}

// vacancies is how many more workers there may be, and can be busy. It looks at
// no more lanes than that: it is asked for after every attempt.
func (e *engine) vacancies() int {
	most, n := slots-e.workers, 0
	for _, line := range e.line {
		for _, h := range line {
			if n >= most {
				return most
			}
			n += min(len(h.queue), max(h.cap-h.busy, 0))
		}
	}
	return min(n, most)
}

// work sends until nothing is in line.
func (e *engine) work(ctx context.Context) {
	for j, ok := e.next(ctx); ok; j, ok = e.next(ctx) {
		e.deliver(ctx, j)
	}
}

// next takes a delivery of the lane that is first in line; a worker that gets
// none has ended.
func (e *engine) next(ctx context.Context) (j job, ok bool) {
	e.holding.Lock()
	defer e.holding.Unlock()
	for at := range e.line {
		for len(e.line[at]) > 0 && e.workers+e.closing < underWay {
			h := e.line[at][0]
			e.line[at] = e.line[at][1:]
			h.ready = false
			if e.stale(h) {
				e.drop(h)
				e.end(ctx, h)
			}
			if len(h.queue) == 0 || h.full() {
				continue
			}
			j, h.queue = h.queue[0], h.queue[1:]
			h.busy++
			e.enter(h)
			e.order(h)
			return j, true
		}
	}
	e.workers--
	return j, false
}

// stale says that what is at hand must be read anew.
func (e *engine) stale(h *hold) bool {
	return e.db.Now().Sub(h.takenAt) > fresh || h.changed != e.changed.Load()
}

// order asks for more when a lane that answers well has little left at hand.
func (e *engine) order(h *hold) {
	n := e.helping(h.row.lane)
	if h.asked || h.dry || h.spoilt || n == laneCap || len(h.queue) > n/2 {
		return
	}
	h.asked = true
	select {
	case e.low <- struct{}{}:
	default:
	}
}

// answered takes note of an attempt that was accepted, and is to be recorded.
func (e *engine) answered(j job) {
	e.holding.Lock()
	defer e.holding.Unlock()
	h := j.hold
	h.busy--
	h.closing++
	e.closing++
	e.praise(h.row.lane)
	e.enter(h)
	e.order(h)
}

// unsettle leaves what a lane has at hand, after an attempt that was not
// accepted, and waits until those that were accepted before it are recorded:
// failures are counted in a row.
func (e *engine) unsettle(h *hold, o outcome) {
	e.holding.Lock()
	defer e.holding.Unlock()
	if o.verdict == broken || o.verdict == rejected {
		h.cap = failingLaneCap
	}
	e.drop(h)
	for h.closing > 0 {
		e.settled.Wait()
	}
}

// done takes note of an attempt that has ended.
func (e *engine) done(ctx context.Context, x closing, err error) {
	e.holding.Lock()
	defer e.holding.Unlock()
	h := x.job.hold
	if x.gathers() {
		h.closing--
		e.closing--
		e.settled.Broadcast()
	} else {
		h.busy--
	}
	if err != nil {
		h.spoilt = true // it stays open until the hold has run out
		e.drop(h)
	} else {
		delete(h.open, x.job.id)
	}
	e.enter(h)
	e.order(h)
	e.end(ctx, h)
	e.hire(ctx)
}

func (e *engine) praise(lane int64) {
	if len(e.streaks) >= maxStreaks {
		clear(e.streaks)
	}
	e.streaks[lane]++
}

// drop leaves what a lane has at hand to whoever takes it next. It is no longer
// known to answer well.
func (e *engine) drop(h *hold) {
	h.drop()
	delete(e.streaks, h.row.lane)
}

// end gives a lane back that has nothing at hand or under way.
func (e *engine) end(ctx context.Context, h *hold) {
	if h.busy+h.closing > 0 || len(h.queue) > 0 || h.ended {
		return
	}
	h.ended = true
	if e.holds[h.row.lane] == h {
		delete(e.holds, h.row.lane)
	}
	switch {
	case h.spoilt:
	case h.freed:
		e.hint()
	default:
		row := h.row
		e.sending.Go(func() {
			if err := e.free(ctx, row); err != nil {
				e.log.ErrorContext(ctx, "lane not given back", "lane", row.lane, "error", err)
			}
			e.hint()
		})
	}
}

func (s *Service) free(ctx context.Context, row laneRow) error {
	return s.db.Write(ctx, func(tx *sqldb.Tx) error {
		_, err := freeLane(ctx, tx, row)
		return err
	})
}

// stop waits for what is under way and gives the lanes back.
func (e *engine) stop(ctx context.Context) {
	e.holding.Lock()
	for _, h := range e.holds {
		e.drop(h)
		e.end(ctx, h)
	}
	e.holding.Unlock()
	e.sending.Wait()
}
