// Package watch lets a room act on what happens in another, inside the
// transaction in which it happens: the two commit or fail together. It is the
// one mechanism for that; the owner of a list defines its type (a change of a
// record, an event).
package watch

import (
	"context"

	"carteira/internal/platform/sqldb"
)

// Watcher acts on a T inside the transaction in which it happens. It may run
// again with the transaction, so it has no side effect but SQL through tx.
type Watcher[T any] func(ctx context.Context, tx *sqldb.Tx, what T) error

// List is the watchers of one kind of T. The zero value is empty and ready.
type List[T any] struct{ watchers []Watcher[T] }

// Watch adds a watcher. It is called while the program is wired, before
// anything happens.
func (l *List[T]) Watch(watcher Watcher[T]) {
	l.watchers = append(l.watchers, watcher)
}

// Tell calls the watchers in the order in which they were added, until one
// fails.
func (l *List[T]) Tell(ctx context.Context, tx *sqldb.Tx, what T) error {
	for _, watcher := range l.watchers {
		if err := watcher(ctx, tx, what); err != nil {
			return err
		}
	}
	return nil
}
