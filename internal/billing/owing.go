package billing

import (
	"context"

	"carteira/internal/account"
	"carteira/internal/platform/money"
)

// Owing is what some customers owe of invoices whose day has passed, without late
// charges; those who owe nothing are not in it.
func (s *Service) Owing(ctx context.Context, actor account.Actor, customerIDs []int64) (map[int64]money.Cents, error) {
	if len(customerIDs) == 0 {
		return nil, nil
	}
	return overdueOf(ctx, s.db, actor.Company.ID, customerIDs, actor.Today(s.db.Now()))
}
