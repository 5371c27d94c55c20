package customer

import (
	"context"

	"carteira/internal/account"
	"carteira/internal/platform/sqldb"
)

// WithTaxIDs returns the ids of the customers who have one of the CPFs or CNPJs,
// by that number.
func (s *Service) WithTaxIDs(ctx context.Context, actor account.Actor, numbers []string) (map[string][]int64, error) {
	found := map[string][]int64{}
	if len(numbers) == 0 {
		return found, nil
	}
	err := sqldb.Each(ctx, s.db, `SELECT cpf_cnpj, id FROM customers
		WHERE company_id = ? AND cpf_cnpj <> '' AND cpf_cnpj {in ?} AND {visible id}`,
		[]any{actor.Company.ID, numbers},
		func(row sqldb.Row) error {
			var number string
			var id int64
			err := row.Scan(&number, &id)
			found[number] = append(found[number], id)
			return err
		})
	return found, err
}
