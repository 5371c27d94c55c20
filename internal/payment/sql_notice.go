package payment

import (
	"context"
	"time"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
)

const noticeColumns = `n.id, n.invoice_id, n.kind, n.created_at`

func scanNotice(row sqldb.Row) (notice Notice, err error) {
	var created int64
	err = row.Scan(&notice.ID, &notice.InvoiceID, &notice.Kind, &created)
	notice.CreatedAt = time.UnixMicro(created)
	return notice, err
}

func noticesOf(ctx context.Context, querier sqldb.Querier, companyID, invoiceID int64) ([]Notice, error) {
	return sqldb.All(ctx, querier, scanNotice, `
		SELECT `+noticeColumns+` FROM paid_notices n WHERE n.company_id = ? AND n.invoice_id = ? ORDER BY n.id DESC`,
		companyID, invoiceID)
}

// noticed finds the last notices of open invoices.
func noticed(ctx context.Context, querier sqldb.Querier, companyID int64, page input.Page) ([]Notice, error) {
	return sqldb.All(ctx, querier, scanNotice, `
		SELECT `+noticeColumns+` FROM paid_notices n WHERE n.company_id = ? AND n.id IN (
			SELECT MAX(p.id) FROM paid_notices p JOIN invoices i ON i.company_id = p.company_id AND i.id = p.invoice_id
			WHERE p.company_id = ? AND i.status = ? GROUP BY p.invoice_id)
		ORDER BY n.id DESC LIMIT ? OFFSET ?`,
		companyID, companyID, string(billing.Open), page.Size, (page.Number-1)*page.Size)
}

func countNoticed(ctx context.Context, querier sqldb.Querier, companyID int64) (int64, error) {
	return sqldb.Value[int64](ctx, querier, `
		SELECT COUNT(DISTINCT p.invoice_id) FROM paid_notices p JOIN invoices i ON i.company_id = p.company_id AND i.id = p.invoice_id
		WHERE p.company_id = ? AND i.status = ?`, companyID, string(billing.Open))
}

func countSaying(ctx context.Context, querier sqldb.Querier, companyID int64) (int64, error) {
	return sqldb.Value[int64](ctx, querier, `
		SELECT COUNT(DISTINCT i.customer_id) FROM paid_notices p JOIN invoices i ON i.company_id = p.company_id AND i.id = p.invoice_id
		WHERE p.company_id = ? AND i.status = ?`, companyID, string(billing.Open))
}

func noticeWithFile(ctx context.Context, querier sqldb.Querier, companyID, id int64) (notice Notice, content []byte, err error) {
	notice, err = sqldb.One(ctx, querier, func(row sqldb.Row) (notice Notice, err error) {
		var created int64
		err = row.Scan(&notice.ID, &notice.InvoiceID, &notice.Kind, &created, &content)
		notice.CreatedAt = time.UnixMicro(created)
		return notice, err
	}, `SELECT `+noticeColumns+`, n.content FROM paid_notices n WHERE n.company_id = ? AND n.id = ?`, companyID, id)
	return notice, content, sqldb.Found(err, "page")
}

func insertNotice(
	ctx context.Context, tx *sqldb.Tx, invoice billing.Invoice, companyID int64, kind NoticeKind, content []byte,
) error {
	_, err := tx.Exec(ctx, `
		INSERT INTO paid_notices (company_id, invoice_id, customer_id, kind, created_at, content) VALUES (?, ?, ?, ?, ?, ?)`,
		companyID, invoice.ID, invoice.Customer.ID, string(kind), tx.Now().UnixMicro(), content)
	return err
}

func removeNotices(ctx context.Context, tx account.Tx, invoiceID int64) error {
	_, err := tx.Exec(ctx, `DELETE FROM paid_notices WHERE company_id = ? AND invoice_id = ?`, tx.Company.ID, invoiceID)
	return err
}

func pruneNotices(ctx context.Context, tx *sqldb.Tx, before time.Time) error {
	_, err := tx.Exec(ctx, `DELETE FROM paid_notices WHERE created_at < ? /* every company_id */`, before.UnixMicro())
	return err
}
