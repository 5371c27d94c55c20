package sender

import (
	"context"
	"errors"
	"slices"
	"strings"
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
	there, err := sqldb.Values[int64](ctx, tx,
		`SELECT delivery_id FROM delivery_queue WHERE delivery_id {in ?} /* every company_id */`, ids)
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

// findingDue finds up to so many deliveries of each lane, first attempts before
// retries.
func findingDue(tx *sqldb.Tx, lanes []int64, most int, into map[int64][]int64) sqldb.Statement {
	const line = `COALESCE((SELECT string_agg(CAST(d.delivery_id AS TEXT), ',') FROM (
		SELECT q.delivery_id FROM delivery_queue q WHERE q.line = ? AND q.lane = k.lane AND q.run_at <= {clock ?}
		ORDER BY q.run_at LIMIT ?) AS d), '')`
	return sqldb.Statement{
		Text: `
		SELECT k.lane, ` + line + `, ` + line + ` FROM delivery_lanes k WHERE k.lane {in ?} /* every company_id */`,
		Args: []any{firstLine, tx.DueClock(), most, retryLine, tx.DueClock(), most, lanes},
		Scan: func(row sqldb.Row) error {
			var lane int64
			var first, retries string
			err := row.Scan(&lane, &first, &retries)
			into[lane] = append(splitIDs(first), splitIDs(retries)...)
			return err
		},
	}
}

// readJobs reads what is needed to send deliveries of lanes.
func readJobs(ctx context.Context, tx *sqldb.Tx, ids, lanes []int64) (map[int64]Job, error) {
	jobs, to := make(map[int64]Job, len(ids)), make(map[int64]*recipient, len(lanes))
	err := sqldb.Together(ctx, tx, append(readingRecipients(lanes, to), readingJobs(tx, ids, jobs))...)
	if err != nil {
		return nil, err
	}
	addRecipients(jobs, to)
	return jobs, nil
}

func addRecipients(jobs map[int64]Job, to map[int64]*recipient) {
	for id, job := range jobs {
		job.to = to[job.lane]
		if job.webhookID != 0 {
			job.url = job.to.url
		}
		jobs[id] = job
	}
}

const selectJobs = `
		SELECT q.delivery_id, q.company_id, q.lane, e.event_id, e.name, e.body, q.url, q.test, q.attempts, q.step, q.panics,
			{clock ?} - q.run_at, q.claim`

func readingJobs(tx *sqldb.Tx, ids []int64, into map[int64]Job) sqldb.Statement {
	return sqldb.Statement{
		Text: selectJobs + `
		FROM delivery_queue q JOIN events e ON e.company_id = q.company_id AND e.id = q.event_id
		WHERE q.delivery_id {in ?} /* every company_id */`,
		Args: []any{tx.DueClock(), ids},
		Scan: scanJob(into),
	}
}

func scanJob(into map[int64]Job) func(row sqldb.Row) error {
	return func(row sqldb.Row) error {
		var job Job
		var waited int64
		var claim string
		err := row.Scan(&job.id, &job.companyID, &job.lane, &job.eventID, (*string)(&job.event),
			&job.body, &job.url, &job.test, &job.begun, &job.step, &job.panics, &waited, &claim)
		job.webhookID, job.lateClaim = max(job.lane, 0), claim != ""
		job.waited = time.Duration(waited) * time.Microsecond
		into[job.id] = job
		return err
	}
}

// readingRecipients reads the receivers of lanes. If a webhook was deleted, the
// recipient of its lane is not active.
func readingRecipients(lanes []int64, into map[int64]*recipient) (statements []sqldb.Statement) {
	var webhooks, companies []int64
	for _, lane := range lanes {
		if lane < 0 {
			companies = append(companies, -lane)
		} else {
			webhooks = append(webhooks, lane)
		}
		into[lane] = &recipient{active: lane < 0}
	}
	if len(webhooks) > 0 {
		statements = append(statements, readingWebhooks(webhooks, into))
	}
	if len(companies) > 0 {
		statements = append(statements, readingCallbackSecrets(companies, into))
	}
	return statements
}

func readingWebhooks(ids []int64, into map[int64]*recipient) sqldb.Statement {
	text, args := few(
		`SELECT id, url, secret, active, failures, retry_refused, old_secret, old_until FROM webhooks WHERE id {in ?}
		/* every company_id */`, ids)
	return sqldb.Statement{
		Text: text,
		Args: args,
		Scan: func(row sqldb.Row) error {
			var lane int64
			var r recipient
			var oldUntil int64
			err := row.Scan(&lane, &r.url, &r.sealed, &r.active, &r.failures, &r.retry4xx, &r.old, &oldUntil)
			r.oldUntil = time.UnixMicro(oldUntil)
			into[lane] = &r
			return err
		},
	}
}

func readingCallbackSecrets(companies []int64, into map[int64]*recipient) sqldb.Statement {
	text, args := few(
		`SELECT company_id, secret, old_secret, old_until FROM callback_secrets WHERE company_id {in ?} /* every company_id */`, companies)
	return sqldb.Statement{
		Text: text,
		Args: args,
		Scan: func(row sqldb.Row) error {
			var companyID, oldUntil int64
			var sealed, old string
			err := row.Scan(&companyID, &sealed, &old, &oldUntil)
			if recipient := into[-companyID]; recipient != nil {
				recipient.sealed, recipient.old, recipient.oldUntil = sealed, old, time.UnixMicro(oldUntil)
			}
			return err
		},
	}
}

// claimDue claims a due delivery for a person who waits, whatever its lane is
// doing, and returns that lane; 0 when it was not due.
func claimDue(ctx context.Context, tx *sqldb.Tx, companyID, id int64, token string) (lane int64, err error) {
	lane, err = sqldb.Value[int64](ctx, tx, `
		UPDATE delivery_queue SET claim = ?, attempts = attempts + 1, run_at = {clock ?} + ?
		WHERE company_id = ? AND delivery_id = ? AND line IN (0, 1) AND run_at <= {clock ?} RETURNING lane`,
		token, tx.DueClock(), waiterTime.Microseconds(), companyID, id, tx.DueClock())
	if errors.Is(err, sqldb.ErrNotFound) {
		return 0, nil
	}
	return lane, err
}

// lockQueued locks a delivery's place in the queue, and reports whether it is
// being sent: for a person who waits, or by the process that has its lane.
func lockQueued(ctx context.Context, tx *sqldb.Tx, companyID, id int64, sending []int64) (busy bool, err error) {
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

// few writes the first {in ?} of a text out for each list that has a few values,
// in their order, and returns the arguments of all. PostgreSQL expects ten in a
// list that is one argument. It thinks a plan for a shorter one better, and so
// plans anew at every use, which takes it longer than to find the rows.
func few[T int64 | string](text string, lists ...[]T) (string, []any) {
	var written strings.Builder
	var args []any
	for _, list := range lists {
		before, after, _ := strings.Cut(text, "{in ?}")
		in := "{in ?}"
		if n := len(list); n == 0 || n > maxWritten {
			args = append(args, list)
		} else {
			in = "IN (?" + strings.Repeat(",?", n-1) + ")"
			for _, value := range list {
				args = append(args, value)
			}
		}
		written.WriteString(before + in)
		text = after
	}
	return written.String() + text, args
}

// maxWritten is how many values of a list few writes out.
const maxWritten = 6
