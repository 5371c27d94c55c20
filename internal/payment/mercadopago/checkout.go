package mercadopago

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"carteira/internal/payment"
	"carteira/internal/payment/wire"
)

var checkoutMethods = []string{"pix", "all"}

// checkoutGateway sends payers to Mercado Pago's page. The charge is a
// preference there; what is paid are payments that bear our reference.
type checkoutGateway struct {
	client
	methods string
}

// preference is a checkout page.
type preference struct {
	ID                string            `json:"id"`
	ExternalReference string            `json:"external_reference"`
	Items             []json.RawMessage `json:"items"`
	InitPoint         string            `json:"init_point"`
	SandboxInitPoint  string            `json:"sandbox_init_point"`
	Expires           bool              `json:"expires"`
	ExpiresAt         string            `json:"expiration_date_to"`
}

type preferenceRequest struct {
	Items             []any             `json:"items"`
	Payer             *pagePayer        `json:"payer,omitempty"`
	ExternalReference string            `json:"external_reference"`
	NotificationURL   string            `json:"notification_url,omitempty"`
	BackURLs          map[string]string `json:"back_urls,omitempty"`
	AutoReturn        string            `json:"auto_return,omitempty"`
	Expires           bool              `json:"expires"`
	ExpiresAt         string            `json:"expiration_date_to"`
	PaymentMethods    *exclusions       `json:"payment_methods,omitempty"`
}

// pagePayer is who a page is for, in the names that pages have for it.
type pagePayer struct {
	Name           string          `json:"name,omitempty"`
	Surname        string          `json:"surname,omitempty"`
	Email          string          `json:"email,omitempty"`
	Identification *identification `json:"identification,omitempty"`
}

type item struct {
	ID       string      `json:"id"`
	Title    string      `json:"title"`
	Quantity int         `json:"quantity"`
	Price    json.Number `json:"unit_price"`
	Currency string      `json:"currency_id"`
}

type exclusions struct {
	Types []paymentType `json:"excluded_payment_types"`
}

type paymentType struct {
	ID string `json:"id"`
}

// allButPix are the types of payment that Mercado Pago names in its document,
// without PIX, which is a bank transfer, and the balance of Mercado Pago, which
// cannot be excluded.
var allButPix = []paymentType{
	{"atm"},
	{"credit_card"},
	{"crypto"},
	{"debit_card"},
	{"digital_currency"},
	{"digital_wallet"},
	{"prepaid_card"},
	{"ticket"},
	{"voucher_card"},
}

// Create looks for the page before it makes one: nothing says that Mercado Pago
// knows a repeated call of this kind by its key.
func (g *checkoutGateway) Create(ctx context.Context, order payment.Order) (payment.Charge, error) {
	preference, err := wire.Make(func() (preference, error) { return g.preferenceOf(ctx, order.Reference) },
		func() (preference, error) { return g.make(ctx, order) })
	if err != nil {
		return payment.Charge{}, wire.Outcome(err)
	}
	return g.chargeOf(preference), nil
}

func (g *checkoutGateway) make(ctx context.Context, order payment.Order) (preference, error) {
	var p preference
	err := g.post(ctx, "/checkout/preferences", order.Reference, g.requestOf(order), &p)
	return p, g.complete(err, p, order.Reference)
}

func (g *checkoutGateway) requestOf(order payment.Order) preferenceRequest {
	is := pagePayer{Email: order.Payer.Email, Identification: identificationOf(order.Payer.TaxID)}
	is.Name, is.Surname = names(order.Payer.Name)
	request := preferenceRequest{
		Items: []any{item{
			ID: order.Reference, Title: wire.Cut(order.Description, 250),
			Quantity: 1, Price: wire.Number(order.Amount), Currency: "BRL",
		}},
		Payer:             &is,
		ExternalReference: order.Reference,
		NotificationURL:   g.notificationURL(),
		Expires:           true,
		ExpiresAt:         timestamp(order.ExpiresAt),
	}
	if back := wire.Pick(g.env.ReturnURL, order.PayURL); strings.HasPrefix(back, "https://") {
		request.BackURLs = map[string]string{"success": back, "pending": back, "failure": back}
		request.AutoReturn = "approved"
	}
	if g.methods == "pix" {
		request.PaymentMethods = &exclusions{allButPix}
	}
	return request
}

// complete wants what a page is made for.
func (g *checkoutGateway) complete(err error, preference preference, reference string) error {
	whole := preference.ID != "" && g.address(preference) != "" && (reference == "" || preference.ExternalReference == reference)
	return wire.Expect(err, whole, "a preference of Mercado Pago lacks id, address or reference")
}

// address of the page: test credentials have one of their own.
func (g *checkoutGateway) address(preference preference) string {
	if strings.HasPrefix(g.token, "TEST-") {
		return wire.Pick(preference.SandboxInitPoint, preference.InitPoint)
	}
	return preference.InitPoint
}

func (g *checkoutGateway) chargeOf(preference preference) payment.Charge {
	return payment.Charge{
		ID:          preference.ID,
		CheckoutURL: g.address(preference),
		ExpiresAt:   wire.Time(preference.ExpiresAt),
	}
}

// preferenceOf finds the page of a charge of ours. What a search lists is not
// whole, so the page is read after it.
func (g *checkoutGateway) preferenceOf(ctx context.Context, reference string) (preference, error) {
	var page struct {
		Elements []preference `json:"elements"`
	}
	const path = "/checkout/preferences/search"
	err := g.api.Get(ctx, path, url.Values{"external_reference": {reference}, "limit": {"30"}}, &page)
	if err = wire.Expect(err, page.Elements != nil, "GET %s: answered without elements", path); err != nil {
		return preference{}, err
	}
	for _, element := range page.Elements {
		if element.ExternalReference == reference {
			return g.preference(ctx, element.ID)
		}
	}
	return preference{}, payment.ErrNoCharge
}

func (g *checkoutGateway) preference(ctx context.Context, id string) (preference, error) {
	var p preference
	err := wire.Known(g.api.Get(ctx, "/checkout/preferences/"+url.PathEscape(id), nil, &p))
	return p, g.complete(err, p, "")
}

// find reads the page and what was paid there. A number is the id of a payment,
// as callbacks tell it; pages have other ids.
func (g *checkoutGateway) find(ctx context.Context, ref payment.Ref) (preference, []mpPayment, error) {
	preference, err := g.findPreference(ctx, ref)
	if err != nil {
		return preference, nil, err
	}
	list, err := g.byReference(ctx, preference.ExternalReference)
	return preference, list, err
}

func (g *checkoutGateway) findPreference(ctx context.Context, ref payment.Ref) (preference, error) {
	switch {
	case isNumber(ref.ID):
		paid, err := g.byID(ctx, ref.ID)
		if err != nil {
			return preference{}, err
		}
		return g.preferenceOf(ctx, paid.ExternalReference)
	case ref.ID != "":
		return g.preference(ctx, ref.ID)
	}
	return g.preferenceOf(ctx, ref.Reference)
}

// Fetch returns what was paid through the page.
func (g *checkoutGateway) Fetch(ctx context.Context, ref payment.Ref) (payment.Report, error) {
	preference, list, err := g.find(ctx, ref)
	if err != nil {
		return payment.Report{}, wire.Outcome(err)
	}
	state, received, err := sum(list)
	if err != nil {
		return payment.Report{}, fmt.Errorf("look at charge %s: %w", wire.Pick(ref.ID, ref.Reference), err)
	}
	// A page without payments, or with rejected ones, can still be paid.
	if state == payment.StateCancelled && !g.expired(preference) {
		state = payment.StatePending
	}
	return payment.Report{
		Charge:    g.chargeOf(preference),
		Reference: preference.ExternalReference,
		State:     state,
		Payments:  received,
	}, nil
}

func (g *checkoutGateway) expired(preference preference) bool {
	at := wire.Time(preference.ExpiresAt)
	return preference.Expires && !at.IsZero() && !at.After(g.env.Now())
}

// Cancel closes the page, and then what was begun there: a code that was shown
// could be paid after it.
func (g *checkoutGateway) Cancel(ctx context.Context, ref payment.Ref) error {
	return wire.Twice(func() error { return g.cancel(ctx, ref) })
}

func (g *checkoutGateway) cancel(ctx context.Context, ref payment.Ref) error {
	preference, err := g.findPreference(ctx, ref)
	if errors.Is(err, payment.ErrNoCharge) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := g.close(ctx, preference); err != nil {
		return err
	}
	list, err := g.byReference(ctx, preference.ExternalReference)
	if err != nil {
		return err
	}
	return g.cancelPending(ctx, list)
}

func (g *checkoutGateway) close(ctx context.Context, p preference) error {
	if g.expired(p) {
		return nil
	}
	items := make([]any, len(p.Items))
	for i, it := range p.Items {
		items[i] = it
	}
	var after preference
	err := g.api.Send(ctx, http.MethodPut, "/checkout/preferences/"+url.PathEscape(p.ID), preferenceRequest{
		Items:             items,
		ExternalReference: p.ExternalReference,
		NotificationURL:   g.notificationURL(),
		Expires:           true,
		ExpiresAt:         timestamp(g.env.Now().Add(-time.Second)),
	}, &after)
	return wire.Expect(err, g.expired(after), "the page %s was to be closed and expires at %.40q", p.ID, after.ExpiresAt)
}
