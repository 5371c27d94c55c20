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
func (s *Server) createPix(ctx context.Context, c *call) (web.Answer, error) {
	form, err := c.form()
	if err != nil {
		return web.Answer{}, err
	}
	address, _ := s.Webhooks.CheckNotification(ctx, form)
	if err := form.Err(); err != nil {
		return web.Answer{}, err
	}
	p, err := s.Payments.Charge(ctx, c.actor, c.id, address)
	if err != nil {
		return web.Answer{}, err
	}
	record, err := c.pix(p)
	if err != nil {
		return web.Answer{}, err
	}
	url, found, err := s.Webhooks.Notification(ctx, c.actor, c.id)
	if found {
		record.Notification = &notificationRecord{url, event.InvoicePaid}
	}
	return web.Answer{Data: web.JSON(record)}, err
}

func (c *call) pix(p payment.Payable) (pixRecord, error) {
	picture, err := p.QR()
	if err != nil {
		return pixRecord{}, err
	}
	code := base64.StdEncoding.EncodeToString(picture)
	r := pixRecord{Invoice: invoiceToPay(p.Invoice), Customer: customerToPay(p.Invoice), Payment: pixPayment{
		Provider: p.Provider, Flow: p.Flow, Amount: json.Number(p.Amount.String()), PixCopyPaste: textOrNull(p.PixCode),
		QRCodeURI: "data:image/png;base64," + code, CheckoutURL: textOrNull(p.CheckoutURL),
		ExpiresAt: civil.Timestamp(p.ExpiresAt, c.actor.Company.Zone),
	}}
	if p.Flow == payment.FlowPix {
		r.Payment.QRCodeBase64 = &code
	}
	return r, nil
}

func invoiceToPay(i billing.Invoice) payableInvoice { return payableInvoice{i.ID, i.Status, i.Amount} }

func customerToPay(i billing.Invoice) payingCustomer {
	return payingCustomer{i.Customer.ID, i.Customer.Name}
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

func (s *Server) readPaymentLink(ctx context.Context, c *call) (web.Answer, error) {
	l, err := s.Payments.PaymentLink(ctx, c.actor, c.id)
	return web.Answer{Data: web.JSON(linkRecord{
		Invoice: invoiceToPay(l.Invoice), Customer: customerToPay(l.Invoice), Payment: linkPayment{
			URL: l.URL, Amount: json.Number(l.Amount.String()), Payable: l.Payable, Methods: l.Methods,
			Provider: textOrNull(l.Provider), ExpiresAt: c.timeOrNull(l.ExpiresAt),
		},
	})}, err
}
