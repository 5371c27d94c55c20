package billing

import (
	"context"
	"errors"

	"carteira/internal/account"
	"carteira/internal/platform/sqldb"
)

// Owed returns the invoice that a customer has to pay first: of those that are
// open, the one that is due first. found is false when nothing is owed.
func (s *Service) Owed(
	ctx context.Context,
	actor account.Actor,
	customerID int64,
) (invoice Invoice, found bool, err error) {
	invoice, err = owed(ctx, s.db, actor.Company.ID, customerID)
	if errors.Is(err, sqldb.ErrNotFound) {
		return Invoice{}, false, nil
	}
	return invoice, err == nil, err
}
