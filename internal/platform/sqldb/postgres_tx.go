package sqldb

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// pgTx is a transaction on a connection of its own. What is queued goes out in
// front of the next statement: BEGIN with the first one, and COMMIT with what was
// queued last. None of them has a round trip to the server for itself. When one
// fails, the server passes over all that follows.
type pgTx struct {
	pgQuerier
	conn   *pgxpool.Conn
	opened []Statement // what begins it; nil once it is sent
	queued []Statement
}

// schemaCheck fails in the server when the database has a newer schema, since the
// commit may be sent right behind it. No other statement has a logarithm.
const schemaCheck = "SELECT ln(CASE WHEN max(version) > ? THEN 0 ELSE 1 END) FROM schema_migrations"

// maxQueued bounds what a transaction keeps in memory, such as an import.
const maxQueued = 256

func (db *postgresDB) write(ctx context.Context, terms terms, run func(txConn) error) error {
	tx := &pgTx{opened: db.opening(terms)}
	err := db.guard.within(ctx, func(ctx context.Context) (err error) {
		tx.conn, err = db.pool.Acquire(ctx)
		return err
	})
	if err != nil {
		return err
	}
	defer db.end(ctx, tx)
	tx.pgQuerier = pgQuerier{on: tx.conn, rewriter: db.rewriter, guard: db.guard}
	if err := run(tx); err != nil {
		return err
	}
	return tx.commit(ctx)
}

// opening begins a transaction. On a connection that leads to a pooler the
// settings are made for the transaction alone; see prepare.
func (db *postgresDB) opening(terms terms) []Statement {
	statements := []Statement{{Text: "begin"}}
	if db.connections.pooled.Load() {
		statements = append(statements, Statement{Text: fmt.Sprintf("SELECT "+sessionSettings, true)})
	}
	if terms.migrating {
		statements = append(statements, Statement{Text: "SELECT pg_advisory_xact_lock(" + schemaLock + ")"})
	} else if terms.schema != 0 {
		statements = append(statements, Statement{Text: "SELECT pg_advisory_xact_lock_shared(" + schemaLock + ")"},
			Statement{Text: schemaCheck, Args: []any{terms.schema}})
	}
	if terms.relaxed {
		statements = append(statements, Statement{Text: "set local synchronous_commit to off"})
	}
	return statements
}

// end gives the connection back, also when the caller is gone. Before a commit
// it rolls back; the error that led here is what matters. The pool discards a
// connection that is still in a transaction after that.
func (db *postgresDB) end(ctx context.Context, tx *pgTx) {
	defer tx.conn.Release()
	if tx.conn.Conn().IsClosed() || tx.status() == idleStatus {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), db.guard.timeouts.Statement)
	defer cancel()
	_, _ = tx.conn.Exec(ctx, "rollback")
}

// What the server calls a connection in no transaction, and in one that failed.
const (
	idleStatus   = 'I'
	failedStatus = 'E'
)

func (t *pgTx) status() byte { return t.conn.Conn().PgConn().TxStatus() }

func (t *pgTx) run(ctx context.Context, statements ...Statement) error {
	all := slices.Concat(t.opened, t.queued, statements)
	t.opened, t.queued = nil, nil
	return t.pgQuerier.run(ctx, all...)
}

func (t *pgTx) queue(ctx context.Context, statement Statement) error {
	t.queued = append(t.queued, statement)
	if len(t.queued) < maxQueued {
		return nil
	}
	return t.run(ctx)
}

// commit sends what is queued, and COMMIT behind it. A transaction without a
// statement has nothing to commit, and the server would only roll back one of
// which an error was passed over.
func (t *pgTx) commit(ctx context.Context) error {
	switch {
	case t.opened != nil && len(t.queued) == 0:
		return nil
	case t.status() == failedStatus:
		return pgx.ErrTxCommitRollback
	}
	return t.run(ctx, Statement{Text: "commit"})
}

// script runs the statements of a migration as they are. They cannot be part of
// a batch.
func (t *pgTx) script(ctx context.Context, text string) error {
	if err := t.run(ctx); err != nil {
		return err
	}
	return t.guard.within(ctx, func(ctx context.Context) error {
		_, err := t.conn.Exec(ctx, text)
		return err
	})
}
