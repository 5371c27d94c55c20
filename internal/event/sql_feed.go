package event

import (
	"context"
	"errors"

	"carteira/internal/platform/rows"
	"carteira/internal/platform/sqldb"
)

// cursor is where a reader is in the feed of a company.
type cursor struct {
	after    int64 // position of the event it continues from; -1: there is none
	last     int64
	floor    int64
	unplaced bool // events wait for their positions
}

// readCursor is the one statement that a reader costs when nothing is new.
func readCursor(ctx context.Context, querier sqldb.Querier, companyID int64, after string) (cursor, error) {
	return sqldb.One(ctx, querier, rows.Into(func(found *cursor) []any {
		return []any{&found.after, &found.last, &found.floor, &found.unplaced}
	}), `
		SELECT COALESCE(
				(SELECT position FROM events WHERE company_id = ? AND event_id = ?),
				(SELECT position FROM event_marks WHERE company_id = ? AND event_id = ?), -1),
			COALESCE((SELECT last_position FROM event_feeds WHERE company_id = ?), 0),
			COALESCE((SELECT floor_position FROM event_feeds WHERE company_id = ?), 0),
			EXISTS (SELECT 1 FROM events WHERE company_id = ? AND position IS NULL)`,
		companyID, after, companyID, after, companyID, companyID, companyID)
}

// feed is a row of event_feeds.
type feed struct{ last, floor int64 }

func lockFeed(ctx context.Context, tx *sqldb.Tx, companyID int64) (feed, error) {
	return sqldb.One(ctx, tx, rows.Into(func(found *feed) []any {
		return []any{&found.last, &found.floor}
	}), `SELECT last_position, floor_position FROM event_feeds WHERE company_id = ? {for update}`, companyID)
}

func insertFeed(ctx context.Context, tx *sqldb.Tx, companyID int64) error {
	return tx.Do(ctx, `
		INSERT INTO event_feeds (company_id, last_position, floor_position) VALUES (?, 0, 0)
		ON CONFLICT (company_id) DO NOTHING`, companyID)
}

func updateFeed(ctx context.Context, tx *sqldb.Tx, companyID int64, feed feed) error {
	return tx.Do(ctx, `UPDATE event_feeds SET last_position = ?, floor_position = ? WHERE company_id = ?`,
		feed.last, feed.floor, companyID)
}

// setPositions numbers events from after on, in the order of their ids.
func setPositions(ctx context.Context, tx *sqldb.Tx, companyID, after int64, ids []int64) error {
	return tx.Do(ctx, `
		UPDATE events SET position = CAST(? AS BIGINT) + next.rank FROM (
			SELECT id, ROW_NUMBER() OVER (ORDER BY id) AS rank FROM events WHERE company_id = ? AND id {in ?}) AS next
		WHERE events.company_id = ? AND events.id = next.id`, after, companyID, ids, companyID)
}

func insertMark(ctx context.Context, tx *sqldb.Tx, companyID int64, removed Removed) error {
	return tx.Do(ctx, `
		INSERT INTO event_marks (company_id, event_id, position) VALUES (?, ?, ?)
		ON CONFLICT (company_id, event_id) DO NOTHING`, companyID, removed.ID, removed.Position)
}

// span is the positions after from, up to until.
type span struct {
	query       Query
	from, until int64
}

// placed is an event with its position.
type placed struct {
	position int64
	eventID  string
	body     []byte
}

// readSpan returns the wanted events of a span, one more than the limit when
// there are more.
func readSpan(ctx context.Context, querier sqldb.Querier, companyID int64, span span) ([]placed, error) {
	var where sqldb.Where
	where.And("company_id = ? AND position > ? AND position <= ?", companyID, span.from, span.until)
	where.If(len(span.query.Names) > 0, "name {in ?}", wordsOf(span.query.Names))
	if !span.query.Since.IsZero() {
		where.And("occurred_at + 0 >= ?", span.query.Since.UnixMicro()) // the order of positions is the one to walk
	}
	return sqldb.All(ctx, querier, rows.Into(func(found *placed) []any {
		return []any{&found.position, &found.eventID, &found.body}
	}), `SELECT position, event_id, body FROM events`+where.String()+` ORDER BY position LIMIT ?`,
		append(where.Args, span.query.Limit+1)...)
}

func wordsOf(names []Name) []string {
	words := make([]string, len(names))
	for i, name := range names {
		words[i] = string(name)
	}
	return words
}

// lastIDOf is the id of the last event of a span; "" when there is none.
func lastIDOf(ctx context.Context, querier sqldb.Querier, companyID int64, span span) (string, error) {
	eventID, err := sqldb.Value[string](ctx, querier, `
		SELECT event_id FROM events WHERE company_id = ? AND position > ? AND position <= ?
		ORDER BY position DESC LIMIT 1`, companyID, span.from, span.until)
	if errors.Is(err, sqldb.ErrNotFound) {
		return "", nil
	}
	return eventID, err
}

// news is what there is for the readers of a company.
type news struct {
	companyID int64
	last      int64
	unplaced  bool
}
