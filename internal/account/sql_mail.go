package account

import (
	"context"
	"time"

	"carteira/internal/platform/sqldb"
)

func insertMail(ctx context.Context, tx *sqldb.Tx, companyID int64, m queuedMail) error {
	_, err := tx.Exec(ctx, `
		INSERT INTO user_mails (company_id, address, content, attempts, run_at, created_at) VALUES (?, ?, ?, 0, ?, ?)`,
		companyID, m.to, m.content, tx.Now().UnixMicro(), tx.Now().UnixMicro())
	return err
}

// dueMails finds mails of all companies whose time has come, the oldest first.
func dueMails(ctx context.Context, q sqldb.Querier, now time.Time, limit int) ([]queuedMail, error) {
	return sqldb.All(ctx, q, func(r sqldb.Row) (m queuedMail, err error) {
		var runAt int64
		err = r.Scan(&m.id, &m.companyID, &m.to, &m.content, &m.attempts, &runAt)
		m.runAt = time.UnixMicro(runAt)
		return m, err
	}, `SELECT id, company_id, address, content, attempts, run_at FROM user_mails WHERE run_at <= ?
		ORDER BY run_at, id LIMIT CAST(? AS BIGINT) /* every company_id */`, now.UnixMicro(), limit)
}

// claimMail reports whether nobody else has taken the mail since it was read.
func claimMail(ctx context.Context, tx *sqldb.Tx, m queuedMail, until time.Time) (bool, error) {
	n, err := tx.Exec(ctx, `UPDATE user_mails SET run_at = ?, attempts = attempts + 1 WHERE company_id = ? AND id = ? AND run_at = ?`,
		until.UnixMicro(), m.companyID, m.id, m.runAt.UnixMicro())
	return n == 1, err
}

func postponeMail(ctx context.Context, tx *sqldb.Tx, m queuedMail, until time.Time) error {
	_, err := tx.Exec(ctx, `UPDATE user_mails SET run_at = ? WHERE company_id = ? AND id = ?`, until.UnixMicro(), m.companyID, m.id)
	return err
}

func deleteMail(ctx context.Context, tx *sqldb.Tx, m queuedMail) error {
	_, err := tx.Exec(ctx, `DELETE FROM user_mails WHERE company_id = ? AND id = ?`, m.companyID, m.id)
	return err
}

func ownersOf(ctx context.Context, q sqldb.Querier, companyID int64) ([]User, error) {
	return sqldb.All(ctx, q, scanUser, `
		SELECT id, company_id, name, email, role, created_at FROM users WHERE company_id = ? AND role = 'owner' ORDER BY id`, companyID)
}
