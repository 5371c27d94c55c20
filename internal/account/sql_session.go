package account

import (
	"context"
	"errors"
	"time"

	"carteira/internal/platform/sqldb"
)

func visitByHash(ctx context.Context, q sqldb.Querier, hash []byte) (Visit, error) {
	v, err := sqldb.One(ctx, q, func(r sqldb.Row) (v Visit, err error) {
		var userCreated, created, seen, expires, proved int64
		err = companyScan(r, &v.Actor.Company, &v.User.ID, &v.User.Name, &v.User.Email, (*string)(&v.User.Role), &userCreated,
			&v.Session.ID, &v.Session.pending, &v.Session.Address, &v.Session.Agent, &created, &seen, &expires, &proved)
		v.User.CompanyID, v.User.CreatedAt = v.Actor.Company.ID, time.UnixMicro(userCreated)
		v.Session.UserID = v.User.ID
		v.Session.CreatedAt, v.Session.SeenAt, v.Session.ExpiresAt = time.UnixMicro(created), time.UnixMicro(seen), time.UnixMicro(expires)
		v.Session.ProvedAt = time.UnixMicro(proved)
		v.Actor.UserID, v.Actor.Role, v.Actor.Name = v.User.ID, v.User.Role, v.User.Name
		return v, err
	}, `SELECT `+companyColumns+`, u.id, u.name, u.email, u.role, u.created_at,
			s.id, s.pending, s.address, s.agent, s.created_at, s.seen_at, s.expires_at, s.proved_at
		FROM sessions s JOIN users u ON u.id = s.user_id AND u.company_id = s.company_id JOIN companies c ON c.id = s.company_id
		WHERE s.hash = ?`, hash)
	if errors.Is(err, sqldb.ErrNotFound) {
		err = signedOut()
	}
	return v, err
}

func insertSession(ctx context.Context, tx *sqldb.Tx, companyID int64, hash []byte, s Session) error {
	_, err := tx.Exec(ctx, `
		INSERT INTO sessions (company_id, user_id, hash, pending, address, agent, created_at, seen_at, expires_at, proved_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		companyID, s.UserID, hash, s.pending, s.Address, s.Agent, s.CreatedAt.UnixMicro(), s.SeenAt.UnixMicro(), s.ExpiresAt.UnixMicro(),
		s.ProvedAt.UnixMicro())
	return err
}

func proveSession(ctx context.Context, tx *sqldb.Tx, s Session, companyID int64) error {
	_, err := tx.Exec(ctx, `UPDATE sessions SET proved_at = ? WHERE company_id = ? AND id = ?`, tx.Now().UnixMicro(), companyID, s.ID)
	return err
}

func touchSession(ctx context.Context, tx *sqldb.Tx, s Session, companyID int64, address string) error {
	_, err := tx.Exec(ctx, `UPDATE sessions SET seen_at = ?, address = ? WHERE company_id = ? AND id = ?`,
		tx.Now().UnixMicro(), address, companyID, s.ID)
	return err
}

func endSession(ctx context.Context, tx *sqldb.Tx, companyID, userID, id int64) (int64, error) {
	return tx.Exec(ctx, `DELETE FROM sessions WHERE company_id = ? AND user_id = ? AND id = ?`, companyID, userID, id)
}

// endSessions ends all sessions of a user but one; 0 spares none.
func endSessions(ctx context.Context, tx *sqldb.Tx, companyID, userID, except int64) error {
	_, err := tx.Exec(ctx, `DELETE FROM sessions WHERE company_id = ? AND user_id = ? AND id <> ?`, companyID, userID, except)
	return err
}

func sessionsOf(ctx context.Context, q sqldb.Querier, companyID, userID int64, now time.Time) ([]Session, error) {
	return sqldb.All(ctx, q, func(r sqldb.Row) (s Session, err error) {
		var created, seen, expires int64
		err = r.Scan(&s.ID, &s.UserID, &s.Address, &s.Agent, &created, &seen, &expires)
		s.CreatedAt, s.SeenAt, s.ExpiresAt = time.UnixMicro(created), time.UnixMicro(seen), time.UnixMicro(expires)
		return s, err
	}, `SELECT id, user_id, address, agent, created_at, seen_at, expires_at FROM sessions
		WHERE company_id = ? AND user_id = ? AND pending = ? AND expires_at > ? AND seen_at > ? ORDER BY seen_at DESC, id DESC`,
		companyID, userID, false, now.UnixMicro(), now.Add(-SessionIdle).UnixMicro())
}

// addAttempt counts an attempt and returns how many there have been in the
// window, this one included. The row lock of the upsert makes those that come
// at once wait for each other.
func addAttempt(ctx context.Context, tx *sqldb.Tx, q quota) (int, error) {
	since := tx.Now().Add(-q.window).UnixMicro()
	return sqldb.Value[int](ctx, tx, `
		INSERT INTO signin_attempts AS k (key, began_at, n) VALUES (?, ?, 1)
		ON CONFLICT (key) DO UPDATE SET
			n = CASE WHEN k.began_at <= ? THEN 1 ELSE k.n + 1 END,
			began_at = CASE WHEN k.began_at <= ? THEN excluded.began_at ELSE k.began_at END
		RETURNING n`, q.key, tx.Now().UnixMicro(), since, since)
}

// attemptsUnder is how many attempts there have been under a key since an
// instant.
func attemptsUnder(ctx context.Context, q sqldb.Querier, key string, since time.Time) (int, error) {
	return sqldb.Value[int](ctx, q, `
		SELECT COALESCE((SELECT n FROM signin_attempts WHERE key = ? AND began_at > ?), 0)`, key, since.UnixMicro())
}

// undoAttempt uncounts one attempt under a key.
func undoAttempt(ctx context.Context, tx *sqldb.Tx, key string) error {
	_, err := tx.Exec(ctx, `UPDATE signin_attempts SET n = n - 1 WHERE key = ? AND n > 0`, key)
	return err
}

// deleteAttempts uncounts all attempts under a key.
func deleteAttempts(ctx context.Context, tx *sqldb.Tx, key string) error {
	_, err := tx.Exec(ctx, `DELETE FROM signin_attempts WHERE key = ?`, key)
	return err
}

func deviceKnown(ctx context.Context, q sqldb.Querier, u User, hash []byte) (bool, error) {
	n, err := sqldb.Value[int64](ctx, q, `
		SELECT count(*) FROM known_devices WHERE company_id = ? AND user_id = ? AND hash = ?`, u.CompanyID, u.ID, hash)
	return n > 0, err
}

func touchDevice(ctx context.Context, tx *sqldb.Tx, u User, hash []byte) (bool, error) {
	n, err := tx.Exec(ctx, `UPDATE known_devices SET seen_at = ? WHERE company_id = ? AND user_id = ? AND hash = ?`,
		tx.Now().UnixMicro(), u.CompanyID, u.ID, hash)
	return n == 1, err
}

func insertDevice(ctx context.Context, tx *sqldb.Tx, u User, hash []byte) error {
	_, err := tx.Exec(ctx, `INSERT INTO known_devices (company_id, user_id, hash, seen_at) VALUES (?, ?, ?, ?)`,
		u.CompanyID, u.ID, hash, tx.Now().UnixMicro())
	return err
}

// dropOldDevices keeps the devices of a user that were used last.
func dropOldDevices(ctx context.Context, tx *sqldb.Tx, u User, keep int) error {
	_, err := tx.Exec(ctx, `DELETE FROM known_devices WHERE company_id = ? AND user_id = ? AND hash NOT IN (
		SELECT hash FROM known_devices WHERE company_id = ? AND user_id = ? ORDER BY seen_at DESC, hash LIMIT CAST(? AS BIGINT))`,
		u.CompanyID, u.ID, u.CompanyID, u.ID, keep)
	return err
}

func pruneSessions(ctx context.Context, tx *sqldb.Tx) error {
	now := tx.Now()
	for _, step := range []struct {
		text string
		at   time.Time
	}{
		{`DELETE FROM sessions WHERE expires_at <= ? /* every company_id */`, now},
		{`DELETE FROM sessions WHERE seen_at <= ? /* every company_id */`, now.Add(-SessionIdle)},
		{`DELETE FROM password_links WHERE expires_at <= ? /* every company_id */`, now},
		{`DELETE FROM setup_links WHERE expires_at <= ?`, now},
		{`DELETE FROM signin_attempts WHERE began_at <= ?`, now.Add(-dayWindow)},
		{`DELETE FROM known_devices WHERE seen_at <= ? /* every company_id */`, now.Add(-DeviceLife)},
	} {
		if _, err := tx.Exec(ctx, step.text, step.at.UnixMicro()); err != nil {
			return err
		}
	}
	return nil
}
