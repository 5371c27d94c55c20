package account

import (
	"context"
	"errors"
	"time"

	"carteira/internal/platform/civil"
	"carteira/internal/platform/rows"
	"carteira/internal/platform/sqldb"
)

func visitByHash(ctx context.Context, querier sqldb.Querier, hash []byte) (Visit, error) {
	visit, err := sqldb.One(ctx, querier, func(row sqldb.Row) (visit Visit, err error) {
		session := &visit.Session
		err = ScanCompany(row, &visit.Actor.Company, userPlaces(&visit.User, &session.ID, &session.pending, &session.Address,
			&session.Agent, (*civil.Instant)(&session.CreatedAt), (*civil.Instant)(&session.SeenAt),
			(*civil.Instant)(&session.ExpiresAt), (*civil.Instant)(&session.ProvedAt))...)
		session.UserID = visit.User.ID
		visit.Actor.UserID, visit.Actor.Role, visit.Actor.Name = visit.User.ID, visit.User.Role, visit.User.Name
		return visit, err
	}, `SELECT `+CompanyColumns+`, `+userColumns+`,
			s.id, s.pending, s.address, s.agent, s.created_at, s.seen_at, s.expires_at, s.proved_at
		FROM sessions s JOIN users u ON u.id = s.user_id AND u.company_id = s.company_id JOIN companies c ON c.id = s.company_id
		WHERE s.hash = ?`, hash)
	if errors.Is(err, sqldb.ErrNotFound) {
		err = signedOut()
	}
	return visit, err
}

func insertSession(ctx context.Context, tx *sqldb.Tx, companyID int64, hash []byte, session Session) error {
	return tx.Do(ctx, `
		INSERT INTO sessions (company_id, user_id, hash, pending, address, agent, created_at, seen_at, expires_at, proved_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		companyID, session.UserID, hash, session.pending, session.Address, session.Agent,
		session.CreatedAt.UnixMicro(), session.SeenAt.UnixMicro(), session.ExpiresAt.UnixMicro(),
		session.ProvedAt.UnixMicro())
}

func endSession(ctx context.Context, tx *sqldb.Tx, companyID, userID, id int64) (int64, error) {
	return tx.Exec(ctx, `DELETE FROM sessions WHERE company_id = ? AND user_id = ? AND id = ?`, companyID, userID, id)
}

// endSessions ends all sessions of a user but one; 0 spares none.
func endSessions(ctx context.Context, tx *sqldb.Tx, companyID, userID, except int64) error {
	return tx.Do(ctx, `DELETE FROM sessions WHERE company_id = ? AND user_id = ? AND id <> ?`, companyID, userID,
		except)
}

// addAttempt counts an attempt and returns how many there have been in the
// window, this one included. The row lock of the upsert makes those that come
// at once wait for each other.
func addAttempt(ctx context.Context, tx *sqldb.Tx, quota quota) (int, error) {
	since := tx.Real().Add(-quota.window).UnixMicro()
	return sqldb.Value[int](ctx, tx, `
		INSERT INTO signin_attempts AS k (key, began_at, n) VALUES (?, ?, 1)
		ON CONFLICT (key) DO UPDATE SET
			n = CASE WHEN k.began_at <= ? THEN 1 ELSE k.n + 1 END,
			began_at = CASE WHEN k.began_at <= ? THEN excluded.began_at ELSE k.began_at END
		RETURNING n`, quota.key, tx.Real().UnixMicro(), since, since)
}

// touchAttempt writes a row that stays as it is.
func touchAttempt(ctx context.Context, tx *sqldb.Tx, key string) error {
	return tx.Queue(ctx, `UPDATE signin_attempts SET n = n WHERE key = ?`, key)
}

func touchDevice(ctx context.Context, tx *sqldb.Tx, user User, hash []byte) (bool, error) {
	return rows.Changed(ctx, tx,
		`UPDATE known_devices SET seen_at = ? WHERE company_id = ? AND user_id = ? AND hash = ?`,
		tx.Real().UnixMicro(), user.CompanyID, user.ID, hash)
}

func insertDevice(ctx context.Context, tx *sqldb.Tx, user User, hash []byte) error {
	return tx.Do(ctx, `INSERT INTO known_devices (company_id, user_id, hash, seen_at) VALUES (?, ?, ?, ?)`,
		user.CompanyID, user.ID, hash, tx.Real().UnixMicro())
}

// dropOldDevices keeps the devices of a user that were used last.
func dropOldDevices(ctx context.Context, tx *sqldb.Tx, user User, keep int) error {
	return tx.Do(ctx, `DELETE FROM known_devices WHERE company_id = ? AND user_id = ? AND hash NOT IN (
		SELECT hash FROM known_devices WHERE company_id = ? AND user_id = ? ORDER BY seen_at DESC, hash LIMIT CAST(? AS BIGINT))`,
		user.CompanyID, user.ID, user.CompanyID, user.ID, keep)
}

func pruneSessions(ctx context.Context, tx *sqldb.Tx) error {
	now := tx.Real()
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

// urgentLead is by how much an urgent mail is due before others: a crowd of
// confirmations must not keep a new password waiting.
const urgentLead = 24 * time.Hour

func insertMail(ctx context.Context, tx *sqldb.Tx, companyID int64, mail queuedMail) error {
	due := tx.Real()
	if mail.urgent {
		due = due.Add(-urgentLead)
	}
	return tx.Do(ctx, `
		INSERT INTO user_mails (company_id, address, content, attempts, run_at, created_at) VALUES (?, ?, ?, 0, ?, ?)`,
		companyID, mail.to, mail.content, due.UnixMicro(), tx.Real().UnixMicro())
}
