package dashboard

import (
	"context"
	"fmt"

	"carteira/internal/account"
	"carteira/internal/platform/sqldb"
)

// Begun is what a company has set up of what it begins with.
type Begun struct {
	Plan, Gateway, Rules, Team bool
}

// Begun reads in one statement which of the first steps are done.
func (s *Service) Begun(ctx context.Context, actor account.Actor) (Begun, error) {
	company := actor.Company.ID
	begun, err := sqldb.One(ctx, s.db, func(row sqldb.Row) (begun Begun, err error) {
		err = row.Scan(&begun.Plan, &begun.Gateway, &begun.Rules, &begun.Team)
		return begun, err
	}, `SELECT EXISTS (SELECT 1 FROM customer_plans WHERE company_id = ?),
			EXISTS (SELECT 1 FROM gateways WHERE company_id = ? AND active = ?),
			EXISTS (SELECT 1 FROM reminder_rules WHERE company_id = ?),
			(SELECT count(*) FROM users WHERE company_id = ?) > 1`, company, company, true, company, company)
	if err != nil {
		return begun, fmt.Errorf("first steps: %w", err)
	}
	return begun, nil
}
