package account

import (
	"context"
	"errors"
	"slices"
	"time"

	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/rows"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/text"
)

// storedUser is a user with what only this room may see.
type storedUser struct {
	User
	passwordHash      string
	totp, totpPending string // sealed
	totpLast          int64
	confirmedAt       int64 // the address, in microseconds; 0: never
}

// roleColumn is the role of a user u. An attendant is stored as staff with a
// mark, since SQLite cannot add a word to those that a column may have.
const roleColumn = `CASE WHEN u.attendant THEN 'attendant' ELSE u.role END`

// storedRole is how a role is stored, and whether with the mark.
func storedRole(role Role) (string, bool) {
	if role == RoleAttendant {
		return string(RoleStaff), true
	}
	return string(role), false
}

// storedOfUser are the columns of UserFields.
var storedOfUser = UserFields.Stored()

// userColumns are what scanUser reads of a user u.
var userColumns = `u.id, u.company_id, ` + roleColumn + `, u.created_at, ` + storedOfUser.Columns("u.", "")

// userPlaces are where userColumns go, and after them what the caller adds.
func userPlaces(user *User, more ...any) []any {
	own := []any{&user.ID, &user.CompanyID, (*string)(&user.Role), (*civil.Instant)(&user.CreatedAt)}
	return slices.Concat(own, storedOfUser.Places(user), more)
}

func scanUser(row sqldb.Row) (user User, err error) {
	err = row.Scan(userPlaces(&user)...)
	return user, err
}

var storedColumns = userColumns + `, u.password_hash, u.totp, u.totp_pending, u.totp_step, u.email_confirmed_at`

func scanStored(row sqldb.Row) (user storedUser, err error) {
	err = row.Scan(userPlaces(&user.User,
		&user.passwordHash, &user.totp, &user.totpPending, &user.totpLast, &user.confirmedAt)...)
	return user, err
}

// userByEmail finds the user who signs in; the address belongs to one user of all
// companies.
func userByEmail(ctx context.Context, querier sqldb.Querier, key string) (storedUser, error) {
	return sqldb.One(ctx, querier, scanStored,
		`SELECT `+storedColumns+` FROM users u WHERE u.email_key = ? /* every company_id */`, key)
}

func userByID(ctx context.Context, querier sqldb.Querier, companyID, id int64) (storedUser, error) {
	return sqldb.Find(ctx, querier, "user", scanStored,
		`SELECT `+storedColumns+` FROM users u WHERE u.company_id = ? AND u.id = ?`, companyID, id)
}

func lockUser(ctx context.Context, tx *sqldb.Tx, companyID, id int64) (storedUser, error) {
	return sqldb.Find(ctx, tx, "user", scanStored, `SELECT `+storedColumns+` FROM users u WHERE u.company_id = ?
		AND u.id = ? {for update}`, companyID, id)
}

// insertUser returns 0 when the address is taken.
func insertUser(ctx context.Context, tx *sqldb.Tx, user storedUser) (int64, error) {
	role, attendant := storedRole(user.Role)
	values := append([]any{
		user.CompanyID, text.Lower(user.Email), user.passwordHash, role, attendant, tx.Now().UnixMicro(), tx.Now().UnixMicro(),
	}, storedOfUser.Values(&user.User)...)
	id, err := sqldb.Value[int64](ctx, tx, `
		INSERT INTO users (company_id, email_key, password_hash, role, attendant, created_at, updated_at, `+storedOfUser.Columns("", "")+`)
		VALUES `+sqldb.Tuples(1, len(values))+` ON CONFLICT DO NOTHING RETURNING id`, values...)
	if errors.Is(err, sqldb.ErrNotFound) {
		return 0, nil
	}
	return id, err
}

// updateUser writes a user who was locked.
func updateUser(ctx context.Context, tx *sqldb.Tx, user storedUser) error {
	role, attendant := storedRole(user.Role)
	return tx.Do(ctx, `
		UPDATE users SET `+storedOfUser.Columns("", " = ?")+`, email_key = ?, role = ?, attendant = ?, password_hash = ?, totp = ?,
			totp_pending = ?, totp_step = ?, email_confirmed_at = ?, updated_at = ?
		WHERE company_id = ? AND id = ?`, append(storedOfUser.Values(&user.User),
		text.Lower(user.Email), role, attendant, user.passwordHash, user.totp, user.totpPending, user.totpLast,
		user.confirmedAt, tx.Now().UnixMicro(), user.CompanyID, user.ID)...)
}

func insertPasswordLink(ctx context.Context, tx *sqldb.Tx, user User, link newPasswordLink) error {
	return tx.Do(ctx,
		`INSERT INTO password_links (hash, company_id, user_id, expires_at, purpose, email) VALUES (?, ?, ?, ?, ?, ?)`,
		link.hash, user.CompanyID, user.ID, tx.Real().Add(link.life).UnixMicro(), string(link.purpose), link.email)
}

func purposeOfLink(ctx context.Context, querier sqldb.Querier, user User, hash []byte) (purpose, error) {
	text, err := sqldb.Value[string](ctx, querier, `
		SELECT purpose FROM password_links WHERE company_id = ? AND user_id = ? AND hash = ?`,
		user.CompanyID, user.ID, hash)
	return purpose(text), sqldb.Found(err, "link")
}

func deletePasswordLinks(ctx context.Context, tx *sqldb.Tx, user User) error {
	return tx.Do(ctx, `
		DELETE FROM password_links WHERE company_id = ? AND user_id = ? AND purpose IN ('password', 'invitation',
		'reset')`, user.CompanyID, user.ID)
}

// deleteEveryLink ends what was sent to any address of a user.
func deleteEveryLink(ctx context.Context, tx *sqldb.Tx, user User) error {
	return tx.Do(ctx, `DELETE FROM password_links WHERE company_id = ? AND user_id = ?`, user.CompanyID, user.ID)
}

func deleteLinks(ctx context.Context, tx *sqldb.Tx, user User, purpose purpose) error {
	return tx.Do(ctx, `DELETE FROM password_links WHERE company_id = ? AND user_id = ? AND purpose = ?`,
		user.CompanyID, user.ID, string(purpose))
}

// addressLink finds what a link of an e-mail about an address is for.
func addressLink(ctx context.Context, querier sqldb.Querier, hash []byte, now time.Time) (AddressLink, error) {
	return sqldb.Find(ctx, querier, "link", func(row sqldb.Row) (link AddressLink, err error) {
		var about purpose
		err = row.Scan(userPlaces(&link.User, (*string)(&about), &link.Restores)...)
		link.Release = about == forRelease
		return link, err
	}, `SELECT `+userColumns+`, l.purpose, l.email
		FROM password_links l JOIN users u ON u.company_id = l.company_id AND u.id = l.user_id
		WHERE l.hash = ? AND l.expires_at > ? AND l.purpose IN ('confirm', 'release', 'restore') /* every company_id */`,
		hash, now.UnixMicro())
}

// userByLink finds a user by what the link proves; the company follows from it.
func userByLink(ctx context.Context, querier sqldb.Querier, hash []byte, now time.Time) (storedUser, error) {
	return sqldb.Find(ctx, querier, "link", scanStored, `
		SELECT `+storedColumns+` FROM password_links l JOIN users u ON u.company_id = l.company_id AND u.id = l.user_id
		WHERE l.hash = ? AND l.expires_at > ? AND l.purpose IN ('password', 'invitation',
		'reset') /* every company_id */`, hash, now.UnixMicro())
}

func usePasswordLink(ctx context.Context, tx *sqldb.Tx, user User, hash []byte) (bool, error) {
	return rows.Changed(ctx, tx, `DELETE FROM password_links WHERE company_id = ? AND user_id = ? AND hash = ?`,
		user.CompanyID, user.ID, hash)
}

func replaceRecovery(ctx context.Context, tx *sqldb.Tx, user User, codes []string) error {
	_, err := tx.Exec(ctx, `DELETE FROM recovery_codes WHERE company_id = ? AND user_id = ?`, user.CompanyID, user.ID)
	if err != nil {
		return err
	}
	for _, code := range codes {
		_, err := tx.Exec(ctx, `INSERT INTO recovery_codes (company_id, user_id, hash) VALUES (?, ?,
			?)`, user.CompanyID, user.ID, recoveryHash(code))
		if err != nil {
			return err
		}
	}
	return nil
}

func countRecovery(ctx context.Context, querier sqldb.Querier, companyID, userID int64) (int, error) {
	return sqldb.Value[int](ctx, querier, `SELECT count(*) FROM recovery_codes WHERE company_id = ? AND user_id = ?`,
		companyID, userID)
}

// factorsSealedBefore finds what is not sealed with a key.
func factorsSealedBefore(ctx context.Context, querier sqldb.Querier, keyID string) ([]storedUser, error) {
	current := "v1." + keyID + ".%"
	return sqldb.All(ctx, querier, scanStored, `SELECT `+storedColumns+` FROM users u
		WHERE u.totp <> '' AND u.totp NOT LIKE ? OR u.totp_pending <> ''
		AND u.totp_pending NOT LIKE ? /* every company_id */`, current, current)
}

// useSetupLinks ends all set-up links. Of two that use one at once, the second
// waits for the first and finds none.
func useSetupLinks(ctx context.Context, tx *sqldb.Tx, hash []byte) error {
	n, err := tx.Exec(ctx, `DELETE FROM setup_links WHERE hash = ?`, hash)
	if err == nil && n == 0 {
		return fault.NotFound("link")
	}
	if err != nil {
		return err
	}
	return tx.Do(ctx, `DELETE FROM setup_links`)
}

func anyCompany(ctx context.Context, querier sqldb.Querier) (bool, error) {
	return rows.Some(ctx, querier, `SELECT count(*) FROM (SELECT id FROM companies LIMIT 1) AS one`)
}
