package billing

import (
	"context"

	"carteira/internal/account"
	"carteira/internal/platform/sqldb"
)

// Watcher is a room above this one that acts when an invoice changes, inside
// the transaction of the change. A nil function is not called.
type Watcher struct {
	Changed  func(ctx context.Context, tx *sqldb.Tx, a account.Actor, before, after Invoice) error // its status did
	Deleting func(ctx context.Context, tx *sqldb.Tx, a account.Actor, invoices []Invoice) error    // the rows are still there
}

// Watch adds a watcher. It is called while the program is wired.
func (s *Service) Watch(w Watcher) { s.watchers = append(s.watchers, w) }

func (s *Service) tellChanged(ctx context.Context, tx *sqldb.Tx, a account.Actor, before, after Invoice) error {
	for _, w := range s.watchers {
		if w.Changed == nil {
			continue
		}
		if err := w.Changed(ctx, tx, a, before, after); err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) tellDeleting(ctx context.Context, tx *sqldb.Tx, a account.Actor, invoices []Invoice) error {
	for _, w := range s.watchers {
		if w.Deleting == nil || len(invoices) == 0 {
			continue
		}
		if err := w.Deleting(ctx, tx, a, invoices); err != nil {
			return err
		}
	}
	return nil
}

// LockTx reads an invoice for another room's transaction and keeps others from
// changing it, or its customer, until the commit.
func LockTx(ctx context.Context, tx *sqldb.Tx, a account.Actor, id int64) (Invoice, error) {
	i, _, err := lock(ctx, tx, a, id)
	return i, err
}
