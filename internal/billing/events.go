package billing

import (
	"context"
	"fmt"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/money"
	"carteira/internal/platform/sqldb"
)

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

// eventData is what invoice.created and invoice.paid carry: enough to write to
// the customer without another call.
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
func (s *Service) link(ctx context.Context, tx *sqldb.Tx, actor account.Actor, change Change) (*string, error) {
	find := s.links.Of
	if change.Action == ActionCreated {
		find = s.links.New
	}
	if find == nil {
		return nil, nil
	}
	link, err := find(ctx, tx, actor.Company.ID, change.After.ID)
	if err != nil {
		return nil, fmt.Errorf("link to pay invoice %d: %w", change.After.ID, err)
	}
	return &link, nil
}

func (s *Service) eventData(ctx context.Context, tx *sqldb.Tx, actor account.Actor, change Change) (eventData, error) {
	invoice := change.After
	data := eventData{
		Invoice: invoiceInEvent{
			ID:             invoice.ID,
			TotalAmount:    invoice.Amount,
			Status:         invoice.Status,
			DueDate:        invoice.DueOn,
			PaidAt:         timeOrNull(invoice.PaidAt, actor.Company.Zone),
			PaidVia:        textOrNull(invoice.PaidVia),
			AmountReceived: invoice.Received,
		},
		Customer: ownerOf(invoice.Customer),
	}
	var err error
	data.Invoice.PaymentLink, err = s.link(ctx, tx, actor, change)
	return data, err
}

func ownerOf(customer Customer) owner {
	return owner{
		ID:         customer.ID,
		UUID:       customer.UUID,
		Name:       customer.Name,
		Whatsapp:   textOrNull(customer.Whatsapp),
		Email:      textOrNull(customer.Email),
		ExternalID: textOrNull(customer.ExternalID),
	}
}

func textOrNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

func timeOrNull(at time.Time, zone *time.Location) *string {
	if at.IsZero() {
		return nil
	}
	text := civil.Timestamp(at, zone)
	return &text
}
