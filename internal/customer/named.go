package customer

import (
	"context"

	"carteira/internal/account"
	"carteira/internal/platform/sqldb"
)

// NamesIn reads the names of customers for another room's list, by their ids.
// Those that are deleted are left out.
func NamesIn(
	ctx context.Context,
	querier sqldb.Querier,
	actor account.Actor,
	ids []int64,
) (map[int64]string, error) {
	names := make(map[int64]string, len(ids))
	if len(ids) == 0 {
		return names, nil
	}
	err := sqldb.Each(ctx, querier, `SELECT id, name FROM customers WHERE company_id = ? AND id {in ?} AND {visible id}`,
		[]any{actor.Company.ID, ids}, func(row sqldb.Row) error {
			var id int64
			var name string
			err := row.Scan(&id, &name)
			names[id] = name
			return err
		})
	return names, err
}
