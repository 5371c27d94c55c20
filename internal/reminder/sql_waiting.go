package reminder

import (
	"context"
	"time"

	"carteira/internal/platform/civil"
	"carteira/internal/platform/sqldb"
)

// waiting are the messages of a rule whose hour has not come and that no
// process has claimed. One that a person asked for minds no hour.
const waiting = `company_id = ? AND rule_id = ? AND status = 'scheduled' AND run_at > ? AND claim = '' AND NOT manual`

// waitingDates are the due dates of messages that were not tried.
func waitingDates(ctx context.Context, tx *sqldb.Tx, companyID, ruleID int64) ([]civil.Date, error) {
	return sqldb.All(ctx, tx, func(row sqldb.Row) (dueOn civil.Date, err error) {
		err = row.Scan(&dueOn)
		return dueOn, err
	}, `SELECT DISTINCT due_on FROM reminder_messages WHERE `+waiting+` AND attempts = 0 ORDER BY due_on`,
		companyID, ruleID, tx.Now().UnixMicro())
}

// moveDate moves the messages of a due date that were not tried.
func moveDate(ctx context.Context, tx *sqldb.Tx, companyID, ruleID int64, to moved) error {
	_, err := tx.Exec(ctx,
		`UPDATE reminder_messages SET run_at = ?, late_at = ? WHERE `+waiting+` AND attempts = 0 AND due_on = ?`,
		to.at.UnixMicro(), to.late.UnixMicro(), companyID, ruleID, tx.Now().UnixMicro(), to.dueOn)
	return err
}

// waitingTries are the messages that wait for another try, and receipts, tried or
// not.
func waitingTries(ctx context.Context, tx *sqldb.Tx, companyID, ruleID int64) ([]moved, error) {
	return sqldb.All(ctx, tx, func(row sqldb.Row) (moved moved, err error) {
		var runAt int64
		err = row.Scan(&moved.id, &runAt)
		moved.at = time.UnixMicro(runAt)
		return moved, err
	}, `SELECT id, run_at FROM reminder_messages WHERE `+waiting+` AND (attempts > 0 OR invoice_id <> 0) ORDER BY id {for update}`,
		companyID, ruleID, tx.Now().UnixMicro())
}

func moveTry(ctx context.Context, tx *sqldb.Tx, companyID int64, to moved) error {
	_, err := tx.Exec(ctx,
		`UPDATE reminder_messages SET run_at = ?, late_at = ? WHERE company_id = ? AND id = ?`,
		to.at.UnixMicro(), to.late.UnixMicro(), companyID, to.id)
	return err
}
