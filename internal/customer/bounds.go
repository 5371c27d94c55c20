package customer

import (
	"context"
	"fmt"

	"carteira/internal/account"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/sqldb"
)

// roomFor refuses more customers than the company may have. Two at once may both
// be the last: it is a bound on space, not a price.
func roomFor(ctx context.Context, querier sqldb.Querier, actor account.Actor, more int64) error {
	most := actor.Company.Bounds().Customers
	if most == 0 {
		return nil
	}
	n, err := countUpTo(ctx, querier, actor.Company.ID, most)
	if err == nil && n+more > most {
		err = fault.Forbidden(fmt.Sprintf("a company on trial has at most %d customers; subscribe to have more", most))
	}
	return err
}

// roomForRows counts the rows of a file, if there is a bound to count for.
func (im *importer) roomForRows(ctx context.Context, rows Rows) error {
	if im.actor.Company.Bounds().Customers == 0 {
		return nil
	}
	var n int64
	for _, err := range rows() {
		if err != nil {
			return err
		}
		n++
	}
	return roomFor(ctx, im.service.db, im.actor, n)
}
