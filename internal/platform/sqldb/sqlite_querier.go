package sqldb

import (
	"context"
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

// Engine says which database answers.
func (r *sqliteReads) Engine() Engine { return SQLite }

func (r *sqliteReads) translate(err error) error { return sqliteError(err) }

// bound gives a deadline to reading that has none: a disk can hang too. Writing
// is not interrupted, since SQLite would take the whole transaction back.
func (r *sqliteReads) bound(ctx context.Context) (context.Context, func(error) error) {
	if _, ok := ctx.Deadline(); ok || r.limit == 0 || !hasDeadline(ctx) {
		return ctx, r.note
	}
	bounded, cancel := context.WithTimeoutCause(ctx, r.limit, errNoAnswer)
	return bounded, func(err error) error {
		err = unanswered(bounded, err)
		cancel()
		return r.note(err)
	}
}

func (r *sqliteReads) each(ctx context.Context, text string, args []any, scan func(Row) error) error {
	return r.readers.use(ctx, func(conn *sqlite.Conn) error {
		return conn.Each(ctx, text, withLists(SQLite, args), func(row *sqlite.Row) error { return scan(row) })
	})
}

// exec is refused by SQLite when it writes: these connections may only read.
func (r *sqliteReads) exec(ctx context.Context, text string, args []any) (changed int64, err error) {
	err = r.readers.use(ctx, func(conn *sqlite.Conn) error {
		changed, err = conn.Exec(ctx, text, withLists(SQLite, args))
		return err
	})
	return changed, err
}

func (r *sqliteReads) batch(ctx context.Context, statements []Statement) error {
	return oneByOne(ctx, r, statements)
}

// sqliteWriter is the connection that writes as a Querier. It keeps a caller's
// cancellation away from the shared transaction: SQLite rolls all of it back
// when a write is interrupted.
type sqliteWriter struct{ conn *sqlite.Conn }

// Engine says which database answers.
func (w sqliteWriter) Engine() Engine { return SQLite }

func (w sqliteWriter) translate(err error) error { return sqliteError(err) }

// bound leaves the errors alone: a transaction counts as a whole.
func (w sqliteWriter) bound(ctx context.Context) (context.Context, func(error) error) {
	return ctx, func(err error) error { return err }
}

func (w sqliteWriter) each(ctx context.Context, text string, args []any, scan func(Row) error) error {
	return w.conn.Each(context.WithoutCancel(ctx), text, withLists(SQLite, args), func(row *sqlite.Row) error { return scan(row) })
}

func (w sqliteWriter) exec(ctx context.Context, text string, args []any) (int64, error) {
	return w.conn.Exec(context.WithoutCancel(ctx), text, withLists(SQLite, args))
}

func (w sqliteWriter) batch(ctx context.Context, statements []Statement) error {
	return oneByOne(ctx, w, statements)
}

// queue runs the statement at once: nothing is gained by waiting.
func (w sqliteWriter) queue(ctx context.Context, statement Statement) error {
	return statement.run(ctx, w)
}

// script runs a migration, which its caller may interrupt: it is alone.
func (w sqliteWriter) script(ctx context.Context, text string) error {
	return w.conn.Script(ctx, text)
}
