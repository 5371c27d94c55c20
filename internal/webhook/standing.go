package webhook

import (
	"context"
	"errors"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/worker"
	"carteira/internal/webhook/sender"
)

// While a company's subscription has ended or is suspended, or its plan has no
// webhooks, they stop: what happens is recorded and not sent, and can be
// replayed later; what was on its way is parked, and goes on when the company
// is back. The notifications of single invoices are not webhooks, and go out.

// CompanyChanged watches companies.
func (s *Service) CompanyChanged(ctx context.Context, tx *sqldb.Tx, changes account.Changes) error {
	for _, change := range changes.List {
		if change.Before.ID == 0 {
			continue // a new company has no webhooks
		}
		err := s.standingChanged(ctx, tx, change.Before.Company, change.After.Company)
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) standingChanged(ctx context.Context, tx *sqldb.Tx, before, after account.Company) error {
	was, is := before.TellsWebhooks(tx.Now()), after.TellsWebhooks(tx.Now())
	if was == is {
		return nil
	}
	all, err := webhooks(ctx, tx, after.ID)
	if err != nil {
		return err
	}
	var ids []int64
	for _, webhook := range all {
		if webhook.Active || !is {
			ids = append(ids, webhook.ID)
		}
	}
	if !is {
		return sender.Park(ctx, tx, after.ID, ids...)
	}
	tx.OnCommit(func() { s.sender.Wake(ids...) })
	return sender.Unpark(ctx, tx, after.ID, ids...)
}

// Hold parks the pending deliveries of companies with an expired subscription: an
// end by the calendar changes no row. It reads the queue, not every company, so
// an empty queue costs nothing. It may run at any time.
func (s *Service) Hold(ctx context.Context) error {
	newest := civil.Of(s.db.Now().UTC().Add(eastmost))
	ids, err := sqldb.Values[int64](ctx, s.db, stoppedText, newest.String(), newest.String())
	if err != nil {
		return err
	}
	var failures []error
	for _, id := range ids {
		failures = append(failures, worker.Guard(ctx, func() error { return s.holdCompany(ctx, id) }))
	}
	return errors.Join(failures...)
}

// eastmost is how far the earliest time zone is ahead of UTC: no company has a
// later day than that zone.
const eastmost = 14 * time.Hour

func (s *Service) holdCompany(ctx context.Context, companyID int64) error {
	company, err := account.FindCompany(ctx, s.db, companyID)
	if err != nil || company.TellsWebhooks(s.db.Now()) {
		return err
	}
	return account.System(company, "day work").Write(ctx, s.db, func(tx account.Tx) error {
		// It may have been renewed since.
		company, err := account.FindCompany(ctx, tx, companyID)
		if err != nil || company.TellsWebhooks(tx.Now()) {
			return err
		}
		ids, err := sqldb.Values[int64](ctx, tx, `SELECT id FROM webhooks WHERE company_id = ?`, companyID)
		if err != nil {
			return err
		}
		return sender.Park(ctx, tx.Tx, companyID, ids...)
	})
}
