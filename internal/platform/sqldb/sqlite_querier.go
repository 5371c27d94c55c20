package sqldb

import (
	"context"
	"errors"
	"fmt"
	"time"

	"carteira/internal/platform/sqldb/sqlite"
)

// maxCompiled bounds the memory for statements whose text varies with the
// length of a list; past it a statement is compiled at every use. To keep one
// compiled takes about half off a point select.
const maxCompiled = 400

// sqliteReads is the read side of a SQLite database as a Querier.
type sqliteReads struct {
	readers *readers
	limit   time.Duration     // of a statement whose context has no deadline; 0: none
	note    func(error) error // counts trouble
}

// newSQLiteReads makes the read side of up to size connections.
func newSQLiteReads(size int, open func() (*sqlite.Conn, error)) *sqliteReads {
	var uncounted *troubleLog
	return &sqliteReads{readers: newReaders(size, open), note: uncounted.note}
}

// Engine tells which database answers.
func (r *sqliteReads) Engine() Engine { return SQLite }

func (r *sqliteReads) translate(err error) error { return sqliteError(err) }

// bound leaves the deadline to until, which needs no timer.
func (r *sqliteReads) bound(ctx context.Context) (context.Context, func(error) error) {
	return ctx, r.note
}

// until gives a deadline to reading that has none: a disk can hang too. Writing
// is not interrupted, since SQLite would take the whole transaction back.
func (r *sqliteReads) until(ctx context.Context) time.Time {
	if _, ok := ctx.Deadline(); ok || r.limit == 0 || !hasDeadline(ctx) {
		return time.Time{}
	}
	return time.Now().Add(r.limit)
}

func (r *sqliteReads) each(ctx context.Context, text string, args []any, scan func(Row) error) error {
	query := sqlite.Query{Text: text, Args: withLists(SQLite, args), Until: r.until(ctx)}
	return r.on(ctx, query.Until, func(conn *sqlite.Conn) error {
		return conn.Each(ctx, query, func(row *sqlite.Row) error { return scan(row) })
	})
}

// exec is refused by SQLite when it writes: these connections may only read.
func (r *sqliteReads) exec(ctx context.Context, text string, args []any) (changed int64, err error) {
	query := sqlite.Query{Text: text, Args: withLists(SQLite, args), Until: r.until(ctx)}
	err = r.on(ctx, query.Until, func(conn *sqlite.Conn) error {
		changed, err = conn.Exec(ctx, query)
		return err
	})
	return changed, err
}

func (r *sqliteReads) batch(ctx context.Context, statements []Statement) error {
	return oneByOne(ctx, r, statements)
}

// on lends a connection to run, also if it panics.
func (r *sqliteReads) on(ctx context.Context, until time.Time, run func(*sqlite.Conn) error) error {
	err := ctx.Err()
	if err == nil {
		err = r.lend(ctx, until, run)
	}
	if errors.Is(err, sqlite.ErrOverdue) {
		return fmt.Errorf("%w: %w: %w", ErrUnavailable, errNoAnswer, context.DeadlineExceeded)
	}
	return err
}

func (r *sqliteReads) lend(ctx context.Context, until time.Time, run func(*sqlite.Conn) error) error {
	if lent, err := snapshotOf(ctx).lend(ctx, until, run); lent {
		return err
	}
	conn, err := r.readers.lend(ctx, until)
	if err != nil {
		return err
	}
	defer r.readers.takeBack(conn)
	return run(conn)
}

// sqliteWriter is the connection that writes as a Querier. It keeps a caller's
// cancellation away from the shared transaction: SQLite rolls all of it back
// when a write is interrupted.
type sqliteWriter struct {
	conn   *sqlite.Conn
	shared *sharedLate
}

// Engine tells which database answers.
func (w sqliteWriter) Engine() Engine { return SQLite }

func (w sqliteWriter) translate(err error) error { return sqliteError(err) }

// bound leaves the errors alone: a transaction counts as a whole.
func (w sqliteWriter) bound(ctx context.Context) (context.Context, func(error) error) {
	return ctx, asItIs
}

func asItIs(err error) error { return err }

func (w sqliteWriter) each(ctx context.Context, text string, args []any, scan func(Row) error) error {
	if err := w.catchUp(ctx, text); err != nil {
		return err
	}
	query := sqlite.Query{Text: text, Args: withLists(SQLite, args)}
	return w.conn.Each(context.WithoutCancel(ctx), query, func(row *sqlite.Row) error { return scan(row) })
}

func (w sqliteWriter) exec(ctx context.Context, text string, args []any) (int64, error) {
	if err := w.catchUp(ctx, text); err != nil {
		return 0, err
	}
	return w.conn.Exec(context.WithoutCancel(ctx), sqlite.Query{Text: text, Args: withLists(SQLite, args)})
}

func (w sqliteWriter) batch(ctx context.Context, statements []Statement) error {
	return oneByOne(ctx, w, statements)
}

// catchUp does what neighbours have put off, if a statement is about it.
func (w sqliteWriter) catchUp(ctx context.Context, text string) error {
	if !w.shared.late.awaits(text) {
		return nil
	}
	err := w.settle(ctx)
	w.shared.spoiled = err != nil
	return err
}

// settle does what is put off.
func (w sqliteWriter) settle(ctx context.Context) error {
	late := w.shared.late.take()
	return w.batch(ctx, late.statements())
}

// sharedLate is what the transactions of a group have put off to their commit.
type sharedLate struct {
	late    lateWork
	spoiled bool // it has failed in the middle of the turn of another
}

func (s *sharedLate) clear() { *s = sharedLate{} }

// script runs a migration, which its caller may interrupt: it is alone.
func (w sqliteWriter) script(ctx context.Context, text string) error {
	return w.conn.Script(ctx, text)
}
