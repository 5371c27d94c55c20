package sqldb

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// pgTx is a transaction on a connection of its own. What is queued goes out in
// front of the next statement: BEGIN with the first one, and COMMIT with what was
// queued last. None of them has a round trip to the server for itself.
type pgTx struct {
	conn   *pgxpool.Conn
	queued []queued
	used   bool // it has a statement, and so something to commit
}

// queued is a statement that waits, in PostgreSQL's words.
type queued struct {
	Statement
	text    string
	args    []any
	refusal error // what an error of it means; nil: itself
}

// schemaCheck fails in the server when the database has a newer schema: what is
// sent behind it is then passed over, the commit too.
func schemaCheck(known int) queued {
	const text = "SELECT 1 / (CASE WHEN max(version) > $1 THEN 0 ELSE 1 END) FROM schema_migrations"
	return queued{Statement: Statement{Text: text}, text: text, args: []any{known}, refusal: newerSchema(known)}
}

// maxQueued bounds what a transaction keeps in memory, such as an import.
const maxQueued = 256

func (db *postgresDB) write(ctx context.Context, terms terms, run func(txConn) error) error {
	steps := db.guard.steps(ctx)
	defer steps.cancel(nil)
	tx, err := db.begin(steps, terms)
	if err != nil {
		return err
	}
	defer db.end(ctx, tx)
	if err := run(pgTxConn{pgQuerier{on: tx, rewriter: db.rewriter, guard: db.guard}, tx}); err != nil {
		return err
	}
	return steps.within(func() error { return tx.commit(steps.ctx) })
}

// begin finds a connection for a transaction. One that leads to a pooler has its
// settings made for the transaction alone; see prepare.
func (db *postgresDB) begin(steps steps, terms terms) (*pgTx, error) {
	tx := &pgTx{}
	tx.command("begin")
	if db.connections.pooled.Load() {
		tx.command(fmt.Sprintf("SELECT "+sessionSettings, true))
	}
	if known := db.schema.Load(); known != 0 && !terms.migrating {
		tx.command("SELECT pg_advisory_xact_lock_shared(" + schemaLock + ")")
		tx.queued = append(tx.queued, schemaCheck(int(known)))
	}
	if terms.relaxed {
		tx.command("set local synchronous_commit to off")
	}
	err := steps.within(func() (err error) {
		tx.conn, err = db.pool.Acquire(steps.ctx)
		return err
	})
	return tx, err
}

// end gives the connection back, also when the caller is gone. Before a commit
// it rolls back; the error that led here is what matters. The pool discards a
// connection that is still in a transaction after that.
func (db *postgresDB) end(ctx context.Context, tx *pgTx) {
	defer tx.conn.Release()
	conn := tx.conn.Conn()
	if conn.IsClosed() || conn.PgConn().TxStatus() == idleStatus {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), db.guard.timeouts.Statement)
	defer cancel()
	_, _ = conn.Exec(ctx, "rollback")
}

// idleStatus is what the server calls a connection in no transaction.
const idleStatus = 'I'

func (t *pgTx) command(text string) {
	t.queued = append(t.queued, queued{Statement: Statement{Text: text}, text: text})
}

// Query runs a statement that returns rows.
func (t *pgTx) Query(ctx context.Context, text string, args ...any) (pgx.Rows, error) {
	if len(t.queued) == 0 {
		return t.conn.Query(ctx, text, args...)
	}
	batch := &pgx.Batch{}
	batch.Queue(text, args...)
	results := t.SendBatch(ctx, batch)
	rows, err := results.Query()
	if err != nil {
		return nil, cmp.Or(err, results.Close())
	}
	return &batchRows{Rows: rows, results: results}, nil
}

// batchRows are the rows of the last statement of a batch, which ends with them.
type batchRows struct {
	pgx.Rows
	results pgx.BatchResults
	err     error
}

// Close ends the rows and the batch.
func (r *batchRows) Close() {
	r.Rows.Close()
	r.err = r.results.Close()
}

// Err is the error of the rows, or else of the batch.
func (r *batchRows) Err() error { return cmp.Or(r.Rows.Err(), r.err) }

// Exec runs a statement that returns none.
func (t *pgTx) Exec(ctx context.Context, text string, args ...any) (pgconn.CommandTag, error) {
	if len(t.queued) == 0 {
		return t.conn.Exec(ctx, text, args...)
	}
	batch := &pgx.Batch{}
	batch.Queue(text, args...)
	results := t.SendBatch(ctx, batch)
	tag, err := results.Exec()
	closed := results.Close()
	return tag, cmp.Or(err, closed)
}

// SendBatch sends statements behind those that are queued. An error of a queued
// one is the first that the results give: the server passes over all that follows.
func (t *pgTx) SendBatch(ctx context.Context, batch *pgx.Batch) pgx.BatchResults {
	first := t.queued
	t.queued, t.used = nil, true
	all := &pgx.Batch{}
	for _, queued := range first {
		all.Queue(queued.text, queued.args...)
	}
	all.QueuedQueries = append(all.QueuedQueries, batch.QueuedQueries...)
	results := t.conn.SendBatch(ctx, all)
	for _, queued := range first {
		err := queued.read(results)
		if queued.refusal != nil && isDivision(err) {
			return failedBatch{results, queued.refusal}
		}
		if err != nil {
			return failedBatch{results, fmt.Errorf("%s: %w", queued.words(), err)}
		}
	}
	return results
}

func isDivision(err error) bool {
	var refusal *pgconn.PgError
	return errors.As(err, &refusal) && refusal.Code == "22012"
}

// failedBatch are the results behind a queued statement that has failed.
type failedBatch struct {
	pgx.BatchResults
	err error
}

// Exec is the error.
func (f failedBatch) Exec() (pgconn.CommandTag, error) { return pgconn.CommandTag{}, f.err }

// Query is the error.
func (f failedBatch) Query() (pgx.Rows, error) { return nil, f.err }

// Close ends the batch, and is the error too.
func (f failedBatch) Close() error {
	_ = f.BatchResults.Close() // which repeats it
	return f.err
}

// flush sends what is queued.
func (t *pgTx) flush(ctx context.Context) error {
	if len(t.queued) == 0 {
		return nil
	}
	return t.SendBatch(ctx, &pgx.Batch{}).Close()
}

// commit sends what is queued, and COMMIT behind it. A transaction without a
// statement has nothing to commit.
func (t *pgTx) commit(ctx context.Context) error {
	if !t.used {
		return nil
	}
	batch := &pgx.Batch{}
	batch.Queue("commit")
	results := t.SendBatch(ctx, batch)
	tag, err := results.Exec()
	if closed := results.Close(); err == nil {
		err = closed
	}
	if err == nil && tag.String() == "ROLLBACK" {
		err = pgx.ErrTxCommitRollback
	}
	return err
}

// pgTxConn is the transaction as rooms use it.
type pgTxConn struct {
	pgQuerier
	tx *pgTx
}

func (c pgTxConn) queue(ctx context.Context, statement Statement) error {
	c.tx.used = true
	c.tx.queued = append(c.tx.queued, queued{
		Statement: statement, text: c.rewriter.text(statement.Text), args: withLists(Postgres, statement.Args),
	})
	if len(c.tx.queued) < maxQueued {
		return nil
	}
	return c.tx.flush(ctx)
}

// script runs the statements of a migration as they are. They cannot be part of
// a batch.
func (c pgTxConn) script(ctx context.Context, text string) error {
	if err := c.tx.flush(ctx); err != nil {
		return err
	}
	_, err := c.tx.conn.Exec(ctx, text)
	return err
}

func (q pgQuerier) batch(ctx context.Context, statements []Statement) error {
	if len(statements) == 0 {
		return nil
	}
	batch := &pgx.Batch{}
	for _, statement := range statements {
		batch.Queue(q.rewriter.text(statement.Text), withLists(Postgres, statement.Args)...)
	}
	results := q.on.SendBatch(ctx, batch)
	for _, statement := range statements {
		if err := statement.read(results); err != nil {
			_ = results.Close() // which repeats it
			return fmt.Errorf("%s: %w", statement.words(), err)
		}
	}
	return results.Close()
}

func (s Statement) read(results pgx.BatchResults) error {
	if s.Scan == nil {
		_, err := results.Exec()
		return err
	}
	rows, err := results.Query()
	if err != nil {
		return err
	}
	return eachRow(rows, s.Scan)
}
