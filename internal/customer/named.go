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
	return namesOf(ctx, querier, "name", actor.Company.ID, ids)
}

// namesOf are those of some customers: as they are written, or as they are compared.
func namesOf(ctx context.Context, querier sqldb.Querier, column string, companyID int64, ids []int64) (map[int64]string, error) {
	names := make(map[int64]string, len(ids))
	if len(ids) == 0 {
		return names, nil
	}
	err := sqldb.Each(ctx, querier, `SELECT id, `+column+` FROM customers WHERE company_id = ? AND id {in ?} AND {visible id}`,
		[]any{companyID, ids}, func(row sqldb.Row) error {
			var id int64
			var name string
			err := row.Scan(&id, &name)
			names[id] = name
			return err
		})
	return names, err
}
