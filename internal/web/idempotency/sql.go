package idempotency

import (
	"context"
	"time"

	"carteira/internal/platform/sqldb"
)

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
	_, err := tx.Exec(ctx, `
		UPDATE idempotency_keys SET fingerprint = ?, holder = ?, lease_until = {clock ?} + ?, carried_out = ?, record_id = 0, status = 0,
			answer = '', created_at = ?
		WHERE company_id = ? AND token_id = ? AND key = ?`,
		ticket.request.Fingerprint[:], ticket.holder, tx.Clock(), lease.Microseconds(), false,
		tx.Real().UnixMicro(),
		ticket.actor.Company.ID, ticket.actor.TokenID, ticket.request.Key)
	return err
}

func store(ctx context.Context, tx *sqldb.Tx, ticket ticket, status int, sealed string) error {
	_, err := tx.Exec(ctx, `
		UPDATE idempotency_keys SET status = ?, answer = ? WHERE company_id = ? AND token_id = ? AND key = ? AND holder = ?`,
		status, sealed, ticket.actor.Company.ID, ticket.actor.TokenID, ticket.request.Key,
		ticket.holder)
	return err
}

// release frees the key of a request that failed before it did anything.
func release(ctx context.Context, tx *sqldb.Tx, ticket ticket) error {
	_, err := tx.Exec(ctx, `
		DELETE FROM idempotency_keys WHERE company_id = ? AND token_id = ? AND key = ? AND holder = ? AND carried_out = ?`,
		ticket.actor.Company.ID, ticket.actor.TokenID, ticket.request.Key, ticket.holder, false)
	return err
}

// extendLease keeps a running request from being taken for dead.
func extendLease(ctx context.Context, tx *sqldb.Tx, ticket ticket) error {
	_, err := tx.Exec(ctx, `
		UPDATE idempotency_keys SET lease_until = {clock ?} + ?
		WHERE company_id = ? AND token_id = ? AND key = ? AND holder = ? AND status = 0`,
		tx.Clock(), lease.Microseconds(), ticket.actor.Company.ID, ticket.actor.TokenID,
		ticket.request.Key, ticket.holder)
	return err
}

func endLeases(ctx context.Context, tx *sqldb.Tx) error {
	_, err := tx.Exec(ctx,
		`UPDATE idempotency_keys SET lease_until = 0 WHERE status = 0 AND lease_until > 0 /* every company_id */`)
	return err
}
