package customer

import (
	"context"
	"fmt"

	"carteira/internal/account"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/sqldb"
)

// RoomFor refuses more customers than the company may have. Two at once may both
// be the last: it is a bound on space, not a price.
func RoomFor(ctx context.Context, querier sqldb.Querier, actor account.Actor, more int64) error {
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
