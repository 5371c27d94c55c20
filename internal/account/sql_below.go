package account

import (
	"context"
	"errors"
	"time"

	"carteira/internal/platform/sqldb"
)

func companyBelow(ctx context.Context, q sqldb.Querier, parentID, id int64) (Company, error) {
	c, err := sqldb.One(ctx, q, scanCompany, `SELECT `+companyColumns+` FROM companies c WHERE c.parent_id = ? AND c.id = ?`, parentID, id)
	return c, sqldb.Found(err, "reseller")
}

func lockBelow(ctx context.Context, tx *sqldb.Tx, parentID, id int64) (Company, error) {
	c, err := sqldb.One(ctx, tx, scanCompany, `
		SELECT `+companyColumns+` FROM companies c WHERE c.parent_id = ? AND c.id = ? {for update}`, parentID, id)
	return c, sqldb.Found(err, "reseller")
}

func updateFunctions(ctx context.Context, tx *sqldb.Tx, parentID, planID int64, f Functions) error {
	_, err := tx.Exec(ctx, `
		UPDATE companies SET functions = ?, updated_at = ? WHERE parent_id = ? AND subscription_plan_id = ?`,
		f.String(), tx.Now().UnixMicro(), parentID, planID)
	return err
}

// emailTaken looks among the users of all companies: an address signs in to
// one.
func emailTaken(ctx context.Context, q sqldb.Querier, userID int64, emailKey string) (bool, error) {
	n, err := sqldb.Value[int64](ctx, q, `
		SELECT count(*) FROM users WHERE email_key = ? AND id <> ? /* every company_id */`, emailKey, userID)
	return n > 0, err
}

func updateEmail(ctx context.Context, tx *sqldb.Tx, u User, email, emailKey string) error {
	_, err := tx.Exec(ctx, `
		UPDATE users SET email = ?, email_key = ?, updated_at = ? WHERE company_id = ? AND id = ?`,
		email, emailKey, tx.Now().UnixMicro(), u.CompanyID, u.ID)
	return err
}

func hasPassword(ctx context.Context, q sqldb.Querier, u User) (bool, error) {
	hash, err := sqldb.Value[string](ctx, q, `SELECT password_hash FROM users WHERE company_id = ? AND id = ?`, u.CompanyID, u.ID)
	return hash != "", err
}

func updatePassword(ctx context.Context, tx *sqldb.Tx, u User, hash string) error {
	_, err := tx.Exec(ctx, `
		UPDATE users SET password_hash = ?, updated_at = ? WHERE company_id = ? AND id = ?`, hash, tx.Now().UnixMicro(), u.CompanyID, u.ID)
	return err
}

func insertInvitation(ctx context.Context, tx *sqldb.Tx, u User, hash []byte, expiresAt time.Time) error {
	_, err := tx.Exec(ctx, `
		INSERT INTO invitations (hash, company_id, user_id, expires_at, created_at) VALUES (?, ?, ?, ?, ?)`,
		hash, u.CompanyID, u.ID, expiresAt.UnixMicro(), tx.Now().UnixMicro())
	return err
}

func deleteInvitations(ctx context.Context, tx *sqldb.Tx, u User) error {
	_, err := tx.Exec(ctx, `DELETE FROM invitations WHERE company_id = ? AND user_id = ?`, u.CompanyID, u.ID)
	return err
}

// takeInvitation reports whether it was still there to be taken.
func takeInvitation(ctx context.Context, tx *sqldb.Tx, u User, hash []byte) (bool, error) {
	n, err := tx.Exec(ctx, `DELETE FROM invitations WHERE company_id = ? AND hash = ?`, u.CompanyID, hash)
	return n == 1, err
}

func pruneInvitations(ctx context.Context, tx *sqldb.Tx, now time.Time) error {
	_, err := tx.Exec(ctx, `DELETE FROM invitations WHERE expires_at <= ? /* every company_id */`, now.UnixMicro())
	return err
}

// invitationByHash finds the company by the code, as a token does.
func invitationByHash(ctx context.Context, q sqldb.Querier, hash []byte, now time.Time) (Invitation, error) {
	i, err := sqldb.One(ctx, q, func(r sqldb.Row) (i Invitation, err error) {
		var expires, created int64
		err = companyScan(r, &i.Company, &expires, &i.User.ID, &i.User.Name, &i.User.Email, (*string)(&i.User.Role), &created)
		i.User.CompanyID, i.User.CreatedAt, i.ExpiresAt = i.Company.ID, time.UnixMicro(created), time.UnixMicro(expires)
		return i, err
	}, `SELECT `+companyColumns+`, i.expires_at, u.id, u.name, u.email, u.role, u.created_at
		FROM invitations i JOIN companies c ON c.id = i.company_id
		JOIN users u ON u.company_id = i.company_id AND u.id = i.user_id
		WHERE i.hash = ? AND i.expires_at > ?`, hash, now.UnixMicro())
	if errors.Is(err, sqldb.ErrNotFound) {
		err = errNoInvitation()
	}
	return i, err
}
