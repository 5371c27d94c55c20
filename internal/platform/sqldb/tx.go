package sqldb

import (
	"context"
	"time"
)

// Tx is a write transaction. It freezes one instant, so that every row of one
// change has the same time.
type Tx struct {
	txConn
	now      time.Time
	real     time.Time
	changed  bool // a statement has changed a row
	clock    Ref
	due      Ref
	onCommit []func()
}

// Exec runs a statement and returns how many rows it changed.
func (tx *Tx) Exec(ctx context.Context, text string, args ...any) (changed int64, err error) {
	err = tx.run(ctx, Statement{Text: text, Args: args, changed: &changed})
	tx.changed = tx.changed || changed > 0
	return changed, err
}

// Queue runs a statement without waiting for its answer: on PostgreSQL it is sent
// together with the next statement, or with the commit. The order is kept, so
// that what follows sees what it wrote. Its error comes then, or now.
func (tx *Tx) Queue(ctx context.Context, text string, args ...any) error {
	return tx.QueueScan(ctx, text, args, nil)
}

// QueueScan is Queue for a statement that returns rows. They are scanned before
// the commit is acknowledged.
func (tx *Tx) QueueScan(ctx context.Context, text string, args []any, scan func(Row) error) error {
	tx.changed = true
	return tx.queue(ctx, Statement{Text: text, Args: args, Scan: scan})
}

// txConn is a connection with an open transaction.
type txConn interface {
	Querier
	// queue runs a statement, at once or with the one that follows.
	queue(ctx context.Context, statement Statement) error
	// script runs a text of several statements.
	script(ctx context.Context, text string) error
}

// Do is Exec for a caller that does not need the count.
func (tx *Tx) Do(ctx context.Context, text string, args ...any) error {
	_, err := tx.Exec(ctx, text, args...)
	return err
}

// OnCommit calls f after the commit has been acknowledged. It is for hints,
// such as waking a worker: a crash may come before it.
func (tx *Tx) OnCommit(f func()) { tx.onCommit = append(tx.onCommit, f) }

// yieldTime is for how long Yield lets others write: some turns of lockPoll.
const yieldTime = 5 * lockPoll

// Yield lets others write between the transactions of long work, when it has not
// for as long as a group may keep them waiting; last is when it did, zero at first.
// To pause after every transaction would take longer than the work. SQLite keeps no
// queue of the processes that wait for its lock, and one that asks again at once is
// always first.
func (db *DB) Yield(ctx context.Context, last *time.Time) error {
	if db.Engine() != SQLite || time.Since(*last) < maxGroupTime {
		return ctx.Err()
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(yieldTime):
		*last = time.Now()
		return nil
	}
}

// Write runs fn in one transaction and returns when it is durable. fn is run
// again when another transaction was in the way, so it holds no side effect
// but SQL through tx; on SQLite it shares its commit with others that are
// waiting. It must not call Write.
func (db *DB) Write(ctx context.Context, fn func(tx *Tx) error) error {
	return db.writeWith(ctx, terms{lock: shared}, fn)
}

// Write is DB.Write for work that returns something: what fn returned in the run that was
// committed, or in the last one that failed.
func Write[T any](ctx context.Context, db *DB, fn func(tx *Tx) (T, error)) (result T, err error) {
	err = db.Write(ctx, func(tx *Tx) (err error) {
		result, err = fn(tx)
		return err
	})
	return result, err
}

// WriteRelaxed is Write that does not wait for the disk, for what may be done
// again: a power cut, or a crash of PostgreSQL's server, may take the last
// moments of it back. It is never lost alone: if a later flushed commit is
// there, so is it. A crash of this process takes nothing back.
func (db *DB) WriteRelaxed(ctx context.Context, fn func(tx *Tx) error) error {
	return db.writeWith(ctx, terms{lock: shared, relaxed: true}, fn)
}

// terms are what a transaction asks for.
type terms struct {
	lock      clockLock
	schema    int  // that the process knows; 0: it has not migrated
	relaxed   bool // it is acknowledged before the disk has it
	probing   bool // it proves little: a small write has room where others have none
	migrating bool // the schema is its own to change
}

func (db *DB) writeWith(ctx context.Context, terms terms, fn func(tx *Tx) error) error {
	var tx *Tx
	terms.schema = int(db.schema.Load())
	err := retry(ctx, func() error {
		return db.write(ctx, terms, func(conn txConn) (err error) {
			if tx, err = db.begin(ctx, conn, terms.lock); err != nil {
				return err
			}
			return fn(tx)
		})
	})
	if err := db.observe(tx, terms, err); err != nil {
		return err
	}
	for _, f := range tx.onCommit {
		f()
	}
	return nil
}
