package webhook

import (
	"context"

	"carteira/internal/account"
	"carteira/internal/platform/sqldb"
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

func (s *Service) standingChanged(
	ctx context.Context,
	tx *sqldb.Tx,
	before, after account.Company,
) error {
	was, is := before.TellsWebhooks(tx.Now()), after.TellsWebhooks(tx.Now())
	if was == is {
		return nil
	}
	all, err := webhooks(ctx, tx, after.ID)
	if err != nil {
		return err
	}
	for _, webhook := range all {
		switch {
		case !is:
			err = sender.Park(ctx, tx, after.ID, webhook.ID)
		case webhook.Active:
			tx.OnCommit(func() { s.sender.Wake(webhook.ID) })
			err = sender.Unpark(ctx, tx, after.ID, webhook.ID)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Hold parks what is on its way from a company whose subscription has come to
// its end, which is a matter of the calendar and changes no row. It may run at
// any time.
func (s *Service) Hold(ctx context.Context, actor account.Actor) error {
	if actor.Company.TellsWebhooks(s.db.Now()) {
		return nil
	}
	all, err := webhooks(ctx, s.db, actor.Company.ID)
	if err != nil {
		return err
	}
	for _, webhook := range all {
		if pending, err := sender.AnyPending(ctx, s.db, actor.Company.ID, webhook.ID); err != nil || !pending {
			if err != nil {
				return err
			}
			continue
		}
		err := actor.Write(ctx, s.db, func(tx *sqldb.Tx) error {
			// It may have been renewed since.
			company, err := account.FindCompany(ctx, tx, actor.Company.ID)
			if err != nil || company.TellsWebhooks(tx.Now()) {
				return err
			}
			return sender.Park(ctx, tx, actor.Company.ID, webhook.ID)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
