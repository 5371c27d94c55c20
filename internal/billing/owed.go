package billing

import (
	"context"
	"errors"

	"carteira/internal/account"
	"carteira/internal/platform/sqldb"
)

// Owed returns the invoice that a customer has to pay first: of those that are
// open, the one that is due first. found is false when nothing is owed.
func (s *Service) Owed(ctx context.Context, a account.Actor, customerID int64) (i Invoice, found bool, err error) {
	i, err = owed(ctx, s.db, a.Company.ID, customerID)
	if errors.Is(err, sqldb.ErrNotFound) {
		return Invoice{}, false, nil
	}
	return i, err == nil, err
}
