package webhook

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"carteira/internal/platform/event"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
)

const webhookColumns = `id, url, description, events, active, secret, failures, COALESCE(disabled_at, 0), notice, created_at`

func scanWebhook(r sqldb.Row) (w Webhook, err error) {
	var events string
	var disabled, created int64
	err = r.Scan(&w.ID, &w.URL, &w.Description, &events, &w.Active, &w.sealed, &w.Failures, &disabled, &w.Notice, &created)
	w.Events, w.CreatedAt = splitEvents(events), time.UnixMicro(created)
	w.DisabledAt = instant(disabled)
	return w, err
}

// instant reads 0 as no time at all.
func instant(micros int64) time.Time {
	if micros == 0 {
		return time.Time{}
	}
	return time.UnixMicro(micros)
}

func webhooks(ctx context.Context, q sqldb.Querier, companyID int64) ([]Webhook, error) {
	return sqldb.All(ctx, q, scanWebhook, `SELECT `+webhookColumns+` FROM webhooks WHERE company_id = ? ORDER BY id`, companyID)
}

func webhookByID(ctx context.Context, q sqldb.Querier, companyID, id int64) (Webhook, error) {
	w, err := sqldb.One(ctx, q, scanWebhook, `SELECT `+webhookColumns+` FROM webhooks WHERE company_id = ? AND id = ?`, companyID, id)
	return w, sqldb.Found(err, "webhook")
}

func lockWebhook(ctx context.Context, tx *sqldb.Tx, companyID, id int64) (Webhook, error) {
	w, err := sqldb.One(ctx, tx, scanWebhook, `
		SELECT `+webhookColumns+` FROM webhooks WHERE company_id = ? AND id = ? {for update}`, companyID, id)
	return w, sqldb.Found(err, "webhook")
}

func countWebhooks(ctx context.Context, q sqldb.Querier, companyID int64) (int, error) {
	return sqldb.Value[int](ctx, q, `SELECT count(*) FROM webhooks WHERE company_id = ?`, companyID)
}

func insertWebhook(ctx context.Context, tx *sqldb.Tx, companyID int64, w Webhook) (int64, error) {
	return sqldb.Value[int64](ctx, tx, `
		INSERT INTO webhooks (company_id, url, description, events, active, secret, failures, notice, created_at, updated_at)
		VALUES (?, ?, ?, ?, ?, '', 0, '', ?, ?) RETURNING id`,
		companyID, w.URL, w.Description, joinEvents(w.Events), w.Active, tx.Now().UnixMicro(), tx.Now().UnixMicro())
}

func setSecret(ctx context.Context, tx *sqldb.Tx, companyID, id int64, sealed string) error {
	_, err := tx.Exec(ctx, `UPDATE webhooks SET secret = ? WHERE company_id = ? AND id = ?`, sealed, companyID, id)
	return err
}

func updateWebhook(ctx context.Context, tx *sqldb.Tx, companyID int64, w Webhook) error {
	var disabled sqldb.Ref
	if !w.DisabledAt.IsZero() {
		disabled = sqldb.RefTo(w.DisabledAt.UnixMicro())
	}
	_, err := tx.Exec(ctx, `
		UPDATE webhooks SET url = ?, description = ?, events = ?, active = ?, failures = ?, disabled_at = ?, notice = ?, updated_at = ?
		WHERE company_id = ? AND id = ?`,
		w.URL, w.Description, joinEvents(w.Events), w.Active, w.Failures, disabled, w.Notice, tx.Now().UnixMicro(), companyID, w.ID)
	return err
}

func removeWebhook(ctx context.Context, tx *sqldb.Tx, companyID, id int64) error {
	for _, text := range []string{
		`DELETE FROM replays WHERE company_id = ? AND webhook_id = ?`,
		`DELETE FROM deliveries WHERE company_id = ? AND webhook_id = ?`,
		`DELETE FROM webhooks WHERE company_id = ? AND id = ?`,
	} {
		if _, err := tx.Exec(ctx, text, companyID, id); err != nil {
			return err
		}
	}
	return nil
}

func park(ctx context.Context, tx *sqldb.Tx, companyID, webhookID int64) error {
	_, err := tx.Exec(ctx, `
		UPDATE deliveries SET status = 'parked' WHERE company_id = ? AND webhook_id = ? AND status = 'pending' AND claim = ''`,
		companyID, webhookID)
	return err
}

func unpark(ctx context.Context, tx *sqldb.Tx, companyID, webhookID int64) error {
	_, err := tx.Exec(ctx, `
		UPDATE deliveries SET status = 'pending' WHERE company_id = ? AND webhook_id = ? AND status = 'parked'`, companyID, webhookID)
	return err
}

func callbackSecret(ctx context.Context, q sqldb.Querier, companyID int64) (string, error) {
	sealed, err := sqldb.Value[string](ctx, q, `SELECT secret FROM callback_secrets WHERE company_id = ?`, companyID)
	if errors.Is(err, sqldb.ErrNotFound) {
		return "", nil
	}
	return sealed, err
}

// saveCallback writes the secret, or leaves the one that is there, and returns
// what stands.
func saveCallback(ctx context.Context, tx *sqldb.Tx, companyID int64, sealed string, replace bool) (string, error) {
	action := `DO NOTHING`
	if replace {
		action = `(company_id) DO UPDATE SET secret = excluded.secret, created_at = excluded.created_at`
	}
	_, err := tx.Exec(ctx, `INSERT INTO callback_secrets (company_id, secret, created_at) VALUES (?, ?, ?) ON CONFLICT `+action,
		companyID, sealed, tx.Now().UnixMicro())
	if err != nil {
		return "", err
	}
	return callbackSecret(ctx, tx, companyID)
}

func insertNotification(ctx context.Context, tx *sqldb.Tx, companyID, invoiceID int64, url string) error {
	_, err := tx.Exec(ctx, `
		INSERT INTO invoice_notifications (company_id, invoice_id, url, created_at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`,
		companyID, invoiceID, url, tx.Now().UnixMicro())
	return err
}

func enqueueWebhooks(ctx context.Context, tx *sqldb.Tx, e event.Event) (int64, error) {
	return tx.Exec(ctx, `
		INSERT INTO deliveries (company_id, webhook_id, event_id, event, url, lane, status, test, attempts, step, run_at, claim, created_at)
		SELECT company_id, id, CAST(? AS BIGINT), CAST(? AS TEXT), '', id, 'pending', ?, 0, 0, CAST(? AS BIGINT), '', CAST(? AS BIGINT)
		FROM webhooks WHERE company_id = ? AND active = ? AND events LIKE ? {for key share}`,
		e.RowID, string(e.Name), false, e.At.UnixMicro(), e.At.UnixMicro(), e.CompanyID, true, "%,"+string(e.Name)+",%")
}

func enqueueNotifications(ctx context.Context, tx *sqldb.Tx, e event.Event) (int64, error) {
	return tx.Exec(ctx, `
		INSERT INTO deliveries (company_id, event_id, event, url, lane, status, test, attempts, step, run_at, claim, created_at)
		SELECT company_id, CAST(? AS BIGINT), CAST(? AS TEXT), url, -company_id, 'pending', ?, 0, 0, CAST(? AS BIGINT), '', CAST(? AS BIGINT)
		FROM invoice_notifications WHERE company_id = ? AND invoice_id = ?`,
		e.RowID, string(e.Name), false, e.At.UnixMicro(), e.At.UnixMicro(), e.CompanyID, e.Subject)
}

func insertTest(ctx context.Context, tx *sqldb.Tx, e event.Event, webhookID int64) (int64, error) {
	return sqldb.Value[int64](ctx, tx, `
		INSERT INTO deliveries (company_id, webhook_id, event_id, event, url, lane, status, test, attempts, step, run_at, claim, created_at)
		VALUES (?, ?, ?, ?, '', ?, 'pending', ?, 0, 0, ?, '', ?) RETURNING id`,
		e.CompanyID, webhookID, e.RowID, string(e.Name), webhookID, true, e.At.UnixMicro(), e.At.UnixMicro())
}

// candidate is a delivery that may be claimed.
type candidate struct {
	id    int64
	dueAt time.Time
}

// candidates finds due deliveries, lane by lane: the lanes that have any are
// found by leaping through the index, so that a backlog of one costs the others
// nothing; each may have so many under way and no more; first attempts come
// before retries. It counts too the lanes that have as many under way as they
// may. It speaks for all companies: a lane belongs to one company_id.
func candidates(ctx context.Context, q sqldb.Querier, now time.Time, limit int) (due []candidate, full int64, err error) {
	at := now.UnixMicro()
	args := []any{failingLaneCap, laneCap, at}
	for range 2 * laneCap {
		args = append(args, at)
	}
	err = sqldb.Each(ctx, q, candidatesText, append(args, limit), func(r sqldb.Row) error {
		var id, value int64
		err := r.Scan(&id, &value)
		if id == 0 {
			full = value
			return err
		}
		due = append(due, candidate{id, time.UnixMicro(value)})
		return err
	})
	return due, full, err
}

// pendingLanes finds the lanes with pending deliveries by leaping.
const pendingLanes = `WITH RECURSIVE first_lanes(lane) AS (
		SELECT MIN(lane) FROM deliveries WHERE status = 'pending' AND step = 0
		UNION ALL
		SELECT (SELECT MIN(d.lane) FROM deliveries d WHERE d.status = 'pending' AND d.step = 0 AND d.lane > l.lane)
		FROM first_lanes l WHERE l.lane IS NOT NULL
	), retry_lanes(lane) AS (
		SELECT MIN(lane) FROM deliveries WHERE status = 'pending' AND step > 0
		UNION ALL
		SELECT (SELECT MIN(d.lane) FROM deliveries d WHERE d.status = 'pending' AND d.step > 0 AND d.lane > l.lane)
		FROM retry_lanes l WHERE l.lane IS NOT NULL
	)`

// candidatesText has a last row for the number of full lanes, as id 0.
var candidatesText = pendingLanes + `, lanes AS MATERIALIZED (
		SELECT l.lane, CASE WHEN COALESCE(w.failures, 0) > 0 THEN CAST(? AS BIGINT) ELSE CAST(? AS BIGINT) END
			- (SELECT COUNT(*) FROM deliveries d WHERE d.claim <> '' AND d.lane = l.lane AND d.run_at > ?) AS room
		FROM (SELECT lane FROM first_lanes WHERE lane IS NOT NULL UNION SELECT lane FROM retry_lanes WHERE lane IS NOT NULL) l
		LEFT JOIN webhooks w ON w.id = l.lane
	), heads AS MATERIALIZED (` + laneHeads() + `
	), due AS (
		SELECT h.id, (SELECT d.run_at FROM deliveries d WHERE d.id = h.id) AS run_at, h.retry, h.room,
			row_number() OVER (PARTITION BY h.lane ORDER BY h.retry, h.nth) AS place
		FROM heads h WHERE h.id IS NOT NULL
	)
	SELECT id, run_at FROM (SELECT id, run_at FROM due WHERE place <= room ORDER BY retry, place, run_at LIMIT ?) AS chosen
	UNION ALL SELECT 0, COUNT(*) FROM lanes WHERE room <= 0 /* every company_id */`

// laneHeads selects the first few due deliveries of every lane with room, each
// by a leap of its own into the index: a list for each lane is what PostgreSQL
// would compare with every delivery there is.
func laneHeads() string {
	var selects []string
	for retry, step := range []string{"= 0", "> 0"} {
		for nth := range laneCap {
			selects = append(selects, fmt.Sprintf(`
		SELECT l.lane, l.room, %d AS retry, %d AS nth, (SELECT d.id FROM deliveries d WHERE d.status = 'pending' AND d.step %s
			AND d.lane = l.lane AND d.run_at <= ? ORDER BY d.run_at LIMIT 1 OFFSET %d) AS id FROM lanes l WHERE l.room > %d /* every company_id */`,
				retry, nth, step, nth, nth))
		}
	}
	return strings.Join(selects, " UNION ALL ")
}

// oldestDueAt is since when the oldest delivery is due that nobody is sending,
// now when there is none. While a claim lasts, run_at is later than now.
func oldestDueAt(ctx context.Context, q sqldb.Querier, now time.Time) (time.Time, error) {
	at, err := sqldb.Value[int64](ctx, q, pendingLanes+`, heads(run_at) AS (
			SELECT (SELECT MIN(d.run_at) FROM deliveries d WHERE d.status = 'pending' AND d.step = 0 AND d.lane = l.lane) FROM first_lanes l
			UNION ALL
			SELECT (SELECT MIN(d.run_at) FROM deliveries d WHERE d.status = 'pending' AND d.step > 0 AND d.lane = l.lane) FROM retry_lanes l
		)
		SELECT COALESCE(MIN(run_at), CAST(? AS BIGINT)) FROM heads WHERE run_at <= ? /* every company_id */`, now.UnixMicro(), now.UnixMicro())
	return time.UnixMicro(at), err
}

// claimDue makes deliveries ours that are still due, and returns which.
func claimDue(ctx context.Context, tx *sqldb.Tx, ids []int64, token string) ([]int64, error) {
	var mine []int64
	for piece := range sqldb.Pieces(ids) {
		args := []any{token, tx.Now().Add(lease).UnixMicro()}
		for _, id := range piece {
			args = append(args, id)
		}
		got, err := sqldb.All(ctx, tx, func(r sqldb.Row) (id int64, err error) {
			err = r.Scan(&id)
			return id, err
		}, `UPDATE deliveries SET claim = ?, attempts = attempts + 1, run_at = ? WHERE id IN (
				SELECT id FROM deliveries WHERE id IN (`+sqldb.Marks(len(piece))+`) AND status = 'pending' AND run_at <= ? {for update skip locked}
			) RETURNING id /* every company_id */`, append(args, tx.Now().UnixMicro())...)
		if err != nil {
			return nil, err
		}
		mine = append(mine, got...)
	}
	return mine, nil
}

// claimedJobs reads what is needed to send deliveries that were just claimed.
func claimedJobs(ctx context.Context, tx *sqldb.Tx, ids []int64, token string) ([]job, error) {
	var jobs []job
	for piece := range sqldb.Pieces(ids) {
		args := make([]any, len(piece))
		for i, id := range piece {
			args[i] = id
		}
		got, err := sqldb.All(ctx, tx, func(r sqldb.Row) (j job, err error) {
			var body string
			err = r.Scan(&j.id, &j.companyID, &j.webhookID, &j.eventID, (*string)(&j.event), &body, &j.url, &j.sealed, &j.active,
				&j.test, &j.number, &j.step)
			j.body, j.claim = []byte(body), token
			return j, err
		}, `SELECT d.id, d.company_id, COALESCE(d.webhook_id, 0), e.event_id, d.event, e.body,
				CASE WHEN d.webhook_id IS NULL THEN d.url ELSE w.url END, COALESCE(w.secret, s.secret, ''), COALESCE(w.active, ?),
				d.test, d.attempts, d.step
			FROM deliveries d JOIN events e ON e.company_id = d.company_id AND e.id = d.event_id
			LEFT JOIN webhooks w ON w.company_id = d.company_id AND w.id = d.webhook_id
			LEFT JOIN callback_secrets s ON s.company_id = d.company_id AND d.webhook_id IS NULL
			WHERE d.id IN (`+sqldb.Marks(len(piece))+`) /* every company_id */`, append([]any{true}, args...)...)
		if err != nil {
			return nil, err
		}
		jobs = append(jobs, got...)
	}
	return jobs, nil
}

// settle ends a claim, unless it is no longer ours.
func settle(ctx context.Context, tx *sqldb.Tx, j job, f following) (bool, error) {
	var delivered sqldb.Ref
	if !f.deliveredAt.IsZero() {
		delivered = sqldb.RefTo(f.deliveredAt.UnixMicro())
	}
	n, err := tx.Exec(ctx, `
		UPDATE deliveries SET claim = '', status = ?, step = ?, run_at = ?, delivered_at = COALESCE(?, delivered_at)
		WHERE company_id = ? AND id = ? AND claim = ?`,
		string(f.status), f.step, f.runAt.UnixMicro(), delivered, j.companyID, j.id, j.claim)
	return n == 1, err
}

// settleAccepted ends those claims that are still ours and whose webhook has no
// failures, and returns their deliveries. The list of ids stands beside that of
// the pairs because an index answers it.
func settleAccepted(ctx context.Context, tx *sqldb.Tx, list []*closing) ([]int64, error) {
	at := tx.Now().UnixMicro()
	args, pairs := []any{at, at}, []any{}
	for _, x := range list {
		args, pairs = append(args, x.job.id), append(pairs, x.job.id, x.job.claim)
	}
	return sqldb.All(ctx, tx, func(r sqldb.Row) (id int64, err error) {
		err = r.Scan(&id)
		return id, err
	}, `UPDATE deliveries SET claim = '', status = 'delivered', run_at = ?, delivered_at = ?
		WHERE id IN (`+sqldb.Marks(len(list))+`)
			AND (id, claim) IN (VALUES `+strings.Repeat(`(CAST(? AS BIGINT), ?), `, len(list)-1)+`(CAST(? AS BIGINT), ?))
			AND (webhook_id IS NULL OR EXISTS (SELECT 1 FROM webhooks w
				WHERE w.company_id = deliveries.company_id AND w.id = deliveries.webhook_id AND w.failures = 0))
		RETURNING id /* every company_id */`, append(args, pairs...)...)
}

func insertAttempt(ctx context.Context, tx *sqldb.Tx, j job, o outcome) error {
	return insertAttempts(ctx, tx, []*closing{{job: j, outcome: o}})
}

func insertAttempts(ctx context.Context, tx *sqldb.Tx, list []*closing) error {
	for piece := range sqldb.Pieces(list) {
		var args []any
		for _, x := range piece {
			j, o := x.job, x.outcome
			args = append(args, j.companyID, j.id, j.number, o.at.UnixMicro(), o.response.Duration.Milliseconds(), o.response.Status,
				string(o.response.Body), o.problem)
		}
		if _, err := tx.Exec(ctx, `
			INSERT INTO delivery_attempts (company_id, delivery_id, number, at, duration_ms, response_status, response_body, error)
			VALUES `+sqldb.Tuples(len(piece), 8), args...); err != nil {
			return err
		}
	}
	return nil
}

const deliverySelect = `SELECT d.id, e.event_id, d.event, COALESCE(d.webhook_id, 0),
	CASE WHEN d.webhook_id IS NULL THEN d.url ELSE COALESCE(w.url, '') END, d.status, d.run_at, e.body, d.created_at, COALESCE(d.delivered_at, 0)
	FROM deliveries d JOIN events e ON e.company_id = d.company_id AND e.id = d.event_id
	LEFT JOIN webhooks w ON w.company_id = d.company_id AND w.id = d.webhook_id`

func scanDelivery(r sqldb.Row) (d Delivery, err error) {
	var body string
	var runAt, created, delivered int64
	err = r.Scan(&d.ID, &d.EventID, (*string)(&d.Event), &d.WebhookID, &d.URL, (*string)(&d.Status), &runAt, &body, &created, &delivered)
	d.Payload, d.CreatedAt, d.DeliveredAt = []byte(body), time.UnixMicro(created), instant(delivered)
	if d.Status == Pending {
		d.NextAttempt = time.UnixMicro(runAt)
	}
	return d, err
}

// deliveryChoice takes what DeliveryFilter.args gives.
const deliveryChoice = ` WHERE d.company_id = ? AND d.webhook_id = ? AND CAST(? AS TEXT) IN ('', d.status)
	AND CAST(? AS TEXT) IN ('', d.event) AND d.created_at >= ? AND d.created_at < ?`

func countDeliveries(ctx context.Context, q sqldb.Querier, choice []any) (int64, error) {
	return sqldb.Value[int64](ctx, q, `SELECT count(*) FROM deliveries d`+deliveryChoice, choice...)
}

func deliveries(ctx context.Context, q sqldb.Querier, choice []any, page input.Page) ([]Delivery, error) {
	return sqldb.All(ctx, q, scanDelivery,
		deliverySelect+deliveryChoice+` ORDER BY d.id DESC LIMIT ? OFFSET ?`,
		slices.Concat(choice, []any{page.Size, page.Offset()})...)
}

func deliveryByID(ctx context.Context, q sqldb.Querier, companyID, id int64) (Delivery, error) {
	d, err := sqldb.One(ctx, q, scanDelivery, deliverySelect+` WHERE d.company_id = ? AND d.id = ?`, companyID, id)
	return d, sqldb.Found(err, "delivery")
}

func deliveryOfEvent(ctx context.Context, q sqldb.Querier, companyID int64, eventID string) (int64, error) {
	id, err := sqldb.Value[int64](ctx, q, `
		SELECT d.id FROM deliveries d JOIN events e ON e.company_id = d.company_id AND e.id = d.event_id
		WHERE d.company_id = ? AND e.event_id = ? ORDER BY d.id DESC LIMIT 1`, companyID, eventID)
	return id, sqldb.Found(err, "delivery")
}

// lockDelivery tells also whether somebody is sending it.
func lockDelivery(ctx context.Context, tx *sqldb.Tx, companyID, id int64) (d Delivery, claimed bool, err error) {
	claimed, err = sqldb.One(ctx, tx, func(r sqldb.Row) (bool, error) {
		var claim string
		var runAt int64
		err := r.Scan(&claim, &runAt)
		return claim != "" && runAt > tx.Now().UnixMicro(), err
	}, `SELECT claim, run_at FROM deliveries WHERE company_id = ? AND id = ? {for update}`, companyID, id)
	if err != nil {
		return d, false, sqldb.Found(err, "delivery")
	}
	d, err = deliveryByID(ctx, tx, companyID, id)
	return d, claimed, err
}

func reset(ctx context.Context, tx *sqldb.Tx, companyID, id int64) error {
	_, err := tx.Exec(ctx, `
		UPDATE deliveries SET status = 'pending', step = 0, run_at = ?, claim = '' WHERE company_id = ? AND id = ?`,
		tx.Now().UnixMicro(), companyID, id)
	return err
}

func attempts(ctx context.Context, q sqldb.Querier, companyID int64, deliveryIDs []int64, add func(deliveryID int64, t Attempt)) error {
	if len(deliveryIDs) == 0 {
		return nil
	}
	args := []any{companyID}
	for _, id := range deliveryIDs {
		args = append(args, id)
	}
	return sqldb.Each(ctx, q, `
		SELECT delivery_id, number, at, duration_ms, response_status, response_body, error FROM delivery_attempts
		WHERE company_id = ? AND delivery_id IN (`+sqldb.Marks(len(deliveryIDs))+`) ORDER BY delivery_id, number`, args, func(r sqldb.Row) error {
		var id, at, millis int64
		var t Attempt
		err := r.Scan(&id, &t.Number, &at, &millis, &t.ResponseStatus, &t.ResponseBody, &t.Error)
		t.At, t.Duration = time.UnixMicro(at), time.Duration(millis)*time.Millisecond
		add(id, t)
		return err
	})
}

// eventSpan is from where to where the events since a time stand. Between them
// may be earlier ones: what begins first is not always numbered first.
func eventSpan(ctx context.Context, q sqldb.Querier, companyID int64, since time.Time) (before, last int64, err error) {
	last, err = sqldb.Value[int64](ctx, q, `SELECT COALESCE(MAX(id), 0) FROM events WHERE company_id = ?`, companyID)
	if err != nil {
		return 0, 0, err
	}
	before, err = sqldb.Value[int64](ctx, q, `
		SELECT COALESCE(MIN(id) - 1, CAST(? AS BIGINT)) FROM events WHERE company_id = ? AND occurred_at >= ?`, last, companyID, since.UnixMicro())
	return before, last, err
}

const replayColumns = `id, company_id, webhook_id, since, cursor, until, queued, COALESCE(finished_at, 0)`

func scanReplay(row sqldb.Row) (r Replay, err error) {
	var since, finished int64
	err = row.Scan(&r.ID, &r.companyID, &r.WebhookID, &since, &r.cursor, &r.until, &r.Queued, &finished)
	r.Since, r.Finished = time.UnixMicro(since), finished != 0
	return r, err
}

func insertReplay(ctx context.Context, tx *sqldb.Tx, r Replay) (int64, error) {
	return sqldb.Value[int64](ctx, tx, `
		INSERT INTO replays (company_id, webhook_id, since, cursor, until, queued, created_at) VALUES (?, ?, ?, ?, ?, 0, ?) RETURNING id`,
		r.companyID, r.WebhookID, r.Since.UnixMicro(), r.cursor, r.until, tx.Now().UnixMicro())
}

func unfinishedReplays(ctx context.Context, q sqldb.Querier) ([]Replay, error) {
	return sqldb.All(ctx, q, scanReplay, `SELECT `+replayColumns+` FROM replays WHERE finished_at IS NULL ORDER BY company_id, id /* every company_id */`)
}

func lockReplay(ctx context.Context, tx *sqldb.Tx, r Replay) (Replay, error) {
	return sqldb.One(ctx, tx, scanReplay, `SELECT `+replayColumns+` FROM replays WHERE company_id = ? AND id = ? {for update}`, r.companyID, r.ID)
}

// lastOfBatch is the last of the next events of a replay, 0 when there is none.
func lastOfBatch(ctx context.Context, q sqldb.Querier, r Replay, size int) (int64, error) {
	return sqldb.Value[int64](ctx, q, `SELECT COALESCE(MAX(id), 0) FROM (
		SELECT id FROM events WHERE company_id = ? AND id > ? AND id <= ? ORDER BY id LIMIT ?) AS batch`, r.companyID, r.cursor, r.until, size)
}

// requeue writes a delivery for each wanted event of a batch that has none, and
// takes up again those that were given up.
func requeue(ctx context.Context, tx *sqldb.Tx, r Replay, last int64, wanted []event.Name) (int64, error) {
	if len(wanted) == 0 {
		return 0, nil
	}
	args := []any{
		r.WebhookID, r.WebhookID, false, tx.Now().UnixMicro(), tx.Now().UnixMicro(), r.companyID, r.cursor, last, r.Since.UnixMicro(),
	}
	for _, name := range wanted {
		args = append(args, string(name))
	}
	return tx.Exec(ctx, `
		INSERT INTO deliveries (company_id, webhook_id, event_id, event, url, lane, status, test, attempts, step, run_at, claim, created_at)
		SELECT company_id, CAST(? AS BIGINT), id, name, '', CAST(? AS BIGINT), 'pending', ?, 0, 0, CAST(? AS BIGINT), '', CAST(? AS BIGINT)
		FROM events WHERE company_id = ? AND id > ? AND id <= ? AND occurred_at >= ? AND name IN (`+sqldb.Marks(len(wanted))+`)
		ON CONFLICT (company_id, event_id, lane, url) DO UPDATE SET status = 'pending', step = 0, run_at = excluded.run_at
		WHERE deliveries.status IN ('failed', 'refused')`, args...)
}

func advanceReplay(ctx context.Context, tx *sqldb.Tx, r Replay, last, queued int64) error {
	_, err := tx.Exec(ctx, `UPDATE replays SET cursor = ?, queued = queued + ? WHERE company_id = ? AND id = ?`, last, queued, r.companyID, r.ID)
	return err
}

func finishReplay(ctx context.Context, tx *sqldb.Tx, r Replay) error {
	_, err := tx.Exec(ctx, `UPDATE replays SET finished_at = ? WHERE company_id = ? AND id = ?`, tx.Now().UnixMicro(), r.companyID, r.ID)
	return err
}

// pruneDeliveries leaves what is still to be sent: what is parked goes with its
// webhook and not before. The status is looked at again in what is removed,
// because somebody may have asked for it to be sent again meanwhile.
func pruneDeliveries(ctx context.Context, tx *sqldb.Tx, before time.Time, limit int) (int64, error) {
	return tx.Exec(ctx, `
		DELETE FROM deliveries WHERE status NOT IN ('pending', 'parked') AND id IN (
			SELECT id FROM deliveries WHERE created_at < ? AND status NOT IN ('pending', 'parked') ORDER BY created_at LIMIT ?
		) /* every company_id */`, before.UnixMicro(), limit)
}

func pruneReplays(ctx context.Context, tx *sqldb.Tx, before time.Time, limit int) (int64, error) {
	return tx.Exec(ctx, `
		DELETE FROM replays WHERE id IN (
			SELECT id FROM replays WHERE finished_at < ? ORDER BY finished_at LIMIT ?
		) /* every company_id */`, before.UnixMicro(), limit)
}

// pruneEvents leaves an event that is still being delivered.
func pruneEvents(ctx context.Context, tx *sqldb.Tx, before time.Time, limit int) (int64, error) {
	return tx.Exec(ctx, `
		DELETE FROM events WHERE id IN (
			SELECT e.id FROM events e WHERE e.occurred_at < ?
				AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.company_id = e.company_id AND d.event_id = e.id)
			ORDER BY e.occurred_at LIMIT ?
		) /* every company_id */`, before.UnixMicro(), limit)
}
