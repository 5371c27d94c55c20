package payment

import (
	"context"
	"time"

	"carteira/internal/platform/sqldb"
)

func pageOfCustomer(ctx context.Context, querier sqldb.Querier, companyID, customerID int64) (customerPage, error) {
	return sqldb.One(ctx, querier, func(row sqldb.Row) (page customerPage, err error) {
		var created int64
		err = row.Scan(&page.code, &created)
		page.createdAt = time.UnixMicro(created)
		return page, err
	}, `SELECT code, created_at FROM customer_pages WHERE company_id = ? AND customer_id = ?`, companyID, customerID)
}

func insertCustomerPage(ctx context.Context, tx *sqldb.Tx, companyID int64, page customerPage) error {
	_, err := tx.Exec(ctx,
		`INSERT INTO customer_pages (company_id, customer_id, code, created_at) VALUES (?, ?, ?, ?)
		ON CONFLICT (company_id, customer_id) DO NOTHING`,
		companyID, page.customer.ID, page.code, page.createdAt.UnixMicro())
	return err
}

func deleteCustomerPage(ctx context.Context, tx *sqldb.Tx, companyID int64, page customerPage) error {
	_, err := tx.Exec(ctx,
		`DELETE FROM customer_pages WHERE company_id = ? AND customer_id = ?`,
		companyID, page.customer.ID)
	return err
}

func customerOfCode(ctx context.Context, querier sqldb.Querier, code string) (companyID, customerID int64, err error) {
	ids, err := sqldb.One(ctx, querier, func(row sqldb.Row) (ids [2]int64, err error) {
		err = row.Scan(&ids[0], &ids[1])
		return ids, err
	}, `SELECT company_id, customer_id FROM customer_pages WHERE code = ? /* every company_id */`, code)
	return ids[0], ids[1], sqldb.Found(err, "page")
}
