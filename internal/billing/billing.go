// Package billing owns invoices and the ledger of the money that came for them:
// it issues invoices ahead of every due date, records every payment and refund,
// and decides what a payment renews. It does not own how money is collected:
// payment does, and calls ReceiveTx when some has come.
package billing

import (
	"context"
	"database/sql/driver"
	"fmt"
	"slices"
	"strings"
	"time"

	"carteira/internal/account"
	"carteira/internal/billing/terms"
	"carteira/internal/customer"
	"carteira/internal/event"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
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
	Settled      money.Cents // what had come when it was paid: a refund does not change the day of the payment
	Given        money.Cents // of Forgiven: a discount by hand
	WrittenOff   money.Cents // of Forgiven: it will never come; or all of an invoice that was cancelled for that

	WrittenOffOn civil.Date
	TakenOff     money.Cents // a discount by hand that lowered Amount

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

// Renewed reports whether its payment moved the customer's due date and the
// move was not undone.
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

// New makes the service, which from then on watches customers: a new customer
// with a plan and a date is billed, a moved date is billed in time, and the
// invoices of a deleted customer are deleted.
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

// Status is the standing of an invoice. It is a code, which the database and the
// counters store; String is the word that the API, events and people read.
type Status string

// The statuses.
const (
	Open      Status = "open"
	Paid      Status = "paid"
	Cancelled Status = "cancelled"
)

// Statuses lists the statuses in the order in which people read them.
var Statuses = []Status{Open, Paid, Cancelled}

var statusWords = map[Status]string{Open: "Em aberto", Paid: "Pago", Cancelled: "Cancelado"}

// String is the word for the status in the API's contract.
func (s Status) String() string {
	if word, ok := statusWords[s]; ok {
		return word
	}
	return string(s)
}

// MarshalText writes the word, so that JSON has it.
func (s Status) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

func wordsOf(list []Status) []string {
	words := make([]string, len(list))
	for n, status := range list {
		words[n] = status.String()
	}
	return words
}

// readStatus reads the status that a form names by its word; none when it names
// none, or something else, which the form remembers.
func readStatus(in *input.Form) Status {
	return statusOf(in.Choice("status", wordsOf(Statuses)...).Value)
}

func statusOf(word string) Status {
	for status, known := range statusWords {
		if known == word {
			return status
		}
	}
	return ""
}

// transitions is the state machine of an invoice.
var transitions = map[Status][]Status{
	Open:      {Paid, Cancelled},
	Cancelled: {Open},
	Paid:      {Open}, // when persons reported the money: what came through a gateway does not go back by a click
}

// allowed refuses a change of status that the state machine does not have.
func allowed(invoice Invoice, to Status) error {
	next := transitions[invoice.Status]
	if invoice.Superseded && to == Open {
		return fault.Field("status",
			"another invoice was issued for its due date; this one stays "+invoice.Status.String())
	}
	if slices.Contains(next, to) {
		return nil
	}
	return fault.Field("status",
		fmt.Sprintf("an invoice that is %s can only become: %s", invoice.Status, strings.Join(wordsOf(next), ", ")))
}

// errPaidThrough refuses to undo what a gateway reported.
func errPaidThrough(invoice Invoice) error {
	return fault.Field("status", fmt.Sprintf("this invoice was paid through %s and stays %s", invoice.PaidVia, Paid))
}

// OwnDiscount is the discount until the due date that a person gave an invoice,
// in place of the company's. The zero OwnDiscount is none: the company's counts.
type OwnDiscount struct {
	Amount money.Cents
	Given  bool
}

// String is the amount, or nothing.
func (d OwnDiscount) String() string {
	if !d.Given {
		return ""
	}
	return d.Amount.String()
}

// Value stores the amount, and none as NULL.
func (d OwnDiscount) Value() (driver.Value, error) {
	if !d.Given {
		return nil, nil
	}
	return int64(d.Amount), nil
}

// Scan reads what Value stored.
func (d *OwnDiscount) Scan(src any) error {
	switch src := src.(type) {
	case nil:
		*d = OwnDiscount{}
	case int64:
		*d = OwnDiscount{money.Cents(src), true}
	default:
		return fmt.Errorf("scan a discount from %T", src)
	}
	return nil
}

// Payable is what pays an invoice on a day, and how that comes about: the total
// is the face amount with fee and interest, less the discount.
type Payable struct {
	terms.Payable
	Rest money.Cents // what is still to pay; 0 when the invoice is not open
}

// Plain reports whether the face amount is all that the invoice costs.
func (p Payable) Plain() bool {
	return p.Fee == 0 && p.Interest == 0 && p.Discount == 0
}

// PayableOn is what pays the invoice on a day, by the terms of its company. Of a
// paid invoice it is what it cost when it was paid: what a person forgave is part
// of the discount. A cancelled one costs nothing more.
func (i Invoice) PayableOn(company account.Company, on civil.Date) Payable {
	switch i.Status {
	case Open:
		due := i.terms(company).Payable(i.Amount, i.DueOn, on)
		return Payable{due, due.Rest(i.Received)}
	case Paid:
		return Payable{Payable: terms.Payable{
			Fee:      i.LateFee,
			Interest: i.LateInterest,
			Discount: i.Discount + i.Forgiven,
			Total:    i.cost(),
		}}
	default:
		return Payable{Payable: terms.Payable{Total: i.Amount}}
	}
}

// PayableChangesAfter reports whether another amount pays the open invoice on the
// day after.
func (i Invoice) PayableChangesAfter(company account.Company, on civil.Date) bool {
	return i.terms(company).ChangesAfter(i.Amount, i.DueOn, on)
}

// terms are the company's, with the invoice's own discount in place of theirs.
func (i Invoice) terms(company account.Company) terms.Terms {
	settings := company.Settings
	t := terms.Terms{
		LateFeePercent: settings.LateFeePercent, LateInterestPercent: settings.LateInterestPercent,
		DiscountPercent: settings.DiscountPercent, DiscountAmount: settings.DiscountAmount,
	}
	if i.OwnDiscount.Given {
		t.DiscountPercent, t.DiscountAmount = 0, i.OwnDiscount.Amount
	}
	return t
}
