// Package idempotency answers a repeated request with what the first one was
// answered. It owns the idempotency_keys table and knows nothing of HTTP beyond
// a status and a body, which it keeps encrypted, since an answer may hold a
// secret that is shown only once.
//
// A key is reserved before the work, and marked as carried out inside the
// transaction of the work itself. So a crash leaves no doubt: either the mark
// is there and nothing is done again, or it is not and nothing was done.
package idempotency

import (
	"context"
	"fmt"
	"net/http"
	"time"
	"unicode/utf8"

	"carteira/internal/account"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/id"
	"carteira/internal/platform/rows"
	"carteira/internal/platform/secret"
	"carteira/internal/platform/sqldb"
)

const (
	maxKey = 255 // characters
	// keep is how long a key is remembered.
	keep = 24 * time.Hour
	// lease is how long after its last sign of life a request is taken for dead,
	// so that a repeat takes over. One that runs on renews it.
	lease      = 10 * time.Second
	renewLease = 3 * time.Second
)

// Service has the use cases.
type Service struct {
	db  *sqldb.DB
	box *secret.Box
}

// New makes the service.
func New(db *sqldb.DB, box *secret.Box) *Service { return &Service{db, box} }

// Refuse says what is wrong with a key; nothing when it may be used.
func Refuse(key string) (reason string) {
	switch {
	case !utf8.ValidString(key): // which PostgreSQL would not store
		return "must be valid UTF-8"
	case utf8.RuneCountInString(key) > maxKey:
		return "must have at most 255 characters"
	}
	return ""
}

// Request identifies a request that carries a key.
type Request struct {
	Key         string
	Fingerprint [32]byte // of method, path and body
}

// Stored is the answer to the first request.
type Stored struct {
	Status int
	Body   []byte
}

// Work is a request that may be repeated.
type Work struct {
	Do func(account.Actor) Stored // does its writing as the actor it is given
	// Reread answers in place of an answer that a crash has lost: with the record
	// that was written, as it is. The id is 0 where the audit log had no line of it.
	Reread func(recordID int64) Stored
}

// Run does work once for all requests that carry the same key, and returns
// its answer to each.
// What work answers is kept, except one that says to try again. An error that
// comes with an answer means that it could not be kept; it is the answer all
// the same, since the work is done.
func (s *Service) Run(ctx context.Context, actor account.Actor, request Request,
	work Work,
) (answer Stored, repeated bool, err error) {
	t := ticket{service: s, actor: actor, request: request, holder: id.NewCode(16)}
	row, err := sqldb.Write(ctx, s.db, func(tx *sqldb.Tx) (record, error) { return t.reserve(ctx, tx) })
	if err != nil {
		return Stored{}, false, err
	}
	if row.status != 0 {
		body, err := s.box.Open(row.answer, t.context())
		if err != nil {
			return Stored{}, true, err
		}
		return Stored{row.status, body}, true, nil
	}
	if row.carriedOut {
		return work.Reread(row.recordID), true, nil
	}
	answer = t.carryOut(ctx, work.Do)
	// The work is done: its answer is kept even when the caller has gone.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	return answer, false, t.finish(ctx, answer)
}

// Inherit ends the leases of a process that is no more, so that its requests can
// be repeated at once. It is for the only process of a database.
func (s *Service) Inherit(ctx context.Context) error {
	return s.db.Write(ctx, func(tx *sqldb.Tx) error { return endLeases(ctx, tx) })
}

// pruneSize is how many keys one transaction forgets.
const pruneSize = 5000

// Prune forgets keys that are older than they are kept.
func (s *Service) Prune(ctx context.Context) error {
	for {
		forgotten, err := sqldb.Write(ctx, s.db, func(tx *sqldb.Tx) (int64, error) {
			return tx.Exec(ctx, `
				DELETE FROM idempotency_keys WHERE (company_id, token_id, key) IN (
					SELECT company_id, token_id, key FROM idempotency_keys WHERE created_at < ? LIMIT ?) /* every company_id */`,
				tx.Real().Add(-keep).UnixMicro(), pruneSize)
		})
		if err != nil || forgotten < pruneSize {
			return err
		}
	}
}

// ticket is one request's hold on a key.
type ticket struct {
	service *Service
	actor   account.Actor
	request Request
	holder  string
}

func (t ticket) context() string {
	return fmt.Sprintf("idempotency:%d:%s", t.actor.TokenID, t.request.Key)
}

// reserve takes the key, or returns the row of who has it when that row has an
// answer, or was carried out by a process that died before it could store one.
func (t ticket) reserve(ctx context.Context, tx *sqldb.Tx) (record, error) {
	fresh, err := rows.Changed(ctx, tx, `
		INSERT INTO idempotency_keys (company_id, token_id, key, fingerprint, holder, lease_until, carried_out, status, answer, created_at)
		VALUES (?, ?, ?, ?, ?, {clock ?} + ?, ?, 0, '', ?) ON CONFLICT DO NOTHING`,
		t.actor.Company.ID, t.actor.TokenID, t.request.Key,
		t.request.Fingerprint[:], t.holder,
		tx.Clock(), lease.Microseconds(), false, tx.Real().UnixMicro())
	if err != nil || fresh {
		return record{}, err
	}
	row, err := lock(ctx, tx, t)
	if err != nil {
		return row, err
	}
	switch {
	case row.createdAt.Before(tx.Real().Add(-keep)):
		return record{}, takeOver(ctx, tx, t)
	case row.fingerprint != t.request.Fingerprint:
		return row, fault.Field("Idempotency-Key", "was used for another request; use a new key for each request")
	case row.status != 0, row.carriedOut && row.leaseLeft <= 0:
		return row, nil
	case row.leaseLeft > 0: // carried out or not: its answer may be on the way
		running := fault.Conflict("the first request with this Idempotency-Key is still running")
		return row, fault.Later(running, row.leaseLeft)
	}
	return record{}, takeOver(ctx, tx, t)
}

// carryOut does the work, and renews the lease if it takes long.
func (t ticket) carryOut(ctx context.Context, work func(account.Actor) Stored) Stored {
	renewing, stop := context.WithCancel(ctx)
	defer stop()
	timer := time.AfterFunc(renewLease, func() { t.keepLease(renewing) })
	defer timer.Stop()
	return work(t.actor.With(t.mark))
}

// keepLease renews the lease until ctx ends. That a renewal fails does no harm: a
// repeat may then take over, and the mark of this request is refused.
func (t ticket) keepLease(ctx context.Context) {
	for ctx.Err() == nil {
		_ = t.service.db.Write(ctx, func(tx *sqldb.Tx) error { return extendLease(ctx, tx, t) })
		select {
		case <-ctx.Done():
		case <-time.After(renewLease):
		}
	}
}

// mark runs inside the transaction of the work.
func (t ticket) mark(ctx context.Context, tx *sqldb.Tx, recordID int64) error {
	held, err := rows.Changed(ctx, tx, `
		UPDATE idempotency_keys SET carried_out = ?, record_id = ? WHERE company_id = ? AND token_id = ? AND key = ? AND holder = ?`,
		true, recordID, t.actor.Company.ID, t.actor.TokenID, t.request.Key, t.holder)
	if err == nil && !held {
		return fault.Conflict("a repeat of this request has taken over")
	}
	return err
}

func (t ticket) finish(ctx context.Context, answer Stored) error {
	sealed := t.service.box.Seal(answer.Body, t.context())
	return t.service.db.Write(ctx, func(tx *sqldb.Tx) error {
		// A failure of ours, or a change that was made at the same moment: the answer says to try again.
		if answer.Status >= http.StatusInternalServerError || answer.Status == http.StatusConflict {
			return release(ctx, tx, t)
		}
		return store(ctx, tx, t, answer.Status, sealed)
	})
}

// Leases go by the clock of the database, since those of processes may differ.

type record struct {
	fingerprint [32]byte
	leaseLeft   time.Duration // none when it has run out
	carriedOut  bool
	recordID    int64 // that was written; 0: none is known
	status      int   // 0: no answer yet
	answer      string
	createdAt   time.Time
}

func lock(ctx context.Context, tx *sqldb.Tx, ticket ticket) (record, error) {
	return sqldb.One(ctx, tx, func(r sqldb.Row) (row record, err error) {
		var fingerprint []byte
		var left, created int64
		err = r.Scan(&fingerprint, &left, &row.carriedOut, &row.recordID, &row.status, &row.answer, &created)
		copy(row.fingerprint[:], fingerprint)
		row.leaseLeft, row.createdAt = time.Duration(left)*time.Microsecond, time.UnixMicro(created)
		return row, err
	}, `SELECT fingerprint, lease_until - {clock ?}, carried_out, record_id, status, answer, created_at FROM idempotency_keys
		WHERE company_id = ? AND token_id = ? AND key = ? {for update}`, tx.Clock(),
		ticket.actor.Company.ID, ticket.actor.TokenID, ticket.request.Key)
}

// takeOver gives an abandoned or outlived key to a new holder.
func takeOver(ctx context.Context, tx *sqldb.Tx, ticket ticket) error {
	return tx.Do(ctx, `
		UPDATE idempotency_keys SET fingerprint = ?, holder = ?, lease_until = {clock ?} + ?, carried_out = ?, record_id = 0, status = 0,
			answer = '', created_at = ?
		WHERE company_id = ? AND token_id = ? AND key = ?`,
		ticket.request.Fingerprint[:], ticket.holder, tx.Clock(), lease.Microseconds(), false,
		tx.Real().UnixMicro(),
		ticket.actor.Company.ID, ticket.actor.TokenID, ticket.request.Key)
}

func store(ctx context.Context, tx *sqldb.Tx, ticket ticket, status int, sealed string) error {
	return tx.Do(ctx, `
		UPDATE idempotency_keys SET status = ?, answer = ? WHERE company_id = ? AND token_id = ? AND key = ? AND holder = ?`,
		status, sealed, ticket.actor.Company.ID, ticket.actor.TokenID, ticket.request.Key,
		ticket.holder)
}

// release frees the key of a request that failed before it did anything.
func release(ctx context.Context, tx *sqldb.Tx, ticket ticket) error {
	return tx.Do(ctx, `
		DELETE FROM idempotency_keys WHERE company_id = ? AND token_id = ? AND key = ? AND holder = ? AND carried_out = ?`,
		ticket.actor.Company.ID, ticket.actor.TokenID, ticket.request.Key, ticket.holder, false)
}

// extendLease keeps a running request from being taken for dead.
func extendLease(ctx context.Context, tx *sqldb.Tx, ticket ticket) error {
	return tx.Do(ctx, `
		UPDATE idempotency_keys SET lease_until = {clock ?} + ?
		WHERE company_id = ? AND token_id = ? AND key = ? AND holder = ? AND status = 0`,
		tx.Clock(), lease.Microseconds(), ticket.actor.Company.ID, ticket.actor.TokenID,
		ticket.request.Key, ticket.holder)
}

func endLeases(ctx context.Context, tx *sqldb.Tx) error {
	return tx.Do(ctx,
		`UPDATE idempotency_keys SET lease_until = 0 WHERE status = 0 AND lease_until > 0 /* every company_id */`)
}
