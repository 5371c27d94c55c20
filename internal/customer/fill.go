package customer

import (
	"context"
	"fmt"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/phone"
	"carteira/internal/platform/sqldb"
	"carteira/internal/tally"
)

// fillBatch bounds one transaction of Fill.
const fillBatch = 1000

// Fill completes the rows of a database that an earlier version made, where a
// migration in SQL cannot: the day on which a customer was created needs the
// company's time zone, and phones that were stored wrong are repaired where
// their digits leave no doubt. It goes on where an earlier run was broken off,
// and costs one look into an empty index when nothing is left.
func (s *Service) Fill(ctx context.Context) error {
	zones := map[int64]*time.Location{}
	for {
		left, err := anyUnfilled(ctx, s.db)
		if err != nil || !left {
			return err
		}
		err = s.db.Write(ctx, func(tx *sqldb.Tx) error { return fillRows(ctx, tx, zones) })
		if err != nil {
			return fmt.Errorf("fill in customers: %w", err)
		}
	}
}

// madeOn is what the rows of one company have in common that were created on
// one day, in one offset.
type madeOn struct {
	company int64
	day     civil.Date
	offset  int
}

func fillRows(ctx context.Context, tx *sqldb.Tx, zones map[int64]*time.Location) error {
	rows, err := unfilled(ctx, tx, fillBatch)
	if err != nil {
		return err
	}
	groups, created := map[madeOn][]int64{}, map[int64][]tally.Entry{}
	for _, row := range rows {
		zone, err := zoneOf(ctx, tx, zones, row.company)
		if err != nil {
			return err
		}
		var customer Customer
		customer.createdAt(row.createdAt, zone)
		key := madeOn{row.company, customer.CreatedOn, customer.createdOffset}
		groups[key] = append(groups[key], row.id)
		customer.Plan.ID, customer.Product.ID = row.planID, row.productID
		created[row.company] = append(created[row.company], countedCreation(customer, 1, ""))
		if err := repairPhone(ctx, tx, row); err != nil {
			return err
		}
	}
	for company, entries := range created {
		if err := tally.AddAll(ctx, tx, company, entries); err != nil {
			return err
		}
	}
	for key, ids := range groups {
		if err := fillCreated(ctx, tx, key, ids); err != nil {
			return err
		}
	}
	return nil
}

func zoneOf(
	ctx context.Context,
	tx *sqldb.Tx,
	zones map[int64]*time.Location,
	company int64,
) (*time.Location, error) {
	if zone, known := zones[company]; known {
		return zone, nil
	}
	found, err := account.FindCompany(ctx, tx, company)
	zones[company] = found.Zone
	return found.Zone, err
}

// repairPhone corrects a number that was stored when any ten to fifteen digits
// were good enough. Where the digits can be read in two ways it leaves them.
func repairPhone(ctx context.Context, tx *sqldb.Tx, row unfilledRow) error {
	fixed, certain := phone.Repair(row.phone)
	if row.phone == "" || !certain || fixed == row.phone {
		return nil
	}
	customer, err := byID(ctx, tx, row.company, row.id)
	if err != nil {
		return err
	}
	customer.Whatsapp = fixed
	return updatePhone(ctx, tx, row.company, customer)
}
