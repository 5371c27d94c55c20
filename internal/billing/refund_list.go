package billing

import (
	"context"

	"carteira/internal/account"
	"carteira/internal/customer"
	"carteira/internal/platform/input"
	"carteira/internal/platform/listing"
	"carteira/internal/platform/money"
	"carteira/internal/platform/sqldb"
)

// ListedRefund is a refund as a row of the list of payments.
type ListedRefund struct {
	RefundRecord
	Payment      int64  // the number of the payment
	PaymentID    string // what the bank or the gateway calls it
	Via          string
	CustomerName string
	InvoiceID    int64
	Orphan       bool // the invoice was deleted
}

// Refunds lists what went back of the payments of a filter, and how many refunds
// there are. The days of the filter and of the order are those of the refunds.
func (s *Service) Refunds(
	ctx context.Context, actor account.Actor, filter PaymentFilter, page input.Page,
) ([]ListedRefund, int64, error) {
	query, err := filter.refunds(ctx, s.db, actor.Company.ID, page.Sort)
	if err != nil {
		return nil, 0, err
	}
	return refundTable.Page(ctx, s.db, query, page)
}

// WalkRefunds calls visit for every refund that Refunds lists, newest first.
func (s *Service) WalkRefunds(ctx context.Context, actor account.Actor, filter PaymentFilter, visit func(ListedRefund) error) error {
	if err := actor.NotAttendant(); err != nil {
		return err
	}
	query, err := filter.refunds(ctx, s.db, actor.Company.ID, "")
	if err != nil {
		return err
	}
	return refundTable.Each(ctx, s.db, query, visit)
}

// refunds is what the table of refunds is asked for.
func (f PaymentFilter) refunds(ctx context.Context, db *sqldb.DB, companyID int64, sort input.Sort) (listing.Query, error) {
	query := listing.Query{CompanyID: companyID, Where: f.wherePayment(), Sort: sort}
	span(&query.Where, "r.refunded_on", f.From, f.To)
	if !customer.Searches(f.Search) {
		return query, nil
	}
	found, err := customer.Found(ctx, db, companyID, f.Search)
	query.Where.And("p.customer_id {in ?}", found)
	return query, err
}

const refundsFrom = `payment_refunds r JOIN payments p ON p.company_id = r.company_id AND p.id = r.payment_id`

var refundTable = listing.Table[ListedRefund]{
	From: refundsFrom, ID: "r.id", Owner: "r.company_id",
	Columns: `r.id, r.amount_cents, r.refunded_on, r.reported_by, r.note, p.id, p.payment_id, p.paid_via, p.customer_name, p.invoice_id,
		CASE WHEN i.id IS NULL THEN 1 ELSE 0 END`,
	Joins:  ` LEFT JOIN invoices i ON i.company_id = p.company_id AND i.id = p.invoice_id`,
	Scan:   scanListedRefund,
	RowID:  func(refund ListedRefund) int64 { return refund.ID },
	Orders: map[string]listing.Order{input.ByPaidDay: {Column: "r.refunded_on"}},
}

func scanListedRefund(row sqldb.Row) (refund ListedRefund, err error) {
	var orphan int64
	err = row.Scan(&refund.ID, (*int64)(&refund.Amount), &refund.On, &refund.By, &refund.Note, &refund.Payment, &refund.PaymentID,
		&refund.Via, &refund.CustomerName, &refund.InvoiceID, &orphan)
	refund.Orphan = orphan != 0
	return refund, err
}

// sumRefunds adds up a few refunds.
func sumRefunds(ctx context.Context, querier sqldb.Querier, companyID int64, where sqldb.Where) (money.Cents, error) {
	where.And("r.company_id = ?", companyID)
	cents, err := sqldb.Value[int64](ctx, querier, `
		SELECT CAST(COALESCE(SUM(r.amount_cents), 0) AS BIGINT) FROM `+refundsFrom+where.String(), where.Args...)
	return money.Cents(cents), err
}
