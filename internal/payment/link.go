package payment

import (
	"context"
	"errors"
	"time"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/id"
	"carteira/internal/platform/money"
	"carteira/internal/platform/rows"
	"carteira/internal/platform/sqldb"
)

// Link is where an invoice can be paid.
type Link struct {
	Invoice   billing.Invoice
	URL       string      // our own page; it stays the same whatever charges the invoice has
	Amount    money.Cents // what pays it today; what it cost, when it is not open
	Payable   bool        // there is something to pay, and the company has a gateway
	Methods   []Flow
	Provider  string    // empty: the company has no gateway
	ExpiresAt time.Time // of the charge that can be paid now; zero when there is none
	Current   *Payable  // that charge; nil when there is none
}

func (s *Service) payURL(code string) string {
	return s.options.PublicURL + "/pay/" + code
}

// PaymentLink returns where an invoice can be paid. It calls no gateway: the
// charge is made when a payer opens the page.
func (s *Service) PaymentLink(ctx context.Context, actor account.Actor, invoiceID int64) (Link, error) {
	invoice, err := s.billing.Find(ctx, actor, invoiceID)
	if err != nil {
		return Link{}, err
	}
	code, err := s.codeOf(ctx, actor, invoiceID)
	if err != nil {
		return Link{}, err
	}
	wanted := owed{actor.Company, invoice, s.db.Now()}
	due := wanted.due()
	link := Link{Invoice: invoice, URL: s.payURL(code), Amount: due.Total, Methods: []Flow{}}
	if invoice.Status == billing.Open {
		link.Amount = due.Rest
	}
	setup, has, err := s.activeIf(ctx, actor.Company.ID)
	if !has {
		return link, err
	}
	link.Provider = setup.name
	if due.Rest > 0 {
		link.Payable, link.Methods = true, []Flow{s.flow(setup)}
	}
	charge, found, err := s.current(ctx, wanted, setup)
	if found {
		payable := payableOf(wanted, charge)
		link.ExpiresAt, link.Current = charge.ExpiresAt, &payable
	}
	return link, err
}

// codeOf reads the code of an invoice's page; the first call makes it.
func (s *Service) codeOf(ctx context.Context, actor account.Actor, invoiceID int64) (string, error) {
	code, err := codeOfInvoice(ctx, s.db, actor.Company.ID, invoiceID)
	if !errors.Is(err, sqldb.ErrNotFound) {
		return code, err
	}
	err = actor.Write(ctx, s.db, func(tx account.Tx) (err error) {
		if _, err := billing.LockTx(ctx, tx, invoiceID); err != nil { // it may be deleted meanwhile
			return err
		}
		code, err = payCode(ctx, tx.Tx, actor.Company.ID, invoiceID)
		return err
	})
	return code, err
}

// PayPages returns where invoices can be paid, by invoice, for those that can: open
// ones of a company that has a gateway. It calls no gateway.
func (s *Service) PayPages(ctx context.Context, actor account.Actor, invoices []billing.Invoice) (map[int64]string, error) {
	var open []int64
	for i := range invoices {
		if invoices[i].Status == billing.Open {
			open = append(open, invoices[i].ID)
		}
	}
	if len(open) == 0 || !actor.Company.Subscription.Functions.Has(account.FunctionPayments) {
		return nil, nil
	}
	if _, has, err := s.activeIf(ctx, actor.Company.ID); !has {
		return nil, err
	}
	pages, err := rows.Map[int64, string](ctx, s.db,
		`SELECT invoice_id, code FROM pay_links WHERE company_id = ? AND invoice_id {in ?}`, actor.Company.ID, open)
	if err != nil {
		return nil, err
	}
	for _, invoiceID := range open {
		code := pages[invoiceID]
		if code == "" { // older than pages are: it gets one now
			code, err = s.codeOf(ctx, actor, invoiceID)
		}
		switch {
		case fault.KindOf(err) == fault.KindNotFound: // deleted since it was read
			continue
		case err != nil:
			return nil, err
		}
		pages[invoiceID] = s.payURL(code)
	}
	return pages, nil
}

// linkTx is the address of the payer's page of an invoice.
func (s *Service) linkTx(ctx context.Context, tx *sqldb.Tx, companyID, invoiceID int64) (string, error) {
	code, err := payCode(ctx, tx, companyID, invoiceID)
	return s.payURL(code), err
}

// newLinkTx is linkTx for an invoice that is being issued, which has no page yet.
func (s *Service) newLinkTx(ctx context.Context, tx *sqldb.Tx, companyID, invoiceID int64) (string, error) {
	code := id.NewLink(tx.Now())
	return s.payURL(code), insertPayLink(ctx, tx, companyID, invoiceID, code)
}

// current finds the charge of an invoice that can be paid now.
func (s *Service) current(ctx context.Context, wanted owed, setup Setup) (charge, bool, error) {
	list, err := unsettled(ctx, s.db, setup.CompanyID, wanted.invoice.ID)
	if err != nil || wanted.invoice.Status != billing.Open {
		return charge{}, false, err
	}
	for _, charge := range list {
		if charge.state == pending && charge.gatewayID == setup.ID && wanted.fits(charge) {
			return charge, true, nil
		}
	}
	return charge{}, false, nil
}

// Page is what the payer's page shows.
type Page struct {
	Company   account.Company
	Invoice   billing.Invoice
	Due       billing.Payable // what pays it today
	Provider  Provider        // the zero one: the company has no gateway
	Ready     bool            // there is a charge that can be paid, in Payable
	Payable   Payable
	Simulated bool // no money moves: there is a button that pretends
	// RetryAt is when the gateway may be called again after it failed: visitors
	// cannot hammer it.
	RetryAt time.Time
	Refused bool // the gateway said no to the last charge: asking again is of no use
	// DebitOn is when the invoice will be debited by PIX Automático; zero: no debit
	// is announced.
	DebitOn civil.Date
	// Authorises says that the code pays and authorises the debits that follow.
	Authorises bool
	// MayAuthorise says that the payer can have such a code. Only OpenPage knows.
	MayAuthorise bool

	setup Setup
}

// has reports whether the page has a code of a kind.
func (p Page) has(kind codeKind) bool {
	return p.Ready && (kind == anyCode || p.Authorises == (kind == authorisingCode))
}

// retryPause is how long the page waits after a gateway has failed.
const retryPause = 10 * time.Second

// Page finds what a page shows by its code, and calls no gateway.
func (s *Service) Page(ctx context.Context, code string) (Page, error) {
	companyID, invoiceID, err := invoiceOfCode(ctx, s.db, code)
	if err != nil {
		return Page{}, err
	}
	company, err := account.FindCompany(ctx, s.db, companyID)
	if err != nil {
		return Page{}, err
	}
	page := Page{Company: company}
	visitor := account.System(company, "checkout")
	if page.Invoice, err = s.billing.Find(ctx, visitor, invoiceID); err != nil {
		return page, err
	}
	page.Due = owed{company, page.Invoice, s.db.Now()}.due()
	setup, has, err := s.activeIf(ctx, companyID)
	if !has {
		return page, err
	}
	err = s.fill(ctx, &page, setup)
	return page, err
}

func (s *Service) fill(ctx context.Context, page *Page, setup Setup) error {
	page.Provider, page.setup = setup.Provider, setup
	_, page.Simulated = s.options.Simulate[setup.name]
	wanted := owed{page.Company, page.Invoice, s.db.Now()}
	charge, found, err := s.current(ctx, wanted, setup)
	if err != nil {
		return err
	}
	if found {
		page.Ready, page.Authorises = true, charge.authorises()
		page.Payable = payableOf(wanted, charge)
		return nil
	}
	announced, err := announcedOn(ctx, s.db, setup.CompanyID, page.Invoice.ID)
	if err != nil {
		return err
	}
	page.DebitOn = announced[page.Invoice.ID]
	failedAt, err := lastFailure(ctx, s.db, setup.CompanyID, page.Invoice.ID)
	if !failedAt.IsZero() {
		page.RetryAt = failedAt.Add(retryPause)
	}
	if err == nil {
		page.Refused, err = lastRefused(ctx, s.db, setup.CompanyID, page.Invoice.ID)
	}
	if setup.blocked(s.db.Now()) && setup.resumeAt.After(page.RetryAt) {
		page.RetryAt = setup.resumeAt
	}
	return err
}

// OpenPage is Page for a visitor: without a charge that can be paid, one is
// made, unless the gateway has just failed to or a debit is announced. What the
// gateway failed with comes with the page.
func (s *Service) OpenPage(ctx context.Context, code string) (Page, error) {
	page, err := s.Page(ctx, code)
	if err != nil || !page.DebitOn.IsZero() && page.Invoice.Status == billing.Open {
		return page, err
	}
	page, err = s.chargePage(ctx, code, page, anyCode)
	if err == nil && page.Ready {
		page.MayAuthorise, err = s.mayAuthorise(ctx, page)
	}
	return page, err
}

// PayInstead is OpenPage for a visitor who wants a code that pays this invoice and
// nothing else: a debit that is announced, or a code that authorises, is cancelled
// first.
func (s *Service) PayInstead(ctx context.Context, code string) (Page, error) {
	return s.exchangeCode(ctx, code, plainCode)
}

// PayAndAuthorise is OpenPage for a visitor who wants a code that authorises the
// debits that follow.
func (s *Service) PayAndAuthorise(ctx context.Context, code string) (Page, error) {
	return s.exchangeCode(ctx, code, authorisingCode)
}

func (s *Service) exchangeCode(ctx context.Context, code string, kind codeKind) (Page, error) {
	page, err := s.Page(ctx, code)
	if err != nil || page.has(kind) {
		return page, err
	}
	recent, err := sqldb.Value[int64](ctx, s.db, `SELECT COUNT(*) FROM charges
		WHERE company_id = ? AND invoice_id = ? AND created_at > ?`,
		page.Company.ID, page.Invoice.ID, s.db.Now().Add(-exchangeSpan).UnixMicro())
	switch {
	case err != nil:
		return page, err
	case recent >= maxExchanges:
		return page, fault.Later(errExchanged, exchangeSpan)
	}
	return s.chargePage(ctx, code, page, kind)
}

// A visitor can have so many charges made for an invoice in a while by exchanging
// codes: each is a call of the company's gateway, and one that authorises leaves an
// authorisation there, too.
const (
	maxExchanges = 10
	exchangeSpan = time.Hour
)

var errExchanged = fault.New(fault.KindRateLimited,
	"the code of this invoice was exchanged too often; pay the one that is there, or wait an hour")

func (s *Service) chargePage(ctx context.Context, code string, page Page, kind codeKind) (Page, error) {
	if page.has(kind) || page.Invoice.Status != billing.Open || page.Provider.Name == "" {
		return page, nil
	}
	if !page.Company.Subscription.Functions.Has(account.FunctionPayments) {
		page.Provider = Provider{} // the plan lacks it: for the payer it is as if there were none
		return page, nil
	}
	if page.RetryAt.After(s.db.Now()) {
		return page, fault.Upstream("the payment gateway is not working at the moment; try again in a little while", nil)
	}
	_, failure := s.chargeWith(ctx, account.System(page.Company, "checkout"), page.Invoice.ID, kind)
	after, err := s.Page(ctx, code)
	if err == nil && after.Invoice.Status == billing.Open && !after.has(kind) {
		err = failure
	}
	return after, err
}

// Simulate pays the charge of a page at a gateway that only pretends, and records
// the payment at once.
func (s *Service) Simulate(ctx context.Context, code string) error {
	page, err := s.Page(ctx, code)
	if err != nil {
		return err
	}
	setup, err := s.active(ctx, s.db, page.Company.ID)
	if err != nil {
		return err
	}
	pay, pretends := s.options.Simulate[setup.name]
	if !pretends {
		return fault.Forbidden("payments of this company are real")
	}
	charge, found, err := s.current(ctx, owed{page.Company, page.Invoice, s.db.Now()}, setup)
	if err != nil || !found {
		return err
	}
	about := callAbout{setup, "simulate", charge.order.Reference}
	err = s.call(ctx, about, func(ctx context.Context) error { return pay(ctx, charge.ID) })
	if err != nil {
		return err
	}
	charge.claim = "" // the gateway is asked under none
	return s.fetchNow(ctx, check{setup, charge})
}

// fetchNow settles a charge while a caller waits, independent of the engine.
func (s *Service) fetchNow(ctx context.Context, work check) error {
	report, err := s.report(ctx, work)
	if err != nil {
		return explain(work.setup, err)
	}
	return s.settle(ctx, work, report)
}
