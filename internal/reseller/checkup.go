package reseller

import (
	"context"

	"carteira/internal/platform/checkup"
	"carteira/internal/platform/sqldb"
)

// CheckCredits compares the balances with the sums of their entries.
func (s *Service) CheckCredits(ctx context.Context) (checkup.Finding, error) {
	wrong, err := sqldb.Values[int64](sqldb.WithoutDeadline(ctx), s.db, `
		SELECT c.id FROM companies c
		LEFT JOIN credit_balances b ON b.company_id = c.id
		LEFT JOIN (SELECT company_id, SUM(amount) AS total FROM credit_entries GROUP BY company_id) AS e ON e.company_id = c.id
		WHERE COALESCE(b.balance, 0) <> COALESCE(e.total, 0) ORDER BY c.id LIMIT 100 /* every company_id */`)
	if err != nil || len(wrong) == 0 {
		return checkup.Good("all balances are the sums of their entries"), err
	}
	return checkup.Bad("restore a backup from before it happened; the entries are the truth",
		"the credits of %d companies are not the sums of their entries, the first are %v",
		len(wrong), wrong[:min(len(wrong), 5)]), nil
}
