package customer

import (
	"context"

	"carteira/internal/account"
	"carteira/internal/platform/sqldb"
)

// Watcher is a room above this one that acts when a customer changes, inside
// the transaction of the change. A nil function is not called.
type Watcher struct {
	Created  func(ctx context.Context, tx *sqldb.Tx, a account.Actor, c Customer) error
	Imported func(ctx context.Context, tx *sqldb.Tx, a account.Actor, list []Customer) error // without the consequences of a creation
	Changed  func(ctx context.Context, tx *sqldb.Tx, a account.Actor, before, after Customer) error
	Deleting func(ctx context.Context, tx *sqldb.Tx, a account.Actor, c Customer) error // the row is still there
}

// Watch adds a watcher. It is called while the program is wired.
func (s *Service) Watch(w Watcher) { s.watchers = append(s.watchers, w) }

func (s *Service) tellCreated(ctx context.Context, tx *sqldb.Tx, a account.Actor, c Customer) error {
	return s.tell(func(w Watcher) error {
		if w.Created == nil {
			return nil
		}
		return w.Created(ctx, tx, a, c)
	})
}

func (s *Service) tellImported(ctx context.Context, tx *sqldb.Tx, a account.Actor, list []Customer) error {
	return s.tell(func(w Watcher) error {
		if w.Imported == nil {
			return nil
		}
		return w.Imported(ctx, tx, a, list)
	})
}

func (s *Service) tellChanged(ctx context.Context, tx *sqldb.Tx, a account.Actor, before, after Customer) error {
	return s.tell(func(w Watcher) error {
		if w.Changed == nil {
			return nil
		}
		return w.Changed(ctx, tx, a, before, after)
	})
}

func (s *Service) tellDeleting(ctx context.Context, tx *sqldb.Tx, a account.Actor, c Customer) error {
	return s.tell(func(w Watcher) error {
		if w.Deleting == nil {
			return nil
		}
		return w.Deleting(ctx, tx, a, c)
	})
}

// tell calls the watchers in turn, until one fails.
func (s *Service) tell(call func(Watcher) error) error {
	for _, w := range s.watchers {
		if err := call(w); err != nil {
			return err
		}
	}
	return nil
}
