package sender

import (
	"context"
	"slices"
	"time"

	"carteira/internal/platform/sqldb"
)

// burnAttempts uses up the numbers of attempts that a process may have made and
// did not record; a late record of it then matches no row. It passes over rows
// that another transaction has locked and returns their ids: what that one is
// recording is not known yet.
func burnAttempts(ctx context.Context, tx *sqldb.Tx, ids []int64) (locked []int64, err error) {
	if len(ids) == 0 {
		return nil, nil
	}
	there, err := sqldb.Values[int64](
		ctx,
		tx,
		`SELECT delivery_id FROM delivery_queue WHERE delivery_id {in ?} /* every company_id */`,
		ids,
	)
	if err != nil || len(there) == 0 {
		return nil, err
	}
	free, err := sqldb.Values[int64](ctx, tx, `
		SELECT delivery_id FROM delivery_queue WHERE delivery_id {in ?} /* every company_id */
		ORDER BY delivery_id {for update skip locked}`, ids)
	if err != nil {
		return nil, err
	}
	_, err = tx.Exec(ctx, `
		UPDATE delivery_queue SET attempts = attempts + 1, claim = '' WHERE delivery_id {in ?} /* every company_id */`, free)
	return slices.DeleteFunc(there, func(id int64) bool { return slices.Contains(free, id) }), err
}

// dueIn returns up to so many deliveries of each lane, first attempts before
// retries.
func dueIn(ctx context.Context, tx *sqldb.Tx, lanes []int64, most int) (map[int64][]int64, error) {
	const line = `COALESCE((SELECT string_agg(CAST(d.delivery_id AS TEXT), ',') FROM (
		SELECT q.delivery_id FROM delivery_queue q WHERE q.line = ? AND q.lane = k.lane AND q.run_at <= {clock ?}
		ORDER BY q.run_at LIMIT ?) AS d), '')`
	due := make(map[int64][]int64, len(lanes))
	err := sqldb.Each(ctx, tx, `
		SELECT k.lane, `+line+`, `+line+` FROM delivery_lanes k WHERE k.lane {in ?} /* every company_id */`,
		[]any{
			firstLine, tx.DueClock(), most, retryLine, tx.DueClock(), most, lanes,
		}, func(row sqldb.Row) error {
			var lane int64
			var first, retries string
			err := row.Scan(&lane, &first, &retries)
			due[lane] = append(splitIDs(first), splitIDs(retries)...)
			return err
		})
	return due, err
}

// readJobs reads what is needed to send deliveries.
func readJobs(ctx context.Context, tx *sqldb.Tx, ids []int64) (map[int64]Job, error) {
	jobs := make(map[int64]Job, len(ids))
	lanes := make([]int64, 0, len(ids))
	err := sqldb.Each(ctx, tx, `
		SELECT q.delivery_id, q.company_id, q.lane, e.event_id, e.name, e.body, q.url, q.test, q.attempts, q.step, q.panics,
			{clock ?} - q.run_at, q.claim
		FROM delivery_queue q JOIN events e ON e.company_id = q.company_id AND e.id = q.event_id
		WHERE q.delivery_id {in ?} /* every company_id */`,
		[]any{tx.DueClock(), ids}, func(row sqldb.Row) error {
			var job Job
			var waited int64
			var claim string
			err := row.Scan(&job.id, &job.companyID, &job.lane, &job.eventID, (*string)(&job.event),
				&job.body, &job.url, &job.test, &job.begun, &job.step,
				&job.panics, &waited, &claim)
			job.webhookID, job.lateClaim, job.waited = max(
				job.lane,
				0,
			), claim != "", time.Duration(waited)*time.Microsecond
			jobs[job.id], lanes = job, append(lanes, job.lane)
			return err
		})
	if err != nil {
		return nil, err
	}
	to, err := readRecipients(ctx, tx, lanes)
	if err != nil {
		return nil, err
	}
	for id, job := range jobs {
		job.to = to[job.lane]
		if job.webhookID != 0 {
			job.url = job.to.url
		}
		jobs[id] = job
	}
	return jobs, nil
}

// readRecipients reads where the deliveries of lanes go, once for each. A lane
// whose webhook is gone has a recipient that is not active.
func readRecipients(
	ctx context.Context,
	tx *sqldb.Tx,
	lanes []int64,
) (map[int64]*recipient, error) {
	to := make(map[int64]*recipient, len(lanes))
	var webhooks, companies []int64
	for _, lane := range lanes {
		switch {
		case to[lane] != nil:
			continue
		case lane < 0:
			companies = append(companies, -lane)
		default:
			webhooks = append(webhooks, lane)
		}
		to[lane] = &recipient{active: lane < 0}
	}
	if err := readWebhooks(ctx, tx, webhooks, to); err != nil {
		return nil, err
	}
	return to, readCallbackSecrets(ctx, tx, companies, to)
}

func readWebhooks(ctx context.Context, tx *sqldb.Tx, ids []int64, to map[int64]*recipient) error {
	if len(ids) == 0 {
		return nil
	}
	return sqldb.Each(ctx, tx,
		`SELECT id, url, secret, active, failures, retry_refused FROM webhooks WHERE id {in ?} /* every company_id */`,
		[]any{ids}, func(row sqldb.Row) error {
			var lane int64
			var r recipient
			err := row.Scan(&lane, &r.url, &r.sealed, &r.active, &r.failures, &r.retry4xx)
			to[lane] = &r
			return err
		})
}

func readCallbackSecrets(
	ctx context.Context,
	tx *sqldb.Tx,
	companies []int64,
	to map[int64]*recipient,
) error {
	if len(companies) == 0 {
		return nil
	}
	return sqldb.Each(ctx, tx,
		`SELECT company_id, secret FROM callback_secrets WHERE company_id {in ?} /* every company_id */`,
		[]any{companies}, func(row sqldb.Row) error {
			var companyID int64
			var sealed string
			err := row.Scan(&companyID, &sealed)
			if recipient := to[-companyID]; recipient != nil {
				recipient.sealed = sealed
			}
			return err
		})
}

// claimDue claims a due delivery for a person who waits, whatever its lane is
// doing, and says whether it was due.
func claimDue(ctx context.Context, tx *sqldb.Tx, companyID, id int64, token string) (bool, error) {
	changed, err := tx.Exec(ctx, `
		UPDATE delivery_queue SET claim = ?, attempts = attempts + 1, run_at = {clock ?} + ?
		WHERE company_id = ? AND delivery_id = ? AND line IN (0, 1) AND run_at <= {clock ?}`,
		token, tx.DueClock(), waiterTime.Microseconds(), companyID, id, tx.DueClock())
	return changed == 1, err
}

// lockQueued locks a delivery's place in the queue, and says whether it is being
// sent: for a person who waits, or by the process that has its lane.
func lockQueued(
	ctx context.Context,
	tx *sqldb.Tx,
	companyID, id int64,
	sending []int64,
) (busy bool, err error) {
	err = sqldb.Each(ctx, tx, `
		SELECT claim, line, run_at > {clock ?} FROM delivery_queue WHERE company_id = ? AND delivery_id = ? {for update}`,
		[]any{tx.DueClock(), companyID, id}, func(row sqldb.Row) error {
			var claim string
			var line int
			var later bool
			err := row.Scan(&claim, &line, &later)
			busy = claim != "" && later ||
				line != parkedLine && !later && slices.Contains(sending, id)
			return err
		})
	return busy, err
}
