package account

import (
	"context"
	"time"

	"carteira/internal/platform/sqldb"
)

// urgentLead is by how much an urgent mail is due before others: a crowd of
// confirmations must not keep a new password waiting.
const urgentLead = 24 * time.Hour

func insertMail(ctx context.Context, tx *sqldb.Tx, companyID int64, mail queuedMail) error {
	due := tx.Real()
	if mail.urgent {
		due = due.Add(-urgentLead)
	}
	_, err := tx.Exec(ctx, `
		INSERT INTO user_mails (company_id, address, content, attempts, run_at, created_at) VALUES (?, ?, ?, 0, ?, ?)`,
		companyID, mail.to, mail.content, due.UnixMicro(), tx.Real().UnixMicro())
	return err
}

// dueMails finds mails of all companies whose time has come, the oldest first.
func dueMails(ctx context.Context, querier sqldb.Querier, now time.Time, limit int) ([]queuedMail, error) {
	return sqldb.All(ctx, querier, func(row sqldb.Row) (mail queuedMail, err error) {
		var runAt int64
		err = row.Scan(&mail.id, &mail.companyID, &mail.to, &mail.content, &mail.attempts, &runAt)
		mail.runAt = time.UnixMicro(runAt)
		return mail, err
	}, `SELECT id, company_id, address, content, attempts, run_at FROM user_mails WHERE run_at <= ?
		ORDER BY run_at, id LIMIT CAST(? AS BIGINT) /* every company_id */`, now.UnixMicro(), limit)
}

// claimMail reports whether nobody else has taken the mail since it was read.
func claimMail(ctx context.Context, tx *sqldb.Tx, mail queuedMail, until time.Time) (bool, error) {
	changed, err := tx.Exec(ctx,
		`UPDATE user_mails SET run_at = ?, attempts = attempts + 1 WHERE company_id = ? AND id = ? AND run_at = ?`,
		until.UnixMicro(), mail.companyID, mail.id, mail.runAt.UnixMicro())
	return changed == 1, err
}

func postponeMail(ctx context.Context, tx *sqldb.Tx, mail queuedMail, until time.Time) error {
	_, err := tx.Exec(
		ctx,
		`UPDATE user_mails SET run_at = ? WHERE company_id = ? AND id = ?`,
		until.UnixMicro(),
		mail.companyID,
		mail.id,
	)
	return err
}

func deleteMail(ctx context.Context, tx *sqldb.Tx, mail queuedMail) error {
	_, err := tx.Exec(
		ctx,
		`DELETE FROM user_mails WHERE company_id = ? AND id = ?`,
		mail.companyID,
		mail.id,
	)
	return err
}

func ownersOf(ctx context.Context, querier sqldb.Querier, companyID int64) ([]User, error) {
	return sqldb.All(ctx, querier, scanUser, `
		SELECT id, company_id, name, email, role, created_at FROM users WHERE company_id = ? AND role = 'owner' ORDER BY id`, companyID)
}
