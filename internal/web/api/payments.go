package api

import (
	"context"
	"encoding/base64"
	"encoding/json"

	"carteira/internal/billing"
	"carteira/internal/event"
	"carteira/internal/payment"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/money"
	"carteira/internal/web"
)

type payableInvoice struct {
	ID          int64          `json:"id"`
	Status      billing.Status `json:"status"`
	TotalAmount money.Cents    `json:"total_amount"`
}

type payingCustomer struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

type pixRecord struct {
	Invoice      payableInvoice      `json:"invoice"`
	Customer     payingCustomer      `json:"customer"`
	Payment      pixPayment          `json:"payment"`
	Notification *notificationRecord `json:"notification"`
}

type pixPayment struct {
	Provider     string       `json:"provider"`
	Flow         payment.Flow `json:"flow"`
	Amount       json.Number  `json:"amount"`
	PixCopyPaste *string      `json:"pix_copy_paste"`
	QRCodeBase64 *string      `json:"qr_code_base64"`
	QRCodeURI    string       `json:"qr_code_data_uri"`
	CheckoutURL  *string      `json:"checkout_url"`
	ExpiresAt    string       `json:"expires_at"`
}

type notificationRecord struct {
	URL   string     `json:"url"`
	Event event.Name `json:"event"`
}

// createPix has an invoice charged. The address of a notification is checked
// before anything else: a refused one leaves no charge behind.
func (s *Server) createPix(ctx context.Context, call *call) (web.Answer, error) {
	form, err := call.form()
	if err != nil {
		return web.Answer{}, err
	}
	address, _ := s.Webhooks.CheckNotification(ctx, form)
	if err := form.Err(); err != nil {
		return web.Answer{}, err
	}
	payable, err := s.Payments.Charge(ctx, call.actor, call.id, address)
	if err != nil {
		return web.Answer{}, err
	}
	record, err := call.pix(payable)
	if err != nil {
		return web.Answer{}, err
	}
	url, found, err := s.Webhooks.Notification(ctx, call.actor, call.id)
	if found {
		record.Notification = &notificationRecord{url, event.InvoicePaid}
	}
	return web.Answer{Data: web.JSON(record)}, err
}

func (c *call) pix(payable payment.Payable) (pixRecord, error) {
	picture, err := payable.QR()
	if err != nil {
		return pixRecord{}, err
	}
	code := base64.StdEncoding.EncodeToString(picture)
	record := pixRecord{
		Invoice:  invoiceToPay(payable.Invoice),
		Customer: customerToPay(payable.Invoice),
		Payment: pixPayment{
			Provider:     payable.Provider,
			Flow:         payable.Flow,
			Amount:       json.Number(payable.Amount.String()),
			PixCopyPaste: textOrNull(payable.PixCode),
			QRCodeURI:    "data:image/png;base64," + code,
			CheckoutURL:  textOrNull(payable.CheckoutURL),
			ExpiresAt:    civil.Timestamp(payable.ExpiresAt, c.actor.Company.Zone),
		},
	}
	if payable.Flow == payment.FlowPix {
		record.Payment.QRCodeBase64 = &code
	}
	return record, nil
}

func invoiceToPay(invoice billing.Invoice) payableInvoice {
	return payableInvoice{invoice.ID, invoice.Status, invoice.Amount}
}

func customerToPay(invoice billing.Invoice) payingCustomer {
	return payingCustomer{invoice.Customer.ID, invoice.Customer.Name}
}

type linkRecord struct {
	Invoice  payableInvoice `json:"invoice"`
	Customer payingCustomer `json:"customer"`
	Payment  linkPayment    `json:"payment"`
}

type linkPayment struct {
	URL       string         `json:"url"`
	Amount    json.Number    `json:"amount"`
	Payable   bool           `json:"payable"`
	Methods   []payment.Flow `json:"methods"`
	Provider  *string        `json:"provider"`
	ExpiresAt *string        `json:"expires_at"`
}

func (s *Server) readPaymentLink(ctx context.Context, call *call) (web.Answer, error) {
	link, err := s.Payments.PaymentLink(ctx, call.actor, call.id)
	return web.Answer{Data: web.JSON(linkRecord{
		Invoice:  invoiceToPay(link.Invoice),
		Customer: customerToPay(link.Invoice),
		Payment: linkPayment{
			URL:       link.URL,
			Amount:    json.Number(link.Amount.String()),
			Payable:   link.Payable,
			Methods:   link.Methods,
			Provider:  textOrNull(link.Provider),
			ExpiresAt: call.timeOrNull(link.ExpiresAt),
		},
	})}, err
}
