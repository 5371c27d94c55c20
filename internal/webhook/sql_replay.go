package webhook

import (
	"context"
	"time"

	"carteira/internal/event"
	"carteira/internal/platform/sqldb"
	"carteira/internal/webhook/sender"
)

// eventSpan is from where to where the events since a time stand. Between them
// may be earlier ones: what begins first is not always numbered first.
func eventSpan(
	ctx context.Context,
	querier sqldb.Querier,
	companyID int64,
	since time.Time,
) (before, last int64, err error) {
	last, err = sqldb.Value[int64](
		ctx,
		querier,
		`SELECT COALESCE(MAX(id), 0) FROM events WHERE company_id = ?`,
		companyID,
	)
	if err != nil {
		return 0, 0, err
	}
	before, err = sqldb.Value[int64](ctx, querier, `
		SELECT COALESCE(MIN(id) - 1, CAST(? AS BIGINT)) FROM events WHERE company_id = ? AND occurred_at >= ?`,
		last, companyID, since.UnixMicro())
	return before, last, err
}

const replayColumns = `id, company_id, webhook_id, since, cursor, until, queued, COALESCE(finished_at, 0)`

func scanReplay(row sqldb.Row) (replay Replay, err error) {
	var since, finished int64
	err = row.Scan(
		&replay.ID,
		&replay.companyID,
		&replay.WebhookID,
		&since,
		&replay.cursor,
		&replay.until,
		&replay.Queued,
		&finished,
	)
	replay.Since, replay.Finished = time.UnixMicro(since), finished != 0
	return replay, err
}

func insertReplay(ctx context.Context, tx *sqldb.Tx, replay Replay) (int64, error) {
	return sqldb.Value[int64](ctx, tx, `
		INSERT INTO replays (company_id, webhook_id, since, cursor, until, queued, created_at) VALUES (?, ?, ?, ?, ?, 0, ?) RETURNING id`,
		replay.companyID, replay.WebhookID, replay.Since.UnixMicro(), replay.cursor, replay.until,
		tx.Now().UnixMicro())
}

func unfinishedReplays(ctx context.Context, querier sqldb.Querier) ([]Replay, error) {
	return sqldb.All(
		ctx,
		querier,
		scanReplay,
		`SELECT `+replayColumns+` FROM replays WHERE finished_at IS NULL ORDER BY company_id, id /* every company_id */`,
	)
}

const anyReplay = `SELECT 1 FROM replays WHERE finished_at IS NULL /* every company_id */`

func lockReplay(ctx context.Context, tx *sqldb.Tx, replay Replay) (Replay, error) {
	return sqldb.One(
		ctx,
		tx,
		scanReplay,
		`SELECT `+replayColumns+` FROM replays WHERE company_id = ? AND id = ? {for update}`,
		replay.companyID,
		replay.ID,
	)
}

// lastOfBatch is the last of the next events of a replay, 0 when there is none.
func lastOfBatch(ctx context.Context, querier sqldb.Querier, replay Replay, size int) (int64, error) {
	return sqldb.Value[int64](ctx, querier, `SELECT COALESCE(MAX(id), 0) FROM (
		SELECT id FROM events WHERE company_id = ? AND id > ? AND id <= ? ORDER BY id LIMIT ?) AS batch`,
		replay.companyID, replay.cursor, replay.until, size)
}

// requeue writes a delivery for each wanted event of a batch that has none, and
// takes up again those that were given up.
func requeue(ctx context.Context, tx *sqldb.Tx, replay Replay, last int64, wanted []event.Name) (int, error) {
	names := make([]string, len(wanted))
	for i, name := range wanted {
		names[i] = string(name)
	}
	ids, err := sqldb.Values[int64](ctx, tx, `
		INSERT INTO deliveries (company_id, webhook_id, event_id, event, url, lane, status, test, attempts, created_at)
		SELECT company_id, CAST(? AS BIGINT), id, name, '', CAST(? AS BIGINT), 'pending', ?, 0, CAST(? AS BIGINT)
		FROM events WHERE company_id = ? AND id > ? AND id <= ? AND occurred_at >= ? AND name {in ?}
		ON CONFLICT (company_id, event_id, lane, url) DO UPDATE SET status = 'pending'
		WHERE deliveries.status IN ('failed', 'refused') RETURNING id`,
		replay.WebhookID, replay.WebhookID, false, tx.Now().UnixMicro(), replay.companyID,
		replay.cursor, last, replay.Since.UnixMicro(), names)
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	return len(ids), sender.EnqueueAll(ctx, tx, replay.companyID, ids)
}

func advanceReplay(ctx context.Context, tx *sqldb.Tx, replay Replay, last int64, queued int) error {
	_, err := tx.Exec(
		ctx,
		`UPDATE replays SET cursor = ?, queued = queued + ? WHERE company_id = ? AND id = ?`,
		last,
		queued,
		replay.companyID,
		replay.ID,
	)
	return err
}

func finishReplay(ctx context.Context, tx *sqldb.Tx, replay Replay) error {
	_, err := tx.Exec(
		ctx,
		`UPDATE replays SET finished_at = ? WHERE company_id = ? AND id = ?`,
		tx.Now().UnixMicro(),
		replay.companyID,
		replay.ID,
	)
	return err
}
