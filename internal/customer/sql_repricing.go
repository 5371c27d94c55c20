package customer

import (
	"context"
	"errors"

	"carteira/internal/platform/sqldb"
)

func scanRepricing(row sqldb.Row) (at repricing, err error) {
	err = row.Scan(&at.companyID, &at.planID, &at.on, &at.wasFree, &at.next)
	return at, err
}

const repricingColumns = `company_id, plan_id, changed_on, was_free, next_id`

// beginRepricing begins with the first customer, also where a change before this
// one has not come to its end: what was free then has not been billed yet.
func beginRepricing(ctx context.Context, tx *sqldb.Tx, at repricing) (repricing, error) {
	return sqldb.One(ctx, tx, scanRepricing, `
		INSERT INTO plan_repricings (`+repricingColumns+`) VALUES (?, ?, ?, ?, 0)
		ON CONFLICT (company_id, plan_id) DO UPDATE SET changed_on = excluded.changed_on, next_id = 0,
			was_free = plan_repricings.was_free OR excluded.was_free
		RETURNING `+repricingColumns, at.companyID, at.planID, at.on, at.wasFree)
}

// anyRepricing finds a plan to go on with; nil: there is none.
func anyRepricing(ctx context.Context, querier sqldb.Querier) (*repricing, error) {
	at, err := sqldb.One(ctx, querier, scanRepricing, `
		SELECT `+repricingColumns+` FROM plan_repricings ORDER BY company_id, plan_id LIMIT 1 /* every company_id */`)
	if errors.Is(err, sqldb.ErrNotFound) {
		return nil, nil //nolint:nilnil // none is no error
	}
	return &at, err
}

const anyRepricingText = `SELECT 1 FROM plan_repricings /* every company_id */`

// lockRepricing reads how far a repricing has come; nil: it has ended.
func lockRepricing(ctx context.Context, tx *sqldb.Tx, of repricing) (*repricing, error) {
	at, err := sqldb.One(ctx, tx, scanRepricing, `
		SELECT `+repricingColumns+` FROM plan_repricings WHERE company_id = ? AND plan_id = ? {for update}`,
		of.companyID, of.planID)
	if errors.Is(err, sqldb.ErrNotFound) {
		return nil, nil //nolint:nilnil // ended is no error
	}
	return &at, err
}

func saveRepricing(ctx context.Context, tx *sqldb.Tx, at repricing) error {
	_, err := tx.Exec(ctx, `UPDATE plan_repricings SET next_id = ? WHERE company_id = ? AND plan_id = ?`,
		at.next, at.companyID, at.planID)
	return err
}

func endRepricing(ctx context.Context, tx *sqldb.Tx, at repricing) error {
	_, err := tx.Exec(ctx, `DELETE FROM plan_repricings WHERE company_id = ? AND plan_id = ?`,
		at.companyID, at.planID)
	return err
}

// nextMembers finds the last of the next customers of a plan, and how many they
// are.
func nextMembers(ctx context.Context, tx *sqldb.Tx, at repricing, limit int) (last int64, count int, err error) {
	err = sqldb.Each(ctx, tx, `
		SELECT COALESCE(MAX(id), 0), count(*) FROM (
			SELECT id FROM customers WHERE company_id = ? AND plan_id = ? AND id > ? AND {visible id} ORDER BY id LIMIT ?
		) AS batch`, []any{at.companyID, at.planID, at.next, limit}, func(row sqldb.Row) error {
		return row.Scan(&last, &count)
	})
	return last, count, err
}
