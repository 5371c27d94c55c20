package account

import (
	"context"

	"carteira/internal/platform/civil"
	"carteira/internal/platform/sqldb"
)

func childByID(ctx context.Context, querier sqldb.Querier, parentID, id int64) (Company, error) {
	company, err := sqldb.One(
		ctx,
		querier,
		scanCompany,
		`SELECT `+companyColumns+` FROM companies c WHERE c.parent_id = ? AND c.id = ?`,
		parentID,
		id,
	)
	return company, sqldb.Found(err, "reseller")
}

func lockChild(ctx context.Context, tx *sqldb.Tx, parentID, id int64) (Company, error) {
	company, err := sqldb.One(ctx, tx, scanCompany, `
		SELECT `+companyColumns+` FROM companies c WHERE c.parent_id = ? AND c.id = ? {for update}`, parentID,
		id)
	return company, sqldb.Found(err, "reseller")
}

func updateFunctions(ctx context.Context, tx *sqldb.Tx, parentID int64, change FunctionsChange) error {
	_, err := tx.Exec(ctx, `
		UPDATE companies SET functions = ?, updated_at = ? WHERE parent_id = ? AND subscription_plan_id = ?`,
		change.After, tx.Now().UnixMicro(), parentID, change.PlanID)
	return err
}

// emailTaken looks among the users of all companies: an address signs in to
// one.
func emailTaken(ctx context.Context, querier sqldb.Querier, userID int64, emailKey string) (bool, error) {
	count, err := sqldb.Value[int64](ctx, querier, `
		SELECT count(*) FROM users WHERE email_key = ? AND id <> ? /* every company_id */`, emailKey,
		userID)
	return count > 0, err
}

func countTrials(ctx context.Context, querier sqldb.Querier, parentID int64, today civil.Date) (int64, error) {
	return sqldb.Value[int64](ctx, querier, `
		SELECT count(*) FROM companies WHERE parent_id = ? AND subscription = 'trial' AND expires_on >= ?`, parentID, today)
}

// ownersOfChildren are the addresses of the owners of all companies directly below one.
func ownersOfChildren(ctx context.Context, querier sqldb.Querier, parentID int64) ([]string, error) {
	return sqldb.All(ctx, querier, func(row sqldb.Row) (address string, err error) {
		err = row.Scan(&address)
		return address, err
	}, `SELECT u.email_key FROM companies c JOIN users u ON u.company_id = c.id AND u.role = 'owner' WHERE c.parent_id = ?`, parentID)
}

// inUse reports whether any user of a company has a password.
func inUse(ctx context.Context, querier sqldb.Querier, companyID int64) (bool, error) {
	count, err := sqldb.Value[int64](
		ctx,
		querier,
		`SELECT count(*) FROM users WHERE company_id = ? AND password_hash <> ''`,
		companyID,
	)
	return count > 0, err
}

// lockChildren locks the companies directly below one.
func lockChildren(ctx context.Context, tx *sqldb.Tx, parentID int64) ([]Company, error) {
	return sqldb.All(ctx, tx, scanCompany, `
		SELECT `+companyColumns+` FROM companies c WHERE c.parent_id = ? ORDER BY c.id {for update}`, parentID)
}

// updateAbove gives all companies directly below one the standing of those above
// them.
func updateAbove(ctx context.Context, tx *sqldb.Tx, parentID int64, above Above) error {
	_, err := tx.Exec(ctx,
		`UPDATE companies SET above_suspended_at = ?, above_expires_on = ? WHERE parent_id = ?`,
		instant(above.SuspendedAt), above.ExpiresOn, parentID)
	return err
}
