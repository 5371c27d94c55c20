// Package billing owns invoices and the ledger of the money that came for them:
// it issues invoices ahead of every due date, records every payment and refund,
// and decides what a payment renews. It does not own how money is collected:
// payment does, and calls ReceiveTx when some has come.
package billing

import (
	"context"
	"time"

	"carteira/internal/account"
	"carteira/internal/customer"
	"carteira/internal/event"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/money"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/watch"
)

// Invoice is what a customer owes, or has paid, for a due date.
type Invoice struct {
	ID          int64
	Customer    Customer
	Generated   bool // issued for a due date; false: an extra one
	Status      Status
	Amount      money.Cents
	Description string
	DueOn       civil.Date
	IssuedFor   civil.Date   // the customer's due date that its payment renews; zero: an extra one
	Period      civil.Period // by which its payment renews; zero: it renews nothing
	Plan        customer.Plan
	Product     customer.Product
	PaidAt      time.Time // zero: not paid; by the company's clock of then, as is CreatedAt
	PaidOn      civil.Date
	PaidVia     string
	Note        string
	CreatedAt   time.Time
	UpdatedAt   time.Time
	Received    money.Cents // what came for it and did not go back
	OwnDiscount OwnDiscount // in place of the company's
	Edited      bool        // by hand: it no longer follows its customer
	Superseded  bool        // another was issued for its due date
	Withdrawn   Withdrawal  // why the program cancelled it; empty: it did not

	// As they were when it was paid; zero while it is not.
	LateFee      money.Cents
	LateInterest money.Cents
	Discount     money.Cents
	Forgiven     money.Cents // less money came, and a person said that it is enough

	renewal renewal
}

// Customer is what an invoice's record shows of the customer.
type Customer struct {
	ID   int64
	UUID string
	Name string

	// For events.
	Whatsapp   string
	Email      string
	ExternalID string
}

// renewal is what the payment of an invoice did to its customer's due date.
type renewal struct {
	from, to civil.Date // to is zero when it did nothing
	ownDay   int        // before
	on       civil.Date // the day on which it counts
}

// Overdue reports whether the invoice should have been paid before today.
func (i Invoice) Overdue(today civil.Date) bool {
	return i.Status == Open && i.DueOn.Before(today)
}

// DaysLate is for how many days it has been overdue; 0 when it is not.
func (i Invoice) DaysLate(today civil.Date) int {
	if !i.Overdue(today) {
		return 0
	}
	return today.Sub(i.DueOn)
}

// Renewed reports whether its payment moved the customer's due date, and that
// stands.
func (i Invoice) Renewed() bool { return !i.renewal.to.IsZero() }

// RenewedTo is the due date to which its payment moved the customer; zero: it did
// not, or that was taken back.
func (i Invoice) RenewedTo() civil.Date { return i.renewal.to }

// Service has the use cases.
type Service struct {
	db        *sqldb.DB
	events    *event.Log
	customers *customer.Service
	watchers  watch.List[Changes]
	links     Links
}

// New makes the service, which from then on watches customers: one who is
// created with a plan and a date is billed, one whose date moves is billed for
// the new date in time, and the invoices of one who is deleted are deleted.
func New(db *sqldb.DB, events *event.Log, customers *customer.Service) *Service {
	service := &Service{db: db, events: events, customers: customers}
	customers.Watch(service.customersChanged)
	customers.WatchRepriced(service.planRepriced)
	return service
}

// Customers is the room that this one issues invoices for.
func (s *Service) Customers() *customer.Service { return s.customers }

// Find returns an invoice of the company.
func (s *Service) Find(ctx context.Context, actor account.Actor, id int64) (Invoice, error) {
	return byID(ctx, s.db, actor.Company.ID, id)
}
