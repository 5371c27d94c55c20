package reminder

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/sqldb"
)

// optOutContext seals opt-out links and nothing else.
const optOutContext = "reminder-optout"

// OptOutURL is the address by which a customer stops messages, without signing in.
// It is sealed, so that it cannot be forged for another customer; it opens as long
// as the key that sealed it is configured.
func (s *Service) OptOutURL(companyID, customerID int64) string {
	if s.options.PublicURL == "" || s.options.Unreachable || customerID == 0 {
		return ""
	}
	token := s.box.Seal(fmt.Appendf(nil, "%d.%d", companyID, customerID), optOutContext)
	return s.options.PublicURL + "/unsubscribe/" + token
}

// OptOutLink is an opt-out link that was opened.
type OptOutLink struct {
	Company  account.Company
	OptedOut bool

	customerID int64
	name       string
}

// OpenOptOut reads an opt-out link. It changes nothing: programs that look
// through mails open every link.
func (s *Service) OpenOptOut(ctx context.Context, token string) (link OptOutLink, err error) {
	companyID, customerID, ok := s.readOptOut(token)
	if !ok {
		return link, fault.NotFound("page")
	}
	if link.Company, err = account.FindCompany(ctx, s.db, companyID); err != nil {
		return link, err
	}
	about, err := customerAbout(ctx, s.db, companyID, customerID)
	link.OptedOut, link.customerID, link.name = about.optedOut, customerID, about.customer.Name
	return link, err
}

func (s *Service) readOptOut(token string) (companyID, customerID int64, ok bool) {
	plain, err := s.box.Open(token, optOutContext)
	if err != nil {
		return 0, 0, false
	}
	first, second, _ := strings.Cut(string(plain), ".")
	companyID, firstErr := strconv.ParseInt(first, 10, 64)
	customerID, secondErr := strconv.ParseInt(second, 10, 64)
	return companyID, customerID, firstErr == nil && secondErr == nil
}

// OptOutByLink stops messages to the customer of a link; a second time changes
// nothing. The company can take it back. from is the caller's address, for the
// audit log.
func (s *Service) OptOutByLink(ctx context.Context, token, from string) (OptOutLink, error) {
	link, err := s.OpenOptOut(ctx, token)
	if err != nil {
		return link, err
	}
	customer := account.Actor{Company: link.Company, Name: link.name, From: from}
	err = s.SetOptOut(ctx, customer, link.customerID, true)
	link.OptedOut = err == nil
	return link, err
}

// A company sends nothing if its plan has no messages, or if its subscription
// has ended or is suspended: nothing is planned for it, and what had been is
// skipped when its hour comes. When the company is back, what still lies ahead
// is planned again; what it missed meanwhile stays missed.

// mutedReason returns why a company sends nothing at an instant; "" when it does.
// It is the one place that knows.
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

// companyChanged plans again for a company that may send again, and moves
// waiting messages after a change of its time zone.
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
		if err := s.restartAll(ctx, program.In(tx), quiet); err != nil {
			return err
		}
	}
	return s.replanAll(ctx, program.In(tx), quiet)
}

// skipAhead moves the rule of a silent company past the due dates without a
// reminder, so that they are not reported one by one later.
func (s *Service) skipAhead(ctx context.Context, tx account.Tx, rule Rule, quiet Quiet) error {
	rule.restart(tx.Actor, quiet, tx.Now())
	rule.planAt = tx.Today(tx.Now()).AddDays(1).Start(tx.Company.Zone)
	return saveCursor(ctx, tx, rule)
}
