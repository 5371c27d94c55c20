package webhook

import (
	"context"

	"carteira/internal/platform/checkup"
	"carteira/internal/platform/sqldb"
)

// CheckQueue compares the queue with the deliveries that are pending. Neither
// may have what the other has not: it would never be sent, or sent for nobody.
func (s *Service) CheckQueue(ctx context.Context) (checkup.Finding, error) {
	unqueued, err := sqldb.Value[int64](sqldb.WithoutDeadline(ctx), s.db, `
		SELECT count(*) FROM deliveries d WHERE d.status = 'pending'
			AND NOT EXISTS (SELECT 1 FROM delivery_queue q WHERE q.delivery_id = d.id) /* every company_id */`)
	if err != nil {
		return checkup.Finding{}, err
	}
	unneeded, err := sqldb.Value[int64](sqldb.WithoutDeadline(ctx), s.db, `
		SELECT count(*) FROM delivery_queue q WHERE NOT EXISTS (
			SELECT 1 FROM deliveries d WHERE d.id = q.delivery_id AND d.status = 'pending') /* every company_id */`)
	if err != nil {
		return checkup.Finding{}, err
	}
	if unqueued+unneeded > 0 {
		return checkup.Bad("resend what is pending with POST /webhooks/deliveries/{id}/resend",
			"%d pending deliveries are not in the queue, and %d in the queue are not pending",
			unqueued, unneeded), nil
	}
	return checkup.Good("queue and deliveries agree"), nil
}

// CheckWebhooks looks for webhooks that were switched off because they failed.
func (s *Service) CheckWebhooks(ctx context.Context) (checkup.Finding, error) {
	off, err := sqldb.Values[int64](ctx, s.db, `
		SELECT id FROM webhooks WHERE disabled_at IS NOT NULL AND notice <> '' ORDER BY id /* every company_id */`)
	if err != nil {
		return checkup.Finding{}, err
	}
	if len(off) > 0 {
		return checkup.Warn("repair their receivers and switch them on again in the panel",
			"%d webhooks were switched off by their failures, the first are %v", len(off),
			off[:min(len(off), 5)]), nil
	}
	return checkup.Good("no webhook was switched off by failures"), nil
}
