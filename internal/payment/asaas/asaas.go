// Package asaas owns two gateways of Asaas: a PIX charge of a customer there, with
// a due date, and the same charge with the page of Asaas, where the payer chooses
// among PIX, boleto and card. Asaas knows no key for repeated calls, so every charge is
// searched for before it is made; and no short life of a code, so ours is ended
// by cancelling.
package asaas

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"carteira/internal/payment"
	"carteira/internal/payment/pix"
	"carteira/internal/payment/wire"
)

var bases = map[string]string{"production": "https://api.asaas.com", "sandbox": "https://api-sandbox.asaas.com"}

// Provider is the gateway of PIX codes.
func Provider() payment.Provider { return pixProvider(bases) }

// CheckoutProvider is the gateway of the page.
func CheckoutProvider() payment.Provider { return pageProvider(bases) }

func pixProvider(bases map[string]string) payment.Provider {
	provider := provider(bases, payment.FlowPix)
	provider.Name, provider.Title = "asaas", "Asaas"
	provider.Options = append(provider.Options, autopayOption)
	return provider
}

func pageProvider(bases map[string]string) payment.Provider {
	provider := provider(bases, payment.FlowRedirect)
	provider.Name, provider.Title = "asaas_checkout", "Asaas (página de pagamento)"
	return provider
}

func provider(bases map[string]string, flow payment.Flow) payment.Provider {
	return payment.Provider{
		Flow: flow, Computes: wire.Computes,
		// Of the 25,000 calls that Asaas allows in 12 hours looks take 14,400 at
		// the most; the rest is for new charges, of five calls at the most each.
		Pace: 3 * time.Second,
		Options: []payment.Option{
			{
				Name: "api_key", Title: "Chave de API", Secret: true, Required: true,
				Help: "Asaas > Menu do usuário > Integrações > Chaves de API ($aact_…)",
			},
			wire.Environment,
			{
				Name: "webhook_token", Title: "Token do webhook", Secret: true,
				Help: "only when the webhook was made by hand at Asaas: its authentication token, 32 to 255 characters. Otherwise " +
					"it is made and registered by itself",
			},
			{
				Name: "notify_email", Title: "E-mail para avisos", Required: true,
				Help: "where Asaas writes when it cannot reach us; it wants one for every webhook",
			},
			{
				Name: "payer_tax_id", Title: "CPF ou CNPJ padrão",
				Help: "Asaas wants a CPF or CNPJ of every payer; this one is used for customers who have none",
			},
			wire.LateCharges(""),
		},
		Open: func(options map[string]string, env payment.Env) (payment.Gateway, error) {
			return open(bases, flow, options, env)
		},
	}
}

type gateway struct {
	api         wire.API
	env         payment.Env
	flow        payment.Flow
	token       string // proves callbacks
	oldToken    string // what we registered before Asaas had rules for tokens; empty when one was given
	notifyEmail string
	payerTaxID  string
	debits      bool // the account has PIX Automático
}

func open(
	bases map[string]string, flow payment.Flow, options map[string]string, env payment.Env,
) (payment.Gateway, error) {
	o := wire.Options{Given: options}
	key, environment := o.Need("api_key"), o.Choice("environment", wire.Environments)
	other := map[string]string{"production": "$aact_hmlg_", "sandbox": "$aact_prod_"}[environment]
	if other != "" && strings.HasPrefix(key, other) {
		o.Refuse("environment", "the API key is one of the other environment")
	}
	g := &gateway{
		env:         env,
		flow:        flow,
		token:       o.Opt("webhook_token"),
		notifyEmail: o.Opt("notify_email"),
		payerTaxID:  readTaxID(&o),
	}
	switch reason := refusesToken(g.token, key); {
	case g.token == "":
		g.oldToken = wire.Derive(key, env.CallbackURL)
		g.token = tokenOf(g.oldToken)
	case reason != "":
		o.Refuse("webhook_token", reason)
	}
	g.api = wire.API{
		Base:    bases[environment],
		Client:  env.Client,
		Secrets: []string{key, g.token, g.oldToken, env.CallbackURL},
		Reason:  reason,
		Header:  map[string]string{"access_token": key},
		Now:     env.Now,
	}
	if g.debits = o.Choice(autopayOption.Name, autopayOption.Choices) == "yes"; g.debits {
		return &debitor{g}, o.Err()
	}
	return g, o.Err()
}

func readTaxID(options *wire.Options) string {
	value := strings.NewReplacer(".", "", "-", "", "/", "").Replace(strings.ToUpper(options.Opt("payer_tax_id")))
	if value != "" && !pix.ValidCPF(value) && !pix.ValidCNPJ(value) {
		options.Refuse("payer_tax_id", "must be a CPF or CNPJ with correct check digits")
	}
	return value
}

func reason(body []byte) string {
	var said struct {
		Errors []struct{ Description string }
	}
	_ = json.Unmarshal(body, &said)
	var parts []string
	for _, e := range said.Errors {
		parts = append(parts, e.Description)
	}
	return strings.Join(parts, " ")
}

// Create makes the charge unless the search finds it. Once it is made, no
// failure may pass for a refusal: the charge could be paid.
func (g *gateway) Create(ctx context.Context, order payment.Order) (payment.Charge, error) {
	charge, err := wire.Make(func() (charge, error) { return g.byReference(ctx, order.Reference) },
		func() (charge, error) { return g.make(ctx, order) })
	if err != nil {
		return payment.Charge{}, wire.Outcome(err)
	}
	switch charge.state() {
	case payment.StateCancelled:
		return payment.Charge{}, &payment.Refusal{Reason: "the charge was cancelled before"}
	case payment.StatePaid:
		return payment.Charge{}, fmt.Errorf("charge %s was made before, and is paid", charge.ID)
	case payment.StatePending:
	}
	made := payment.Charge{ID: charge.ID, ExpiresAt: order.ExpiresAt}
	if g.flow == payment.FlowRedirect {
		made.CheckoutURL, err = charge.page()
		return made, err
	}
	made.PixCode, err = g.code(ctx, charge.ID)
	if wire.Changed(err) {
		return payment.Charge{}, g.withdraw(ctx, charge, err)
	}
	return made, err
}

// withdraw takes back a charge for which Asaas makes no code, as it does when
// the account has no PIX key.
func (g *gateway) withdraw(ctx context.Context, made charge, why error) error {
	if err := g.remove(ctx, made); err != nil {
		return fmt.Errorf("the charge has no code (%w), and could not be taken back: %w", why, err)
	}
	return wire.Outcome(why)
}

type chargeRequest struct {
	Customer          string      `json:"customer"`
	BillingType       string      `json:"billingType"`
	Value             json.Number `json:"value"`
	DueDate           string      `json:"dueDate"`
	Description       string      `json:"description"`
	ExternalReference string      `json:"externalReference"`
	Discount          *rate       `json:"discount,omitempty"`
	Interest          *rate       `json:"interest,omitempty"`
	Fine              *rate       `json:"fine,omitempty"`
}

// rate is a part of the value by which Asaas changes what is to pay.
type rate struct {
	Value json.Number `json:"value"`
	Type  string      `json:"type"`
	// Days is how many days before the due date a discount ends.
	Days *int `json:"dueDateLimitDays,omitempty"`
}

// leaveToAsaas has Asaas compute the value by the day of the payment.
func (r *chargeRequest) leaveToAsaas(due payment.Due) {
	r.Value, r.DueDate = wire.Number(due.Face), due.On.String()
	if due.Discount > 0 {
		r.Discount = &rate{Value: wire.Number(due.Discount), Type: "FIXED", Days: new(int)}
	}
	if due.LateFee > 0 {
		r.Fine = &rate{Value: json.Number(due.LateFee.String()), Type: "PERCENTAGE"}
	}
	if due.LateInterest > 0 { // a month
		r.Interest = &rate{Value: json.Number(due.LateInterest.String()), Type: "PERCENTAGE"}
	}
}

const chargesPath = "/v3/payments"

// billingTypes are how a charge may be paid, by what we make of it.
var billingTypes = map[payment.Flow]string{
	payment.FlowPix:      "PIX",
	payment.FlowRedirect: "UNDEFINED", // the payer chooses on the page
}

func (g *gateway) make(ctx context.Context, order payment.Order) (charge, error) {
	customer, err := g.customer(ctx, order.Payer)
	if err != nil {
		return charge{}, err
	}
	due := order.ExpiresAt.Add(-time.Second) // the last day on which it can be paid
	if now := g.env.Now(); due.Before(now) {
		due = now
	}
	wanted := chargeRequest{
		Customer:          customer,
		BillingType:       billingTypes[g.flow],
		Value:             wire.Number(order.Amount),
		DueDate:           due.In(wire.Brasilia).Format("2006-01-02"),
		Description:       wire.Cut(order.Description, 500),
		ExternalReference: order.Reference,
	}
	if order.Due != nil {
		wanted.leaveToAsaas(*order.Due)
	}
	return g.post(ctx, wanted, order.Reference)
}

// post has Asaas make a charge.
func (g *gateway) post(ctx context.Context, body any, reference string) (made charge, err error) {
	err = g.api.Send(ctx, http.MethodPost, chargesPath, body, &made)
	whole := made.ID != "" && made.ExternalReference == reference
	return made, wire.Expect(err, whole, "POST %s: the answer lacks id or reference", chargesPath)
}

// code asks for the code of a charge.
func (g *gateway) code(ctx context.Context, id string) (string, error) {
	var qr struct{ Payload string }
	path := chargesPath + "/" + url.PathEscape(id) + "/pixQrCode"
	err := g.api.Get(ctx, path, nil, &qr)
	return qr.Payload, wire.Expect(err, qr.Payload != "", "GET %s: the answer lacks a code", path)
}

// Check asks for something that only needs the credentials.
func (g *gateway) Check(ctx context.Context) error {
	var page struct{ Data []charge }
	return wire.Outcome(g.api.Get(ctx, chargesPath, url.Values{"limit": {"1"}}, &page))
}

// The rules of Asaas for the token of a webhook (docs.asaas.com, "Criar novo
// Webhook pela aplicação web").
const (
	minToken  = 32
	maxToken  = 255
	maxRun    = 4 // digits that go up or down by one; 12345 is refused
	maxEquals = 3 // equal letters in a row
)

// refusesToken says why Asaas would not accept a token; "" when it would.
func refusesToken(token, key string) string {
	switch {
	case len(token) < minToken || len(token) > maxToken:
		return "must be 32 to 255 characters"
	case token == key:
		return "must not be the API key"
	case longest(token, isStep(1)) > maxRun, longest(token, isStep(-1)) > maxRun:
		return "must not have digits in sequence, such as 12345"
	case longest(strings.ToLower(token), isSameLetter) > maxEquals:
		return "must not have four equal letters in a row"
	}
	return ""
}

// longest is how many characters in a row go on from each other.
func longest(text string, goesOn func(before, after byte) bool) int {
	most, run := 0, 0
	for i := range len(text) {
		if i > 0 && goesOn(text[i-1], text[i]) {
			run++
		} else {
			run = 1
		}
		most = max(most, run)
	}
	return most
}

func isStep(by int) func(before, after byte) bool {
	return func(before, after byte) bool {
		return isDigit(before) && isDigit(after) && int(after)-int(before) == by
	}
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isSameLetter(before, after byte) bool { return before == after && 'a' <= after && after <= 'z' }

// tokenOf spells a secret of hexadecimal digits with letters alone, none of them
// twice in a row: the first half of the alphabet takes turns with the second.
func tokenOf(secret string) string {
	const half = 13
	spelt := []byte(secret)
	for i, digit := range spelt {
		first := byte('a')
		if i%2 == 1 {
			first += half
		}
		spelt[i] = first + valueOf(digit)%half
	}
	return string(spelt)
}

func valueOf(digit byte) byte {
	if isDigit(digit) {
		return digit - '0'
	}
	return digit - 'a' + 10
}
