package payment

import (
	"context"
	"errors"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/checkup"
	"carteira/internal/platform/sqldb"
)

// lateCheck is how long a charge may wait to be looked after before something
// is wrong with the server that should.
const lateCheck = time.Hour

// CheckCharges looks for invoices that could be paid twice, and for charges
// that nobody looks after.
func (s *Service) CheckCharges(ctx context.Context) (checkup.Finding, error) {
	double, err := sqldb.Values[int64](sqldb.WithoutDeadline(ctx), s.db, `
		SELECT invoice_id FROM charges WHERE state IN ('reserved', 'pending')
		GROUP BY company_id, invoice_id HAVING count(*) > 1 ORDER BY invoice_id LIMIT 100 /* every company_id */`)
	if err != nil {
		return checkup.Finding{}, err
	}
	if len(double) > 0 {
		return checkup.Bad("cancel all but one of the charges in the panel",
			"%d invoices have more than one charge that can be paid, the first are %v", len(double),
			double[:min(len(double), 5)]), nil
	}
	late, err := sqldb.Value[int64](ctx, s.db, `
		SELECT count(*) FROM charges WHERE next_check_at < ? /* every company_id */`, s.db.Now().Add(-lateCheck).UnixMicro())
	if err != nil {
		return checkup.Finding{}, err
	}
	if late > 0 {
		return checkup.Warn("start the server, or see its log for \"settle charges\"",
			"%d charges should have been asked after more than an hour ago", late), nil
	}
	return checkup.Good("no invoice has two charges, and all are looked after"), nil
}

// CheckReviews counts the payments that wait for a person.
func (s *Service) CheckReviews(ctx context.Context) (checkup.Finding, error) {
	open, err := sqldb.Value[int64](ctx, s.db, `
		SELECT count(*) FROM payment_reviews WHERE resolved_at IS NULL /* every company_id */`)
	if err != nil {
		return checkup.Finding{}, err
	}
	if open > 0 {
		return checkup.Warn("decide about them in the panel, under payments", "%d payments wait for a person", open), nil
	}
	return checkup.Good("no payment waits for a person"), nil
}

// AskGateway asks the company's gateway whether the credentials work, and
// records nothing of it. A company without a gateway is not asked about.
func (s *Service) AskGateway(ctx context.Context, actor account.Actor) (asked int, err error) {
	setup, err := activeSetup(ctx, s.db, actor.Company.ID)
	if errors.Is(err, sqldb.ErrNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	setup.Provider = s.providers[setup.name]
	gateway, err := s.open(setup)
	if err != nil {
		return 1, err
	}
	err = s.call(ctx, callAbout{setup, "check", ""}, func(ctx context.Context) error {
		return gateway.Check(ctx)
	})
	return 1, explain(setup, err)
}
