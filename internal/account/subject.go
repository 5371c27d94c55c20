package account

import (
	"context"

	"carteira/internal/platform/sqldb"
)

// DataSubject is a customer as rooms know one that do not know customers: for what is
// kept about somebody who asks.
type DataSubject struct {
	CustomerID int64
	UUID       string
}

// EraseAuditTx takes what it says of a person out of the audit lines of records.
// Who did what and when stays.
func EraseAuditTx(ctx context.Context, tx *sqldb.Tx, actor Actor, record string, ids ...int64) error {
	for _, id := range ids {
		if err := eraseAudit(ctx, tx, actor.Company.ID, record, id); err != nil {
			return err
		}
	}
	return nil
}
