package api

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"image/png"
	"net/http"
	"strings"
	"sync"
	"testing"

	"carteira/internal/payment"
	"carteira/internal/platform/sqldb"
	"carteira/test/kit/sqldbtest"
)

// outOfOrder is a gateway that fails.
var outOfOrder = payment.Provider{
	Name: "broken", Title: "Banco Quebrado", Flow: payment.FlowPix,
	Open: func(map[string]string, payment.Env) (payment.Gateway, error) { return brokenGateway{}, nil },
}

type brokenGateway struct{ payment.Debitor }

func (brokenGateway) Authorise(context.Context, payment.Mandate) (payment.Authorisation, error) {
	return payment.Authorisation{}, errors.New("power cut")
}

func (brokenGateway) Create(context.Context, payment.Order) (payment.Charge, error) {
	return payment.Charge{}, errors.New("password=hunter2 was wrong")
}

// paymentData is what tests look at of the PIX data.
type paymentData struct {
	Invoice struct {
		ID          int64
		Status      string
		TotalAmount string `json:"total_amount"`
	}
	Customer struct {
		ID   int64
		Name string
	}
	Payment struct {
		Provider     string
		Flow         string
		Amount       float64
		PixCopyPaste *string `json:"pix_copy_paste"`
		QRBase64     *string `json:"qr_code_base64"`
		QRURI        string  `json:"qr_code_data_uri"`
		CheckoutURL  *string `json:"checkout_url"`
		ExpiresAt    string  `json:"expires_at"`

		URL     string
		Payable bool
		Methods []string
	}
	Notification *struct{ URL, Event string }
}

// invoiceID makes a customer with an invoice of 35.00.
func (c *caller) invoiceID(t *testing.T) int64 {
	t.Helper()
	record := c.create(t, `{"name":"Ana Lima","plan_id":1,"data_de_vencimento":"2026-01-31"}`)
	list := data[[]struct{ ID int64 }](t, c.call(t, http.MethodGet, fmt.Sprintf("/customers/%d/invoices", record.ID), ""))
	return list[0].ID
}

func TestPixIsWhatTheSeedSays(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		caller := newService(t, engine).newCaller(t)
		path := fmt.Sprintf("/invoices/%d/pix", caller.invoiceID(t))
		d := data[paymentData](t, caller.call(t, http.MethodPost, path, ""))
		p := d.Payment
		if p.Provider != "sandbox" || p.Flow != "pix" || p.Amount != 35 || p.CheckoutURL != nil || d.Notification != nil ||
			p.ExpiresAt != "2026-02-01T09:00:00-03:00" || d.Invoice.Status != "Em aberto" || d.Invoice.TotalAmount != "35.00" || d.Customer.Name != "Ana Lima" {
			t.Errorf("got %+v", d)
		}
		picture, err := base64.StdEncoding.DecodeString(*p.QRBase64)
		must(t, err)
		if _, err := png.Decode(bytes.NewReader(picture)); err != nil || p.QRURI != "data:image/png;base64,"+*p.QRBase64 {
			t.Errorf("QR code: %v", err)
		}
		again := data[paymentData](t, caller.call(t, http.MethodPost, path, `{"notification_url":"https://example.com/a"}`))
		if *again.Payment.PixCopyPaste != *p.PixCopyPaste || again.Notification == nil || again.Notification.URL != "https://example.com/a" || again.Notification.Event != "invoice.paid" {
			t.Errorf("again: %+v", again)
		}
		if last := data[paymentData](t, caller.call(t, http.MethodPost, path, `{}`)); last.Notification == nil {
			t.Error("the notification was forgotten")
		}

		_, err = caller.Payments.ConfigureGateway(t.Context(), caller.actor, caller.Payments.ReadGateway(values("provider", "sandbox", "flow", "redirect")))
		must(t, err)
		d = data[paymentData](t, caller.call(t, http.MethodPost, fmt.Sprintf("/invoices/%d/pix", caller.invoiceID(t)), ""))
		if p = d.Payment; p.Flow != "redirect" || p.PixCopyPaste != nil || p.QRBase64 != nil || p.CheckoutURL == nil || !strings.HasPrefix(p.QRURI, "data:image/png;base64,") {
			t.Errorf("redirect: %+v", p)
		}
	})
}

func TestPixRefusesBeforeTheGatewayIsCalled(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		caller := newService(t, engine).newCaller(t)
		id := caller.invoiceID(t)
		path := fmt.Sprintf("/invoices/%d/pix", id)
		for body, message := range map[string]string{
			`{"notification_url":"http://example.com/a"}`:       "notification_url: must use https",
			`{"notification_url":"https://localhost/a"}`:        "notification_url: must not point to an internal address",
			`{"notification_url":"https://10.0.0.1/a"}`:         "notification_url: must not point to an internal address",
			`{"notification_url":"https://u:p@example.com"}`:    "notification_url: must not contain a user name or password",
			`{"notificationurl":"https://example.com/a"}`:       "notificationurl: unknown field; did you mean notification_url?",
			`{"notification_url":["https://example.com/a",""]}`: "notification_url: must be a text",
		} {
			if answer := caller.call(t, http.MethodPost, path, body); answer.status != 422 || !strings.Contains(answer.body, strings.SplitN(message, ":", 2)[0]) {
				t.Errorf("%s: %d %s", body, answer.status, answer.body)
			}
		}
		if n := caller.count(t, `SELECT (SELECT COUNT(*) FROM charges) + (SELECT COUNT(*) FROM invoice_notifications)`); n != 0 {
			t.Errorf("%d rows are left behind", n)
		}
		must(t, caller.Payments.ClearGateway(t.Context(), caller.actor))
		caller.call(t, http.MethodPost, path, `{"notification_url":"https://example.com/a"}`).want(t, 422,
			"gateway: no payment gateway is set up; choose one in the panel, or with `carteira gateway set`")
		link := data[paymentData](t, caller.call(t, http.MethodGet, fmt.Sprintf("/invoices/%d/payment-link", id), ""))
		if link.Payment.Payable || len(link.Payment.Methods) != 0 {
			t.Errorf("without a gateway: %+v", link)
		}
		caller.call(t, http.MethodPost, fmt.Sprintf("/invoices/%d/status", id), `{"status":"Pago"}`)
		caller.call(t, http.MethodPost, path, "").want(t, 422, "invoice: is Pago; only one that is Em aberto can be paid")
	})
}

func TestPixOfAGatewayThatFailsIs502AndLeavesTheKeyFree(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		caller := newService(t, engine).newCaller(t)
		path := fmt.Sprintf("/invoices/%d/pix", caller.invoiceID(t))
		_, err := caller.Payments.ConfigureGateway(t.Context(), caller.actor, caller.Payments.ReadGateway(values("provider", "broken")))
		must(t, err)
		caller.call(t, http.MethodPost, path, "", "Idempotency-Key", "k").want(t, 502,
			"Banco Quebrado is not working at the moment; try again in a little while")
		_, err = caller.Payments.ConfigureGateway(t.Context(), caller.actor, caller.Payments.ReadGateway(values("provider", "sandbox")))
		must(t, err)
		first := caller.call(t, http.MethodPost, path, "", "Idempotency-Key", "k")
		if first.status != 200 {
			t.Fatalf("the same key again: %d %s", first.status, first.body)
		}
		if again := caller.call(t, http.MethodPost, path, "", "Idempotency-Key", "k"); again.body != first.body || again.header.Get("Idempotency-Replayed") != "true" {
			t.Errorf("%d %s", again.status, again.body)
		}
	})
}

func TestFiftyPixCallsAtOnceGetOneCharge(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		caller := newService(t, engine).newCaller(t)
		path := fmt.Sprintf("/invoices/%d/pix", caller.invoiceID(t))
		codes := make([]string, 50)
		var all sync.WaitGroup
		for n := range codes {
			all.Go(func() {
				if d := data[paymentData](t, caller.call(t, http.MethodPost, path, "")); d.Payment.PixCopyPaste != nil {
					codes[n] = *d.Payment.PixCopyPaste
				}
			})
		}
		all.Wait()
		for _, code := range codes {
			if code == "" || code != codes[0] {
				t.Fatalf("%q and %q", code, codes[0])
			}
		}
		if n := caller.count(t, `SELECT COUNT(*) FROM sandbox_charges`); n != 1 {
			t.Errorf("%d charges at the gateway", n)
		}
	})
}

func TestPaymentLinkLeadsToTheCheckout(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		service := newService(t, engine)
		caller := service.newCaller(t)
		path := fmt.Sprintf("/invoices/%d/payment-link", caller.invoiceID(t))
		d := data[paymentData](t, caller.call(t, http.MethodGet, path, ""))
		if p := d.Payment; !strings.HasPrefix(p.URL, "https://carteira.example.com/pay/") || p.Amount != 35 || !p.Payable || p.Provider != "sandbox" || p.Methods[0] != "pix" {
			t.Errorf("got %+v", d)
		}
		if again := data[paymentData](t, caller.call(t, http.MethodGet, path, "")); again.Payment.URL != d.Payment.URL {
			t.Error("another link")
		}
		stranger := service.newCaller(t)
		stranger.call(t, http.MethodGet, path, "").want(t, 404, "invoice not found")
		stranger.call(t, http.MethodPost, strings.Replace(path, "payment-link", "pix", 1), "").want(t, 404, "invoice not found")
	})
}
