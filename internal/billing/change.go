package billing

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"carteira/internal/account"
	"carteira/internal/event"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/money"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/watch"
)

// Action is what happened to an invoice, as the audit log names it.
type Action string

// The actions.
const (
	ActionCreated Action = "invoice.created"
	ActionUpdated Action = "invoice.updated"
	ActionDeleted Action = "invoice.deleted"
)

// Change is one change of an invoice's record. Before is zero for an invoice
// that is issued, After for one that is deleted.
type Change struct {
	Action        Action
	Before, After Invoice

	payments []paymentChange // money that comes or goes with it
	chosen   bool            // a person had the invoice of a due date issued
	first    bool            // its customer is being created in the same transaction
	held     bool            // a debit is arranged for its new day, or was for the old one
	turnOf   int64           // an older open invoice with which it changes the due dates that they renew; 0: none
}

// Invoice is the record that the change is about.
func (c Change) Invoice() Invoice {
	if c.Action == ActionDeleted {
		return c.Before
	}
	return c.After
}

// OfNewCustomer reports whether the invoice is the first of a customer who is
// being created in the same transaction: nothing else can refer to that one yet.
func (c Change) OfNewCustomer() bool { return c.first }

// CostsOther reports whether another amount pays the invoice than before the
// change.
func (c Change) CostsOther() bool {
	return c.Action == ActionUpdated && !c.held &&
		(c.Before.Received != c.After.Received || c.Before.Amount != c.After.Amount || c.Before.DueOn != c.After.DueOn ||
			c.Before.OwnDiscount != c.After.OwnDiscount)
}

// ByGateway reports whether a gateway reported the money that comes with the
// change, so that no person can undo it by a click.
func (c Change) ByGateway() bool {
	return slices.ContainsFunc(c.payments, func(came paymentChange) bool { return !came.after.byPerson() })
}

// Changes are changes of invoices.
type Changes = account.ChangesOf[Change]

// Watch adds a room above this one that acts when invoices change. It is called
// after the row is written, or before it is deleted.
func (s *Service) Watch(watcher watch.Watcher[Changes]) {
	s.watchers.Watch(watcher)
}

// errIssued says that the customer has an invoice for the due date.
var errIssued = errors.New("the invoice has been issued")

// apply writes a change and draws its consequences: row, payments, counts, audit
// line, event, watchers. It and applyDeletion are the only places that write an
// invoice's row.
func (s *Service) apply(ctx context.Context, tx account.Tx, change *Change) error {
	if err := writeRow(ctx, tx, change); err != nil {
		return err
	}
	for n := range change.payments {
		if err := s.applyPayment(ctx, tx, &change.payments[n]); err != nil {
			return err
		}
	}
	if err := countChange(ctx, tx, *change); err != nil {
		return err
	}
	if err := auditChange(ctx, tx, *change); err != nil {
		return err
	}
	if err := s.recordEvent(ctx, tx, *change); err != nil {
		return err
	}
	return s.watchers.Tell(ctx, tx.Tx, Changes{Actor: tx.Actor, List: []Change{*change}})
}

// applyDeletion is apply for all invoices of a customer who is deleted, in as
// few statements as for one. Watchers come first, since their rows refer to
// the invoices. There is no audit line and no event: those of the customer say
// it.
func (s *Service) applyDeletion(ctx context.Context, tx account.Tx, deleted []Change) error {
	if len(deleted) == 0 {
		return nil
	}
	if err := s.watchers.Tell(ctx, tx.Tx, Changes{Actor: tx.Actor, List: deleted}); err != nil {
		return err
	}
	if err := remove(ctx, tx, idsOf(deleted)); err != nil {
		return err
	}
	return countChange(ctx, tx, deleted...)
}

func idsOf(changes []Change) []int64 {
	ids := make([]int64, len(changes))
	for n, change := range changes {
		ids[n] = change.Invoice().ID
	}
	return ids
}

func writeRow(ctx context.Context, tx account.Tx, change *Change) error {
	if change.Action != ActionCreated {
		change.After.UpdatedAt = tx.Now()
		return updateRow(ctx, tx, *change)
	}
	change.After.UpdatedAt = change.After.CreatedAt
	change.After.CreatedAt = change.After.CreatedAt.In(tx.Company.Zone)
	id, err := insert(ctx, tx, change.After)
	if err == nil && id == 0 {
		return errIssued
	}
	change.After.ID = id
	return err
}

// auditChange writes no line for an invoice that a due date brings: no person
// chose it, and the customer's line has the date.
func auditChange(ctx context.Context, tx account.Tx, change Change) error {
	if change.Action == ActionCreated && change.After.Generated && !change.chosen {
		return nil
	}
	return account.WriteAudit(ctx, tx, account.AuditEntry{
		Action: string(change.Action),
		Record: "invoice",
		ID:     change.After.ID,
		Name:   change.After.Customer.Name,
		Before: auditFields(change.Before),
		After:  auditFields(change.After),
	})
}

func (s *Service) recordEvent(ctx context.Context, tx account.Tx, change Change) error {
	data, err := s.eventData(ctx, tx, change)
	if err != nil {
		return err
	}
	return s.events.Record(ctx, tx.Tx, tx.Actor.Source(), change.event(), data)
}

// event is what integrators are sent about the change.
func (c Change) event() event.Name {
	switch {
	case c.Action == ActionCreated:
		return event.InvoiceCreated
	case c.Before.Status != Paid && c.After.Status == Paid:
		return event.InvoicePaid
	case c.Before.Status != Cancelled && c.After.Status == Cancelled:
		return event.InvoiceCancelled
	}
	return event.InvoiceUpdated
}

// LockTx reads an invoice for another room's transaction and keeps others from
// changing it, or its customer, until the commit.
func LockTx(ctx context.Context, tx account.Tx, id int64) (Invoice, error) {
	invoice, _, err := lock(ctx, tx, id)
	return invoice, err
}

// The data of the invoice events. Field names are the contract's; golden files
// pin them.

type invoiceInEvent struct {
	ID             int64       `json:"id"`
	TotalAmount    money.Cents `json:"total_amount"`
	Status         Status      `json:"status"`
	DueDate        civil.Date  `json:"due_date"`
	PaidAt         *string     `json:"paid_at"`
	PaidVia        *string     `json:"paid_via"`
	AmountReceived money.Cents `json:"amount_received"`
	PaymentLink    *string     `json:"payment_link"`
}

type owner struct {
	ID         int64   `json:"id"`
	UUID       string  `json:"uuid"`
	Name       string  `json:"name"`
	Whatsapp   *string `json:"whatsapp"`
	Email      *string `json:"email"`
	ExternalID *string `json:"external_id"`
}

// eventData is what the events of an invoice carry: enough to write to the
// customer without another call.
type eventData struct {
	Invoice  invoiceInEvent `json:"invoice"`
	Customer owner          `json:"customer"`
}

// SubjectID is the invoice.
func (d eventData) SubjectID() int64 { return d.Invoice.ID }

// Linker finds the address of the page on which an invoice is paid.
type Linker func(ctx context.Context, tx *sqldb.Tx, companyID, invoiceID int64) (string, error)

// Links are addresses of the pages on which invoices are paid.
type Links struct {
	New Linker // of an invoice that the transaction has issued, and that has no page yet
	Of  Linker // of any other
}

// LinkWith lets events carry the address of the page on which an invoice is
// paid, which a higher room owns. It is called while the program is wired.
func (s *Service) LinkWith(links Links) { s.links = links }

// link finds the address for the event of a change.
func (s *Service) link(ctx context.Context, tx account.Tx, change Change) (*string, error) {
	find := s.links.Of
	if change.Action == ActionCreated {
		find = s.links.New
	}
	if find == nil {
		return nil, nil
	}
	link, err := find(ctx, tx.Tx, tx.Company.ID, change.After.ID)
	if err != nil {
		return nil, fmt.Errorf("link to pay invoice %d: %w", change.After.ID, err)
	}
	return &link, nil
}

func (s *Service) eventData(ctx context.Context, tx account.Tx, change Change) (eventData, error) {
	invoice := change.After
	data := eventData{
		Invoice: invoiceInEvent{
			ID:             invoice.ID,
			TotalAmount:    invoice.Amount,
			Status:         invoice.Status,
			DueDate:        invoice.DueOn,
			PaidAt:         timeOrNull(invoice.PaidAt),
			PaidVia:        textOrNull(invoice.PaidVia),
			AmountReceived: invoice.Received,
		},
		Customer: owner{
			ID:         invoice.Customer.ID,
			UUID:       invoice.Customer.UUID,
			Name:       invoice.Customer.Name,
			Whatsapp:   textOrNull(invoice.Customer.Whatsapp),
			Email:      textOrNull(invoice.Customer.Email),
			ExternalID: textOrNull(invoice.Customer.ExternalID),
		},
	}
	var err error
	data.Invoice.PaymentLink, err = s.link(ctx, tx, change)
	return data, err
}

func textOrNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// timeOrNull is an instant of the books by its own clock, so that its day is the
// one by which it counts.
func timeOrNull(at time.Time) *string {
	if at.IsZero() {
		return nil
	}
	text := civil.Timestamp(at, at.Location())
	return &text
}
