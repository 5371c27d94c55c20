package payment

import (
	"context"
	"encoding/json"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/sqldb"
)

// insertCallback reports whether the callback is new.
func insertCallback(ctx context.Context, tx *sqldb.Tx, genuine genuine) (fresh bool, err error) {
	body := genuine.body
	if body == nil {
		body = []byte{}
	}
	seen, err := sqldb.Value[int64](ctx, tx, `
		INSERT INTO gateway_callbacks (company_id, gateway_id, event_key, body, hints, seen, tries, created_at) VALUES (?, ?, ?, ?, '', 1, 0, ?)
		ON CONFLICT (company_id, gateway_id, event_key) DO UPDATE SET seen = gateway_callbacks.seen + 1 RETURNING seen`,
		genuine.setup.CompanyID, genuine.setup.ID, genuine.key, body, tx.Now().UnixMicro())
	return seen == 1, err
}

// setUnknown stores the references that no charge of ours has, and makes the
// callback due.
func setUnknown(ctx context.Context, tx *sqldb.Tx, genuine genuine, unknown []Ref) error {
	hints, err := json.Marshal(unknown)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `
		UPDATE gateway_callbacks SET hints = ?, next_try_at = ? WHERE company_id = ? AND gateway_id = ? AND event_key = ?`,
		string(hints), tx.Now().UnixMicro(), genuine.setup.CompanyID, genuine.setup.ID, genuine.key)
	return err
}

func anyCallbackDue(ctx context.Context, querier sqldb.Querier, now time.Time) (bool, error) {
	count, err := sqldb.Value[int64](ctx, querier, `
		SELECT COUNT(*) FROM (SELECT id FROM gateway_callbacks WHERE next_try_at <= ? LIMIT 1) AS due /* every company_id */`,
		now.UnixMicro())
	return count > 0, err
}

// dueLook finds any callback, authorisation or charge that is due, of whatever
// gateway.
func dueLook(db *sqldb.DB) sqldb.Look {
	return sqldb.DueLook(db, `SELECT next_try_at AS at FROM gateway_callbacks WHERE next_try_at IS NOT NULL /* every company_id */`,
		`SELECT next_check_at AS at FROM authorisations WHERE next_check_at IS NOT NULL /* every company_id */`,
		`SELECT next_check_at AS at FROM charges WHERE next_check_at IS NOT NULL /* every company_id */`)
}

func claimCallbacks(ctx context.Context, tx *sqldb.Tx, limit int, until time.Time) ([]storedCallback, error) {
	return sqldb.All(ctx, tx, func(row sqldb.Row) (callback storedCallback, err error) {
		var hints string
		err = row.Scan(&callback.id, &callback.companyID, &callback.gatewayID, &hints, &callback.tries)
		if err != nil {
			return callback, err
		}
		return callback, json.Unmarshal([]byte(hints), &callback.unknown)
	}, `UPDATE gateway_callbacks SET next_try_at = ?, tries = tries + 1 WHERE id IN (
			SELECT id FROM gateway_callbacks WHERE next_try_at <= ? ORDER BY next_try_at LIMIT ? {for update skip locked}
		) RETURNING id, company_id, gateway_id, hints, tries /* every company_id */`, until.UnixMicro(),
		tx.Now().UnixMicro(), limit)
}

// updateCallback stores what is left of a callback. With nothing left it is
// never due again.
func updateCallback(ctx context.Context, tx *sqldb.Tx, callback storedCallback, again time.Time) error {
	hints := ""
	if len(callback.unknown) > 0 {
		text, err := json.Marshal(callback.unknown)
		if err != nil {
			return err
		}
		hints = string(text)
	}
	_, err := tx.Exec(ctx,
		`UPDATE gateway_callbacks SET hints = ?, next_try_at = ? WHERE company_id = ? AND id = ?`,
		hints, orNull(again), callback.companyID, callback.id)
	return err
}

func pruneCallbacks(ctx context.Context, tx *sqldb.Tx, before time.Time) ([]account.PrunedRow, error) {
	return sqldb.All(ctx, tx, account.ScanPruned, `
		DELETE FROM gateway_callbacks WHERE created_at < ? AND next_try_at IS NULL
		RETURNING company_id, id /* every company_id */`, before.UnixMicro())
}
