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

func zoneOf(ctx context.Context, tx *sqldb.Tx, zones map[int64]*time.Location, company int64) (*time.Location, error) {
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

// unfilledRow is a customer without a day of creation.
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
