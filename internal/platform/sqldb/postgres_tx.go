package sqldb

import (
	"cmp"
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// pgTx is a transaction on a connection of its own. BEGIN goes out with its first
// statement, and COMMIT with those that were put off: neither has a flight to
// the server and back for itself.
type pgTx struct {
	conn    *pgxpool.Conn
	opening []string // what goes out before the first statement; nil: it went
}

func (db *postgresDB) write(ctx context.Context, terms terms, run func(Querier) (lateWork, error)) error {
	steps := db.guard.steps(ctx)
	defer steps.cancel(nil)
	tx, err := db.begin(steps, terms)
	if err != nil {
		return err
	}
	defer db.end(ctx, tx)
	querier := pgQuerier{on: tx, rewriter: db.rewriter, guard: db.guard}
	late, err := run(querier)
	if err != nil {
		return err
	}
	return steps.within(func() error { return tx.commit(steps.ctx, querier, late.statements()) })
}

// begin finds a connection for a transaction. One that leads to a pooler has its
// settings made for the transaction alone; see prepare.
func (db *postgresDB) begin(steps steps, terms terms) (*pgTx, error) {
	tx := &pgTx{opening: []string{"begin"}}
	if db.connections.pooled.Load() {
		tx.opening = append(tx.opening, fmt.Sprintf("SELECT "+sessionSettings, true))
	}
	if terms.relaxed {
		tx.opening = append(tx.opening, "set local synchronous_commit to off")
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

// Query runs a statement that returns rows.
func (t *pgTx) Query(ctx context.Context, text string, args ...any) (pgx.Rows, error) {
	if t.opening == nil {
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

// batchRows are the rows of the only statement of a batch, which ends with them.
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
	if t.opening == nil {
		return t.conn.Exec(ctx, text, args...)
	}
	batch := &pgx.Batch{}
	batch.Queue(text, args...)
	results := t.SendBatch(ctx, batch)
	tag, err := results.Exec()
	closed := results.Close()
	return tag, cmp.Or(err, closed)
}

// SendBatch sends statements together, behind what opens the transaction. An
// error of that is the first one that the results give.
func (t *pgTx) SendBatch(ctx context.Context, batch *pgx.Batch) pgx.BatchResults {
	if t.opening == nil {
		return t.conn.SendBatch(ctx, batch)
	}
	opened := &pgx.Batch{}
	for _, text := range t.opening {
		opened.Queue(text)
	}
	opening := len(t.opening)
	t.opening = nil
	opened.QueuedQueries = append(opened.QueuedQueries, batch.QueuedQueries...)
	results := t.conn.SendBatch(ctx, opened)
	for range opening {
		if _, err := results.Exec(); err != nil {
			break // the results repeat it
		}
	}
	return results
}

// open begins the transaction by itself, for a text of several statements, which
// cannot be part of a batch.
func (t *pgTx) open(ctx context.Context) error {
	if t.opening == nil {
		return nil
	}
	return t.SendBatch(ctx, &pgx.Batch{}).Close()
}

// commit sends what was put off, and COMMIT behind it: where a statement fails,
// the server passes over all that follows. A transaction without a statement
// has nothing to commit.
func (t *pgTx) commit(ctx context.Context, querier pgQuerier, rest []Statement) error {
	if t.opening != nil && len(rest) == 0 {
		return nil
	}
	batch := querier.batchOf(rest)
	batch.Queue("commit")
	results := t.SendBatch(ctx, batch)
	if err := readResults(results, rest); err != nil {
		return err
	}
	tag, err := results.Exec()
	if closed := results.Close(); err == nil {
		err = closed
	}
	if err == nil && tag.String() == "ROLLBACK" {
		err = pgx.ErrTxCommitRollback
	}
	return err
}

func (q pgQuerier) batch(ctx context.Context, statements []Statement) error {
	if len(statements) == 0 {
		return nil
	}
	results := q.on.SendBatch(ctx, q.batchOf(statements))
	if err := readResults(results, statements); err != nil {
		return err
	}
	return results.Close()
}

func (q pgQuerier) batchOf(statements []Statement) *pgx.Batch {
	batch := &pgx.Batch{}
	for _, statement := range statements {
		batch.Queue(q.rewriter.text(statement.Text), withLists(Postgres, statement.Args)...)
	}
	return batch
}

// readResults reads the results of statements. After an error it closes them.
func readResults(results pgx.BatchResults, statements []Statement) error {
	for _, statement := range statements {
		if err := statement.read(results); err != nil {
			_ = results.Close() // which repeats it
			return fmt.Errorf("%s: %w", statement.words(), err)
		}
	}
	return nil
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

// script runs the statements of a migration as they are.
func (q pgQuerier) script(ctx context.Context, text string) error {
	if tx, ok := q.on.(*pgTx); ok {
		if err := tx.open(ctx); err != nil {
			return err
		}
	}
	_, err := q.on.Exec(ctx, text)
	return err
}
