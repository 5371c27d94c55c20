package payment

import (
	"context"
	"errors"
	"time"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/customer"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/id"
	"carteira/internal/platform/money"
	"carteira/internal/platform/sqldb"
)

// CustomerLink is the address of a customer's own page. Its code is all that
// opens the page, until the company withdraws it.
type CustomerLink struct {
	URL      string // "": there is none
	SharedAt time.Time
}

// customerPageCode is how many letters a code has: more than anybody can try.
const customerPageCode = 32

func (s *Service) customerLink(page customerPage) CustomerLink {
	return CustomerLink{URL: s.options.PublicURL + "/my/" + page.code, SharedAt: page.createdAt}
}

// CustomerPageLink returns the address of a customer's own page; the zero one
// where there is none.
func (s *Service) CustomerPageLink(ctx context.Context, actor account.Actor, customerID int64) (CustomerLink, error) {
	page, err := pageOfCustomer(ctx, s.db, actor.Company.ID, customerID)
	if errors.Is(err, sqldb.ErrNotFound) {
		return CustomerLink{}, nil
	}
	if err != nil {
		return CustomerLink{}, err
	}
	return s.customerLink(page), nil
}

// ShareCustomerPage opens the customer's own page. One that is open already keeps
// its address.
func (s *Service) ShareCustomerPage(ctx context.Context, actor account.Actor, customerID int64) (CustomerLink, error) {
	return account.Write(ctx, actor, s.db, func(tx account.Tx) (link CustomerLink, err error) {
		record, err := customer.FindTx(ctx, tx, customerID)
		if err != nil {
			return link, err
		}
		page, err := pageOfCustomer(ctx, tx, actor.Company.ID, customerID)
		if errors.Is(err, sqldb.ErrNotFound) {
			page = customerPage{record, id.NewCode(customerPageCode), tx.Now()}
			if err = applyCustomerPage(ctx, tx, customerPageChange{after: &page}); err != nil {
				return link, err
			}
			page, err = pageOfCustomer(ctx, tx, actor.Company.ID, customerID) // another process may have been first
		}
		link = s.customerLink(page)
		return link, err
	})
}

// WithdrawCustomerPage closes the customer's own page: its address leads nowhere
// from then on, and another one is made when the page is shared again.
func (s *Service) WithdrawCustomerPage(ctx context.Context, actor account.Actor, customerID int64) error {
	return actor.Write(ctx, s.db, func(tx account.Tx) error {
		record, err := customer.FindTx(ctx, tx, customerID)
		if err != nil {
			return err
		}
		page, err := pageOfCustomer(ctx, tx, actor.Company.ID, customerID)
		if errors.Is(err, sqldb.ErrNotFound) {
			return nil
		}
		page.customer = record
		if err != nil {
			return err
		}
		return applyCustomerPage(ctx, tx, customerPageChange{before: &page})
	})
}

// customerPage is a page that is open.
type customerPage struct {
	customer  customer.Customer
	code      string
	createdAt time.Time
}

// customerPageChange opens a page or closes one.
type customerPageChange struct{ before, after *customerPage }

// applyCustomerPage writes whether a customer's page is open, and the audit line.
// The line never has the code.
func applyCustomerPage(ctx context.Context, tx account.Tx, change customerPageChange) error {
	entry := account.AuditEntry{Action: "customer.page_shared", Record: "customer"}
	page, write := change.after, insertCustomerPage
	if change.after == nil {
		entry.Action = "customer.page_withdrawn"
		page, write = change.before, deleteCustomerPage
	}
	if err := write(ctx, tx.Tx, tx.Company.ID, *page); err != nil {
		return err
	}
	entry.ID, entry.Name = page.customer.ID, page.customer.Name
	return account.WriteAudit(ctx, tx, entry)
}

// CustomerPage is what a customer's own page shows.
type CustomerPage struct {
	Company  account.Company
	Customer customer.Customer
	Open     []OpenInvoice // the oldest debt first
	Settled  []billing.Invoice
	Total    money.Cents // what pays all of Open today
	More     bool        // there are older invoices
}

// OpenInvoice is an invoice with what pays it today.
type OpenInvoice struct {
	billing.Invoice
	Due     billing.Payable
	Overdue bool
}

// customerPageInvoices is how many invoices a page shows.
const customerPageInvoices = 60

// CustomerPage finds what the page of a code shows. It calls no gateway.
func (s *Service) CustomerPage(ctx context.Context, code string) (CustomerPage, error) {
	visit, err := s.customerVisit(ctx, code)
	if err != nil {
		return CustomerPage{}, err
	}
	page := CustomerPage{Company: visit.actor.Company, Customer: visit.customer}
	byCustomer, err := s.billing.Latest(ctx, visit.actor, []int64{visit.customer.ID}, customerPageInvoices+1)
	if err != nil {
		return page, err
	}
	invoices := byCustomer[visit.customer.ID]
	if page.More = len(invoices) > customerPageInvoices; page.More {
		invoices = invoices[:customerPageInvoices]
	}
	for _, invoice := range invoices {
		page.add(invoice, s.db.Now())
	}
	return page, nil
}

// add sorts an invoice, the newest of which come first, into the page.
func (p *CustomerPage) add(invoice billing.Invoice, now time.Time) {
	switch invoice.Status {
	case billing.Open:
		today := account.Actor{Company: p.Company}.Today(now)
		due := invoice.PayableOn(p.Company, today)
		p.Open = append([]OpenInvoice{{invoice, due, invoice.Overdue(today)}}, p.Open...)
		p.Total += due.Rest
	case billing.Paid:
		p.Settled = append(p.Settled, invoice)
	case billing.Cancelled: // there is nothing to pay and nothing to prove
	}
}

// CustomerInvoice finds an invoice of the customer of a page's code.
func (s *Service) CustomerInvoice(
	ctx context.Context, code string, invoiceID int64,
) (account.Company, billing.Invoice, error) {
	visit, err := s.customerVisit(ctx, code)
	if err != nil {
		return account.Company{}, billing.Invoice{}, err
	}
	invoice, err := s.billing.Find(ctx, visit.actor, invoiceID)
	if err == nil && invoice.Customer.ID != visit.customer.ID {
		err = fault.NotFound("invoice")
	}
	return visit.actor.Company, invoice, err
}

// CustomerPayURL is where the customer of a page's code pays an invoice.
func (s *Service) CustomerPayURL(ctx context.Context, code string, invoiceID int64) (string, error) {
	company, invoice, err := s.CustomerInvoice(ctx, code, invoiceID)
	if err != nil {
		return "", err
	}
	payCode, err := s.codeOf(ctx, account.System(company, "customer's page"), invoice.ID)
	return "/pay/" + payCode, err
}

// CustomerActor is the customer of a page's code, for what customers decide
// about themselves; address is where the request came from.
func (s *Service) CustomerActor(ctx context.Context, code, address string) (account.Actor, int64, error) {
	visit, err := s.customerVisit(ctx, code)
	if err != nil {
		return account.Actor{}, 0, err
	}
	actor := account.Actor{Company: visit.actor.Company, Name: visit.customer.Name, From: address}
	return actor, visit.customer.ID, nil
}

// customerVisit is a visit of a customer's own page.
type customerVisit struct {
	actor    account.Actor
	customer customer.Customer
}

func (s *Service) customerVisit(ctx context.Context, code string) (customerVisit, error) {
	companyID, customerID, err := customerOfCode(ctx, s.db, code)
	if err != nil {
		return customerVisit{}, err
	}
	company, err := account.FindCompany(ctx, s.db, companyID)
	if err != nil {
		return customerVisit{}, err
	}
	visit := customerVisit{actor: account.System(company, "customer's page")}
	visit.customer, err = customer.FindIn(ctx, s.db, visit.actor, customerID)
	return visit, err
}

// KeptAbout lists what this room keeps about a customer. The code of a page is no fact about the customer, and opens
// it; the file of a notice is shown in the panel.
func (s *Service) KeptAbout(
	ctx context.Context, querier sqldb.Querier, actor account.Actor, subject account.DataSubject,
) ([]account.Kept, error) {
	return account.ReadKept(ctx, querier, []any{actor.Company.ID, subject.CustomerID},
		`SELECT id, provider, invoice_id, customer_name, reference, gateway_ref, amount_cents, state, created_at, updated_at
			FROM charges WHERE company_id = ? AND customer_id = ? ORDER BY id`,
		`SELECT created_at FROM customer_pages WHERE company_id = ? AND customer_id = ?`,
		`SELECT id, provider, reference, gateway_ref, journey, account, every, state, ended_by, reason, created_at, updated_at
			FROM authorisations WHERE company_id = ? AND customer_id = ? ORDER BY id`,
		`SELECT id, invoice_id, kind, created_at FROM paid_notices WHERE company_id = ? AND customer_id = ? ORDER BY id`)
}

// EraseTx takes the customer's name off charges, and the bank account off
// authorisations. The money stays: the law makes a company keep its books.
func (s *Service) EraseTx(ctx context.Context, tx account.Tx, subject account.DataSubject) error {
	return errors.Join(
		tx.Do(ctx, `UPDATE authorisations SET account = '' WHERE company_id = ? AND customer_id = ?`,
			tx.Company.ID, subject.CustomerID),
		tx.Do(ctx, `UPDATE charges SET customer_name = '' WHERE company_id = ? AND customer_id = ?`,
			tx.Company.ID, subject.CustomerID))
}
