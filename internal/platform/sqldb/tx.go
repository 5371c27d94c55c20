package sqldb

import (
	"context"
	"time"
)

// Tx is a write transaction. It freezes one instant, so that every row of one
// change bears one time.
type Tx struct {
	Querier
	now      time.Time
	clock    Ref
	onCommit []func()
}

// Now is the instant of the transaction, in whole microseconds.
func (tx *Tx) Now() time.Time { return tx.now }

// Clock is the argument of {clock ?} in the transaction.
func (tx *Tx) Clock() Ref { return tx.clock }

// Exec runs a statement and returns how many rows it changed.
func (tx *Tx) Exec(ctx context.Context, text string, args ...any) (int64, error) {
	n, err := tx.exec(ctx, text, args)
	return n, tx.translate(err)
}

// OnCommit calls f after the commit has been acknowledged. It is for hints,
// such as waking a worker: a crash may come before it.
func (tx *Tx) OnCommit(f func()) { tx.onCommit = append(tx.onCommit, f) }

// Write runs fn in one transaction and returns when it is durable. fn is run
// again when another transaction was in the way, so it holds no side effect
// but SQL through tx; on SQLite it shares its commit with others that are
// waiting. It must not call Write.
func (db *DB) Write(ctx context.Context, fn func(tx *Tx) error) error {
	var tx *Tx
	err := retry(ctx, func() error {
		return db.write(ctx, func(conn Querier) error {
			tx = &Tx{Querier: conn, now: db.Now(), clock: db.Clock()}
			if err := fn(tx); err != nil {
				return err
			}
			return runAttached(ctx, tx)
		})
	})
	if err != nil {
		return err
	}
	for _, f := range tx.onCommit {
		f()
	}
	return nil
}

type attachedKey struct{}

// Attach makes every Write under the returned context also run fn, inside its
// transaction and after its own statements. It is for what must be committed
// with a change without the change knowing of it, such as the mark that a
// request with an idempotency key has been carried out.
func Attach(ctx context.Context, fn func(ctx context.Context, tx *Tx) error) context.Context {
	return context.WithValue(ctx, attachedKey{}, fn)
}

// Detach is for work that takes several transactions and may be repeated as a
// whole: none of them is to be taken for the carrying out of it.
func Detach(ctx context.Context) context.Context { return context.WithValue(ctx, attachedKey{}, nil) }

func runAttached(ctx context.Context, tx *Tx) error {
	fn, ok := ctx.Value(attachedKey{}).(func(context.Context, *Tx) error)
	if !ok {
		return nil
	}
	return fn(ctx, tx)
}
