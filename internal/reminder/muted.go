package reminder

import (
	"context"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/sqldb"
)

// A company whose plan has no messages, or whose subscription has ended or is
// suspended, sends nothing: nothing is planned for it, and what had been is
// skipped when its hour comes. When the company is back, what still lies ahead
// is planned anew; what it missed meanwhile stays missed.

// mutedReason tells why a company sends nothing at an instant; "" when it does. It
// is the one place that knows.
func mutedReason(company account.Company, now time.Time) string {
	if !company.Subscription.Functions.Has(account.FunctionReminders) {
		return "the company's subscription plan does not include messages"
	}
	switch company.Standing(now) {
	case account.StandingExpired:
		return "the company's subscription has ended"
	case account.StandingSuspended:
		return "the company is suspended"
	case account.StandingTrial, account.StandingActive:
	}
	if company.StoppedAbove(now) {
		return "a company above this one is expired or suspended"
	}
	return ""
}

// CompanyChanged watches companies. The end of a subscription is a matter of the
// calendar and changes no row: planning and sending look for themselves.
func (s *Service) CompanyChanged(ctx context.Context, tx *sqldb.Tx, changes account.Changes) error {
	for _, change := range changes.List {
		if change.Before.ID == 0 {
			continue // a new company has no messages
		}
		err := s.companyChanged(ctx, tx, change.Before.Company, change.After.Company)
		if err != nil {
			return err
		}
	}
	return nil
}

// companyChanged plans anew for a company that may send again, and moves what
// waits when its clock is another one.
func (s *Service) companyChanged(ctx context.Context, tx *sqldb.Tx, before, after account.Company) error {
	back := mutedReason(before, tx.Now()) != "" && mutedReason(after, tx.Now()) == ""
	if !back && before.Zone.String() == after.Zone.String() {
		return nil
	}
	program := account.System(after, "plan messages")
	quiet, err := quietOf(ctx, tx, after.ID)
	if err != nil {
		return err
	}
	if back {
		if err := s.restartAll(ctx, tx, program, quiet); err != nil {
			return err
		}
	}
	return s.replanAll(ctx, tx, program, quiet)
}

// skipAhead takes the rule of a silent company past the due dates that nobody is
// reminded of, so that they are not told of one by one later.
func (s *Service) skipAhead(ctx context.Context, tx *sqldb.Tx, actor account.Actor, rule Rule, quiet Quiet) error {
	rule.restart(actor, quiet, tx.Now())
	rule.planAt = actor.Today(tx.Now()).AddDays(1).Start(actor.Company.Zone)
	return saveCursor(ctx, tx, actor.Company.ID, rule)
}
