package sqldb

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

// group runs write transactions on SQLite's one writing connection and lets
// those that are waiting share a commit: one COMMIT and one flush to the disk
// serve all, and none is acknowledged before it. On a disk that needs a
// millisecond for a flush this is eight times the throughput of one commit
// each.
//
// The caller that finds the connection free leads a group: it runs its own turn,
// then in its own goroutine those of the callers that wait meanwhile, and commits.
// To wake each of them for its turn would cost time without any write.
//
// A turn that fails has nearly always written nothing: it looked, and refused.
// The others then go on. One that fails after it has written takes the whole
// group back, and each of them runs again in a transaction of its own. That is
// rare, and spares the rest a savepoint, at each of which SQLite copies pages.
type group struct {
	writer     sqliteWriter
	place      *place
	taken      chan struct{} // has a value while the connection is in use
	waiting    chan *turn    // those that may join only a group with a flushed commit
	unflushed  chan *turn    // those that may join any
	running    bool          // a turn runs
	neverFlush bool          // no commit is flushed, whatever is asked for
	relaxed    bool          // the connection is set to flush none at the moment
	inRow      int           // how many relaxed groups there were since the last that was flushed
	failFlush  atomic.Bool   // by a test: the next commit fails
	suspect    bool          // a flush has failed: what was written before may be lost
	committing atomic.Int64  // when the commit that is running began, in microseconds; 0 when none is
	quit       chan struct{}
}

// turn is one transaction in a group.
type turn struct {
	ctx   context.Context
	terms terms
	run   func(txConn) error
	again bool // it was taken back with its group, or panicked in it: it is to run alone
	err   error
	done  chan struct{} // closed: the group of another has an outcome for it
}

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

func newGroup(writer sqliteWriter, at *place, never bool) *group {
	return &group{
		writer: writer, place: at, neverFlush: never,
		taken: make(chan struct{}, 1), waiting: make(chan *turn), unflushed: make(chan *turn), quit: make(chan struct{}),
	}
}

// do runs a transaction in a group, its own or that of another. A migration is
// alone: the commit of another would keep the tables of one that failed, since
// they are not among the rows that a group counts.
func (g *group) do(ctx context.Context, terms terms, run func(txConn) error) error {
	turn := &turn{ctx: ctx, terms: terms, run: run, again: terms.migrating, done: make(chan struct{})}
	join := g.waiting
	if terms.relaxed {
		join = g.unflushed
	}
	var err error
	if !turn.again {
		err = g.take(ctx, turn, join)
	}
	if turn.again {
		err = g.take(ctx, turn, nil)
	}
	return err
}

// take waits until a group has run the turn; without one to join it leads one of
// its own, which no other joins.
func (g *group) take(ctx context.Context, turn *turn, join chan *turn) error {
	select {
	case join <- turn:
		<-turn.done
	case g.taken <- struct{}{}:
		g.lead(context.WithoutCancel(ctx), turn, join == nil) // a commit is not to be cut short
	case <-ctx.Done():
		return ctx.Err()
	case <-g.quit:
		return errClosed
	}
	return turn.err
}

// lead runs first, which gets a panic of its own, and those who come meanwhile.
func (g *group) lead(ctx context.Context, first *turn, alone bool) {
	all := []*turn{first}
	defer func() {
		if g.running { // the turn has ended the goroutine, as a test does that fails
			g.running = false
			g.takeBack(ctx, all)
		}
		<-g.taken
		for _, turn := range all[1:] {
			close(turn.done)
		}
	}()
	if first.err = g.begin(ctx, first.terms); first.err != nil {
		return
	}
	if g.run(first); first.err != nil {
		g.rollback(ctx)
		g.makeRoom(ctx, first.err)
		return
	}
	for began := time.Now(); !alone && len(all) < maxGroup && time.Since(began) < maxGroupTime; {
		next := g.next(first.terms.relaxed)
		if next == nil {
			break
		}
		all = append(all, next)
		if !g.joins(ctx, next) {
			g.takeBack(ctx, all)
			return
		}
	}
	if err := g.commit(ctx); err != nil {
		g.fail(ctx, all, err)
	}
}

// run runs a turn, unless its caller is gone.
func (g *group) run(turn *turn) {
	g.running = true
	if turn.err = turn.ctx.Err(); turn.err == nil {
		turn.err = turn.run(g.writer)
	}
	g.running = false
}

// next is one that waits and may share the commit; nil when there is none.
func (g *group) next(relaxed bool) *turn {
	flushed := g.waiting
	if relaxed {
		flushed = nil
	}
	select {
	case next := <-flushed:
		return next
	case next := <-g.unflushed:
		return next
	default:
		return nil
	}
}

// joins runs the turn of another caller, which gets a panic when it runs again.
// It reports whether the group can go on: a turn that failed has left the
// transaction as it found it, with no row changed, and the transaction is still
// there. SQLite ends it by itself on a full disk, for one.
func (g *group) joins(ctx context.Context, turn *turn) bool {
	before, err := g.writer.conn.TotalChanges(ctx)
	if err != nil {
		return false
	}
	func() {
		defer func() {
			if turn.again = recover() != nil; turn.again {
				g.running = false
			}
		}()
		g.run(turn)
	}()
	if turn.err == nil && !turn.again {
		return true
	}
	now, err := g.writer.conn.TotalChanges(ctx)
	return err == nil && now == before && g.writer.conn.InTransaction()
}

func (g *group) begin(ctx context.Context, terms terms) error {
	if err := g.place.check(); err != nil {
		return err
	}
	if g.suspect {
		if err := g.fold(ctx); err != nil {
			return err
		}
		g.suspect = false
	}
	if err := g.relax(ctx, terms.relaxed); err != nil {
		return err
	}
	if err := awaitLock(func() error { return g.command(ctx, "BEGIN IMMEDIATE") }); err != nil {
		return err
	}
	if terms.schema == 0 {
		return nil
	}
	// The group has the lock of the file: no migration comes between this and its
	// commit.
	err := checkSchema(ctx, g.writer, terms.schema)
	if err != nil {
		g.rollback(ctx)
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

// makeRoom gives the room of the log back to a disk that is full, if it can. The
// next write meets the error again.
func (g *group) makeRoom(ctx context.Context, cause error) {
	if errors.Is(cause, errFull) {
		g.suspect = errors.Is(g.fold(ctx), errDisk) || g.suspect
	}
}

func (g *group) rollback(ctx context.Context) {
	// Without effect where SQLite has rolled back already.
	_ = g.command(ctx, "ROLLBACK")
}

// maxRelaxed is after how many relaxed groups in a row one is flushed all the same.
const maxRelaxed = 256

// relax sets whether SQLite flushes the commit of a group before it is
// acknowledged, which it does not take inside a transaction. A group that begins
// with a relaxed turn takes no other kind: its commit costs no flush, so turns
// that need one hardly wait for it. What it wrote is flushed with the next group
// that is not relaxed, because the log is one.
//
// SQLite copies a long log into the database by itself, only after a commit that was
// flushed. Otherwise it would flush the log for that, and say nothing if it failed.
func (g *group) relax(ctx context.Context, relaxed bool) error {
	if g.inRow++; !relaxed || g.inRow > maxRelaxed {
		g.inRow, relaxed = 0, false
	}
	if g.neverFlush || g.relaxed == relaxed {
		return nil
	}
	pragmas := []string{"PRAGMA synchronous(FULL)", "PRAGMA wal_autocheckpoint(" + foldEvery + ")"}
	if relaxed {
		pragmas = []string{"PRAGMA wal_autocheckpoint(0)", "PRAGMA synchronous(NORMAL)"}
	}
	for _, pragma := range pragmas {
		if err := g.command(ctx, pragma); err != nil {
			return err
		}
	}
	g.relaxed = relaxed
	return nil
}

func (g *group) command(ctx context.Context, text string) error {
	return g.writer.run(ctx, Statement{Text: text})
}

// stop waits for the transactions that are running, and refuses later ones.
func (g *group) stop() {
	close(g.quit)
	g.taken <- struct{}{}
}
