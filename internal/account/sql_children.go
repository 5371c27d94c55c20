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

func hasPassword(ctx context.Context, q sqldb.Querier, u User) (bool, error) {
	hash, err := sqldb.Value[string](ctx, q, `SELECT password_hash FROM users WHERE company_id = ? AND id = ?`, u.CompanyID, u.ID)
	return hash != "", err
}
