package sqldb

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync/atomic"
	"time"
)

// group runs write transactions on SQLite's one writing connection and lets
// those that are waiting share a commit: one COMMIT and one flush to the disk
// serve all, and none is acknowledged before it. On a disk that needs a
// millisecond for a flush this is eight times the throughput of one commit
// each.
//
// A turn that fails has nearly always written nothing: it looked, and refused.
// The others then go on. One that fails after it has written takes the whole
// group back, and each of them runs again in a transaction of its own. That is
// rare, and spares the rest a savepoint, at each of which SQLite copies pages.
type group struct {
	writer     sqliteWriter
	place      *place
	waiting    chan *turn
	held       *turn        // taken from waiting, and to be served first next
	running    bool         // a turn runs in the goroutine of the writer
	neverFlush bool         // no commit is flushed, whatever is asked for
	relaxed    bool         // the connection is set to flush none at the moment
	failFlush  atomic.Bool  // by a test: the next commit fails
	suspect    bool         // a flush has failed: what was written before may be lost
	schema     atomic.Int64 // that the process knows; 0: it has not migrated
	committing atomic.Int64 // when the commit that is running began, in microseconds; 0 when none is
	quit       chan struct{}
	finished   chan struct{}
}

// turn is one transaction waiting for, or having had, its run. It runs in the
// goroutine of the writer: to wake that of its caller for it, and the writer's
// after it, costs time without any write, and moves SQLite's pages from one
// processor to the other. A turn that panics there runs again, alone, in the
// goroutine of its caller, which so gets the panic.
type turn struct {
	ctx context.Context
	job
	alone bool // does not share its commit
	again bool // was taken back with its group, and is to run alone
	err   error
	mine  chan struct{} // closed: the connection is the turn's, which is alone
	back  chan struct{} // closed: the turn has run
	done  chan struct{} // closed: err is the outcome
}

// job is what a turn does.
type job struct {
	run     func(txConn) error
	relaxed bool // its commit need not be flushed
}

// errUnfinished is the error while a turn runs; it stays when the turn panics.
var errUnfinished = errors.New("the transaction did not finish")

// A group closes when no turn waits, or at these bounds, so that the first one in
// it is not kept waiting for the last.
const (
	maxGroup     = 256
	maxGroupTime = 25 * time.Millisecond
)

// A command may write while the server runs. lockPoll is how often the writer
// asks for SQLite's lock, and lockTimeout for how long: SQLite's own waiting
// asks ten times a second at most, and misses most of the moments in which a
// busy command lets others write.
const (
	lockPoll    = 2 * time.Millisecond
	lockTimeout = 5 * time.Second
)

// newGroup starts the writer. Its own statements run under ctx without its
// cancellation: a commit is not to be cut short.
func newGroup(ctx context.Context, writer sqliteWriter, at *place, never bool) *group {
	g := &group{
		writer: writer, place: at, waiting: make(chan *turn), neverFlush: never,
		quit: make(chan struct{}), finished: make(chan struct{}),
	}
	go g.loop(context.WithoutCancel(ctx))
	return g
}

func (g *group) do(ctx context.Context, job job) error {
	turn, err := g.take(ctx, job, false)
	if err == nil && turn.again {
		turn, err = g.take(ctx, job, true)
	}
	if err != nil {
		return err
	}
	return turn.err
}

// take waits for a turn, runs it and waits for the outcome. Its error means
// that there was no turn.
func (g *group) take(ctx context.Context, job job, alone bool) (*turn, error) {
	t := &turn{
		ctx:   ctx,
		job:   job,
		alone: alone,
		mine:  make(chan struct{}),
		back:  make(chan struct{}),
		done:  make(chan struct{}),
	}
	select {
	case g.waiting <- t:
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-g.quit:
		return nil, errClosed
	}
	select {
	case <-t.mine:
		t.attemptHere(g.writer)
	case <-t.back:
	case <-t.done: // no transaction could be begun
		return t, nil
	}
	<-t.done
	return t, nil
}

func (g *group) loop(ctx context.Context) {
	stopped := false
	defer func() {
		if stopped {
			close(g.finished)
			return
		}
		go g.loop(ctx) // a turn has ended the goroutine, as a test does that fails
	}()
	for {
		select {
		case turn := <-g.waiting:
			g.serve(ctx, turn)
		case <-g.quit:
			stopped = true
			return
		}
		for g.held != nil {
			turn := g.held
			g.held = nil
			g.serve(ctx, turn)
		}
	}
}

// serve runs first and all who come while it runs, then answers them.
func (g *group) serve(ctx context.Context, first *turn) {
	all := []*turn{first}
	defer func() {
		if g.running {
			g.running = false
			g.takeBack(ctx, all)
		}
		for _, turn := range all {
			close(turn.done)
		}
	}()
	if first.err = g.begin(ctx, first.relaxed); first.err != nil {
		return
	}
	if !g.succeeds(first) {
		g.rollback(ctx)
		g.makeRoom(ctx, first.err)
		return
	}
	for turn := range g.others(first) {
		all = append(all, turn)
		written, err := g.writer.conn.TotalChanges(ctx)
		if err != nil || !g.succeeds(turn) && !g.clean(ctx, written) {
			g.takeBack(ctx, all)
			return
		}
	}
	if err := g.commit(ctx); err != nil {
		g.fail(ctx, all, err)
	}
}

func (g *group) begin(ctx context.Context, relaxed bool) error {
	if err := g.place.check(); err != nil {
		return err
	}
	if g.suspect {
		if err := g.fold(ctx); err != nil {
			return err
		}
		g.suspect = false
	}
	if err := g.relax(ctx, relaxed); err != nil {
		return err
	}
	if err := awaitLock(func() error { return g.command(ctx, "BEGIN IMMEDIATE") }); err != nil {
		return err
	}
	err := g.checkSchema(ctx)
	if err != nil {
		g.rollback(ctx)
	}
	return err
}

// checkSchema refuses a group once a newer version has migrated the database. The
// group has the lock of the file: no migration comes between this and its commit.
func (g *group) checkSchema(ctx context.Context) error {
	known := int(g.schema.Load())
	if known == 0 {
		return nil
	}
	version, err := Value[int](ctx, g.writer, appliedVersion)
	if err == nil && version > known {
		err = newerSchema(known)
	}
	return err
}

// fold copies the write-ahead log into the database, flushes that, and empties the
// log. After a flush has failed, the disk may lack what was written before it,
// though a later flush succeeds: nothing is acknowledged on top of such a log.
// After the disk was full, the room of the log comes back.
func (g *group) fold(ctx context.Context) error {
	return awaitLock(func() error {
		return Each(ctx, g.writer, "PRAGMA wal_checkpoint(TRUNCATE)", nil, func(row Row) error {
			var busy, pages, folded int
			if err := row.Scan(&busy, &pages, &folded); err != nil {
				return err
			}
			if busy != 0 {
				return fmt.Errorf("%w: the log is being read", ErrBusy)
			}
			return nil
		})
	})
}

// awaitLock tries again while others have the database.
func awaitLock(try func() error) error {
	for began := time.Now(); ; time.Sleep(lockPoll) {
		err := try()
		if !errors.Is(err, ErrBusy) || time.Since(began) >= lockTimeout {
			return err
		}
	}
}

// commit acknowledges nothing that was written to files which had been taken
// away by then.
func (g *group) commit(ctx context.Context) error {
	g.committing.Store(time.Now().UnixMicro())
	defer g.committing.Store(0)
	if g.failFlush.CompareAndSwap(true, false) {
		return fmt.Errorf("%w: a test", errDisk)
	}
	if err := g.command(ctx, "COMMIT"); err != nil {
		return err
	}
	return g.place.check()
}

// others are those who come while the group runs and may share its commit.
func (g *group) others(first *turn) iter.Seq[*turn] {
	return func(yield func(*turn) bool) {
		began := time.Now()
		for n := 1; n < maxGroup && !first.alone && time.Since(began) < maxGroupTime; n++ {
			var next *turn
			select {
			case next = <-g.waiting:
			default:
				return
			}
			if next.alone || first.relaxed && !next.relaxed {
				g.held = next
				return
			}
			if !yield(next) {
				return
			}
		}
	}
}

// clean reports whether a turn that failed has left the transaction as it found
// it: no row changed, and the transaction still there. SQLite ends it by itself
// on a full disk, for one.
func (g *group) clean(ctx context.Context, before int64) bool {
	if !g.writer.conn.InTransaction() {
		return false
	}
	now, err := g.writer.conn.TotalChanges(ctx)
	return err == nil && now == before
}

// takeBack undoes the whole group; everybody runs again by himself, those who
// were refused too, since what they saw may have been the work of a neighbour.
func (g *group) takeBack(ctx context.Context, all []*turn) {
	g.rollback(ctx)
	for _, turn := range all {
		turn.again = true
	}
}

// fail undoes the whole group when the database has failed it. Everybody tries
// again, unless it is trouble that trying again would only make worse.
func (g *group) fail(ctx context.Context, all []*turn, cause error) {
	g.rollback(ctx)
	g.makeRoom(ctx, cause)
	g.suspect = g.suspect || errors.Is(cause, errDisk)
	if !errors.Is(cause, ErrUnavailable) {
		cause = fmt.Errorf("%w: %w", ErrBusy, cause)
	}
	for _, turn := range all {
		turn.err = cause
	}
}

// makeRoom gives the room of the log back to a disk that is full, if it can.
func (g *group) makeRoom(ctx context.Context, cause error) {
	if errors.Is(cause, errFull) {
		_ = g.fold(ctx) // the next write meets the error again
	}
}

func (g *group) rollback(ctx context.Context) {
	// Without effect where SQLite has rolled back already.
	_ = g.command(ctx, "ROLLBACK")
}

// relax sets whether SQLite flushes the commit of a group before it is
// acknowledged, which it does not take inside a transaction. A group that begins
// with a relaxed turn takes no other kind: its commit costs no flush, so turns
// that need one hardly wait for it. What it wrote is flushed with the next group
// that is not relaxed, because the log is one.
func (g *group) relax(ctx context.Context, relaxed bool) error {
	if g.neverFlush || g.relaxed == relaxed {
		return nil
	}
	text := "PRAGMA synchronous(FULL)"
	if relaxed {
		text = "PRAGMA synchronous(NORMAL)"
	}
	err := g.command(ctx, text)
	if err == nil {
		g.relaxed = relaxed
	}
	return err
}

func (g *group) command(ctx context.Context, text string) error {
	_, err := g.writer.exec(ctx, text, nil)
	return sqliteError(err)
}

// stop ends the writer after the transactions that are running.
func (g *group) stop() {
	close(g.quit)
	<-g.finished
}

// succeeds runs the turn, one that is alone in the goroutine of its caller.
func (g *group) succeeds(t *turn) bool {
	if t.alone {
		close(t.mine)
		<-t.back
		return t.err == nil
	}
	g.running = true
	t.again = t.panics(g.writer)
	g.running = false
	close(t.back)
	return t.err == nil
}

// panics runs the turn, and reports a panic of it.
func (t *turn) panics(conn txConn) (panicked bool) {
	defer func() { panicked = recover() != nil }()
	t.attempt(conn)
	return false
}

// attemptHere gives the connection back also when the turn ends the goroutine.
func (t *turn) attemptHere(conn txConn) {
	defer close(t.back)
	t.attempt(conn)
}

func (t *turn) attempt(conn txConn) {
	t.err = errUnfinished
	if err := t.ctx.Err(); err != nil {
		t.err = err
		return
	}
	t.err = t.run(conn)
}
