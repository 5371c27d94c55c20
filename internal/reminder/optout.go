package reminder

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"carteira/internal/account"
	"carteira/internal/platform/fault"
)

// optOutContext seals opt-out links and nothing else.
const optOutContext = "reminder-optout"

// OptOutURL is the address by which a customer stops messages, without signing in.
// It is sealed, so that nobody can make one for another customer; it opens as long
// as the key that sealed it is configured.
func (s *Service) OptOutURL(companyID, customerID int64) string {
	if s.options.PublicURL == "" || s.options.Unreachable || customerID == 0 {
		return ""
	}
	token := s.box.Seal(fmt.Appendf(nil, "%d.%d", companyID, customerID), optOutContext)
	return s.options.PublicURL + "/unsubscribe/" + token
}

// OptOutLink is an opt-out link that somebody has opened.
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
