package account

import (
	"context"

	"carteira/internal/platform/sqldb"
)

func childByID(ctx context.Context, q sqldb.Querier, parentID, id int64) (Company, error) {
	c, err := sqldb.One(ctx, q, scanCompany, `SELECT `+companyColumns+` FROM companies c WHERE c.parent_id = ? AND c.id = ?`, parentID, id)
	return c, sqldb.Found(err, "reseller")
}

func lockChild(ctx context.Context, tx *sqldb.Tx, parentID, id int64) (Company, error) {
	c, err := sqldb.One(ctx, tx, scanCompany, `
		SELECT `+companyColumns+` FROM companies c WHERE c.parent_id = ? AND c.id = ? {for update}`, parentID, id)
	return c, sqldb.Found(err, "reseller")
}

func updateFunctions(ctx context.Context, tx *sqldb.Tx, parentID int64, c FunctionsChange) error {
	_, err := tx.Exec(ctx, `
		UPDATE companies SET functions = ?, updated_at = ? WHERE parent_id = ? AND subscription_plan_id = ?`,
		c.After, tx.Now().UnixMicro(), parentID, c.PlanID)
	return err
}

// emailTaken looks among the users of all companies: an address signs in to
// one.
func emailTaken(ctx context.Context, q sqldb.Querier, userID int64, emailKey string) (bool, error) {
	n, err := sqldb.Value[int64](ctx, q, `
		SELECT count(*) FROM users WHERE email_key = ? AND id <> ? /* every company_id */`, emailKey, userID)
	return n > 0, err
}

// inUse reports whether any user of a company has a password.
func inUse(ctx context.Context, q sqldb.Querier, companyID int64) (bool, error) {
	n, err := sqldb.Value[int64](ctx, q, `SELECT count(*) FROM users WHERE company_id = ? AND password_hash <> ''`, companyID)
	return n > 0, err
}

// lockChildren locks the companies directly below one.
func lockChildren(ctx context.Context, tx *sqldb.Tx, parentID int64) ([]Company, error) {
	return sqldb.All(ctx, tx, scanCompany, `
		SELECT `+companyColumns+` FROM companies c WHERE c.parent_id = ? ORDER BY c.id {for update}`, parentID)
}

// updateAbove gives all companies directly below one the standing of those above
// them.
func updateAbove(ctx context.Context, tx *sqldb.Tx, parentID int64, above Above) error {
	_, err := tx.Exec(ctx, `UPDATE companies SET above_suspended_at = ?, above_expires_on = ? WHERE parent_id = ?`,
		instant(above.SuspendedAt), above.ExpiresOn, parentID)
	return err
}
