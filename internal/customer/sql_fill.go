package customer

import (
	"context"
	"time"

	"carteira/internal/platform/sqldb"
)

// unfilledRow is a customer whose day of creation is not filled in.
type unfilledRow struct {
	id, company int64
	createdAt   time.Time
	phone       string
	planID      int64
	productID   int64
}

func anyUnfilled(ctx context.Context, querier sqldb.Querier) (bool, error) {
	n, err := sqldb.Value[int64](ctx, querier, `
		SELECT count(*) FROM (SELECT id FROM customers WHERE created_on = '' ORDER BY id LIMIT 1) AS one /* every company_id */`)
	return n > 0, err
}

func unfilled(ctx context.Context, tx *sqldb.Tx, limit int) ([]unfilledRow, error) {
	return sqldb.All(ctx, tx, func(r sqldb.Row) (row unfilledRow, err error) {
		var created int64
		err = r.Scan(&row.id, &row.company, &created, &row.phone, &row.planID, &row.productID)
		row.createdAt = time.UnixMicro(created)
		return row, err
	}, `SELECT id, company_id, created_at, whatsapp, COALESCE(plan_id, 0), COALESCE(product_id, 0) FROM customers WHERE created_on = ''
		ORDER BY id LIMIT ? {for update} /* every company_id */`, limit)
}

func fillCreated(ctx context.Context, tx *sqldb.Tx, made madeOn, ids []int64) error {
	_, err := tx.Exec(ctx, `
		UPDATE customers SET created_on = ?, created_offset = ? WHERE company_id = ? AND id {in ?}`,
		made.day.String(), made.offset, made.company, ids)
	return err
}

func updatePhone(ctx context.Context, tx *sqldb.Tx, companyID int64, customer Customer) error {
	_, err := tx.Exec(ctx, `UPDATE customers SET whatsapp = ?, updated_at = ? WHERE company_id = ? AND id = ?`,
		customer.Whatsapp, tx.Now().UnixMicro(), companyID, customer.ID)
	if err != nil {
		return err
	}
	return updateText(ctx, tx, companyID, customer)
}
