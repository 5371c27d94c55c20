package payment

import (
	"context"

	"carteira/internal/customer"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
)

// authorisationQuery is a page of the newest authorisations of a company's
// customers.
type authorisationQuery struct {
	companyID int64
	filter    AutopayFilter
	page      input.Page
}

// failedDebit holds for an authorisation a with a debit that came to nothing and
// none that was paid since.
const failedDebit = `EXISTS (SELECT 1 FROM charges f WHERE f.company_id = a.company_id AND f.authorisation_id = a.id
	AND f.authorisation_id > 0 AND f.debit_on <> '' AND f.state IN ('refused', 'cancelling', 'cancelled', 'expired')
	AND (f.state = 'refused' OR f.debit_failure <> '') AND NOT EXISTS (
		SELECT 1 FROM charges p WHERE p.company_id = f.company_id AND p.authorisation_id = f.authorisation_id
		AND p.authorisation_id > 0 AND p.debit_on <> '' AND p.state = 'paid' AND p.id > f.id))`

func (q authorisationQuery) where() sqldb.Where {
	var where sqldb.Where
	where.And(`a.company_id = ?`, q.companyID)
	where.And(`NOT EXISTS (SELECT 1 FROM authorisations n
		WHERE n.company_id = a.company_id AND n.customer_id = a.customer_id AND n.id > a.id)`)
	switch q.filter.State {
	case customer.AutopayAsked:
		where.And(`a.state IN ('reserved', 'asked')`)
	case customer.AutopayActive:
		where.And(`a.state = 'active'`)
	case customer.AutopayEnded:
		where.And(`a.state IN ('ending', 'ended')`)
	case customer.AutopayNone:
	}
	if q.filter.Failed {
		where.And(failedDebit)
	}
	return where
}

func countNewest(ctx context.Context, querier sqldb.Querier, query authorisationQuery) (int64, error) {
	where := query.where()
	return sqldb.Value[int64](ctx, querier, `SELECT COUNT(*) FROM authorisations a`+where.String(), where.Args...)
}

func newestOfCustomers(ctx context.Context, querier sqldb.Querier, query authorisationQuery) ([]authorisation, error) {
	where := query.where()
	return sqldb.All(ctx, querier, scanAuthorisation, `
		SELECT `+authorisationColumns+` FROM authorisations a`+where.String()+`
		ORDER BY a.id DESC LIMIT ? OFFSET ?`, append(where.Args, query.page.Size, query.page.Offset())...)
}

// debitsByAuthorisation reads the newest debits of authorisations, the newest
// first.
func debitsByAuthorisation(
	ctx context.Context,
	querier sqldb.Querier,
	companyID int64,
	authorisationIDs []int64,
) (map[int64][]charge, error) {
	list, err := sqldb.All(ctx, querier, scanCharge, `SELECT `+chargeColumns+` FROM charges
		WHERE company_id = ? AND id IN (
			SELECT d.id FROM (
				SELECT id, row_number() OVER (PARTITION BY authorisation_id ORDER BY id DESC) AS place FROM charges
				WHERE company_id = ? AND authorisation_id {in ?} AND authorisation_id > 0 AND debit_on <> '') d
			WHERE d.place <= 20)
		ORDER BY id DESC`, companyID, companyID, authorisationIDs)
	debits := map[int64][]charge{}
	for _, charge := range list {
		by := charge.debit.authorisationID
		debits[by] = append(debits[by], charge)
	}
	return debits, err
}
