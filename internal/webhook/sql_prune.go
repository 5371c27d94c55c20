package webhook

import (
	"context"
	"strconv"
	"time"

	"carteira/internal/event"
	"carteira/internal/platform/sqldb"
)

// oldRow is a row that may be old enough to go.
type oldRow struct {
	id        int64
	companyID int64
	at        time.Time
	needed    bool
}

func scanOldRow(row sqldb.Row) (oldRow oldRow, err error) {
	var at int64
	err = row.Scan(&oldRow.id, &oldRow.companyID, &at, &oldRow.needed)
	oldRow.at = time.UnixMicro(at)
	return oldRow, err
}

// oldDeliveries reads deliveries in the order in which they were written. What
// is still to be sent is needed; what is parked goes with its webhook and not
// before.
func oldDeliveries(ctx context.Context, querier sqldb.Querier, after int64, limit int) ([]oldRow, error) {
	return sqldb.All(ctx, querier, scanOldRow, `
		SELECT id, company_id, created_at, status = 'pending' FROM deliveries
		WHERE id > ? ORDER BY id LIMIT ? /* every company_id */`, after, limit)
}

// oldEvents does so for events, which are needed as long as their deliveries.
func oldEvents(ctx context.Context, querier sqldb.Querier, after int64, limit int) ([]oldRow, error) {
	return sqldb.All(ctx, querier, scanOldRow, `
		SELECT e.id, e.company_id, e.occurred_at, EXISTS (
			SELECT 1 FROM deliveries d WHERE d.company_id = e.company_id AND d.event_id = e.id) FROM events e
		WHERE e.id > ? ORDER BY e.id LIMIT ? /* every company_id */`, after, limit)
}

// newestEvent is the number of the newest event of all companies.
func newestEvent(ctx context.Context, querier sqldb.Querier) (int64, error) {
	return sqldb.Value[int64](ctx, querier, `SELECT COALESCE(MAX(id), 0) FROM events /* every company_id */`)
}

// removeDeliveries looks at the status again, because somebody may have asked
// for one to be sent again meanwhile.
func removeDeliveries(ctx context.Context, tx *sqldb.Tx, companyID int64, ids []int64) (names []string, err error) {
	gone, err := sqldb.Values[int64](ctx, tx, `
		DELETE FROM deliveries WHERE company_id = ? AND status <> 'pending' AND id {in ?} RETURNING id`, companyID,
		ids)
	if err != nil {
		return nil, err
	}
	for _, id := range gone {
		names = append(names, strconv.FormatInt(id, 10))
	}
	return names, removeAttempts(ctx, tx, companyID, gone)
}

func removeAttempts(ctx context.Context, tx *sqldb.Tx, companyID int64, deliveryIDs []int64) error {
	_, err := tx.Exec(
		ctx,
		`DELETE FROM delivery_attempts WHERE company_id = ? AND delivery_id {in ?}`,
		companyID,
		deliveryIDs,
	)
	return err
}

// removeEvents leaves one that has got a delivery meanwhile.
func removeEvents(ctx context.Context, tx *sqldb.Tx, companyID int64, ids []int64) (names []string, err error) {
	if err := event.LockFeedTx(ctx, tx, companyID); err != nil {
		return nil, err
	}
	removed, err := sqldb.All(ctx, tx, event.ScanRemoved, `
		DELETE FROM events WHERE company_id = ? AND id {in ?}
			AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.company_id = events.company_id AND d.event_id = events.id)
		RETURNING event_id, position`, companyID, ids)
	if err != nil {
		return nil, err
	}
	for _, one := range removed {
		names = append(names, one.ID)
	}
	return names, event.PrunedTx(ctx, tx, companyID, removed)
}

func pruneReplays(ctx context.Context, tx *sqldb.Tx, before time.Time) error {
	_, err := tx.Exec(
		ctx,
		`DELETE FROM replays WHERE finished_at < ? /* every company_id */`,
		before.UnixMicro(),
	)
	return err
}
