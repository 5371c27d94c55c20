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

// LinkWith lets events carry the address of the page on which an invoice is
// paid, which a higher room owns. It is called while the program is wired.
func (s *Service) LinkWith(linker Linker) { s.linker = linker }

func (s *Service) eventData(
	ctx context.Context,
	tx *sqldb.Tx,
	actor account.Actor,
	invoice Invoice,
) (eventData, error) {
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
	if s.linker == nil {
		return data, nil
	}
	link, err := s.linker(ctx, tx, actor.Company.ID, invoice.ID)
	if err != nil {
		return data, fmt.Errorf("link to pay invoice %d: %w", invoice.ID, err)
	}
	data.Invoice.PaymentLink = &link
	return data, nil
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
