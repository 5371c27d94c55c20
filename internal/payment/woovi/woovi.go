// Package woovi owns the gateway of Woovi (also OpenPix): a PIX charge under an
// id of ours, in whole cents, and callbacks that Woovi signs with its own key.
package woovi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"carteira/internal/payment"
	"carteira/internal/payment/wire"
)

var bases = map[string]string{"production": "https://api.woovi.com", "sandbox": "https://api.woovi-sandbox.com"}

// Provider is the gateway.
func Provider() payment.Provider { return provider(bases) }

func provider(bases map[string]string) payment.Provider {
	// Woovi signs for all companies with the same keys.
	signers := map[string]*keys{}
	for _, environment := range wire.Environments {
		signers[environment] = &keys{base: bases[environment], turn: make(chan struct{}, 1)}
	}
	return payment.Provider{
		Name: "woovi", Title: "Woovi (OpenPix)", Flow: payment.FlowPix,
		Options: []payment.Option{
			{Name: "app_id", Title: "AppID", Secret: true, Required: true, Help: "Woovi > API/Plugins > Nova API/Plugin > API > AppID"},
			wire.Environment,
			{
				Name:   "webhook_authorization",
				Title:  "Autorização do webhook",
				Secret: true,
				Help:   "only when the webhook was made by hand at Woovi: its Authorization. Otherwise it is made and registered by itself",
			},
			autopayOption,
		},
		Open: func(options map[string]string, env payment.Env) (payment.Gateway, error) {
			o := wire.Options{Given: options}
			appID, environment := o.Need("app_id"), o.Choice("environment", wire.Environments)
			g := &gateway{env: env, proof: o.Opt("webhook_authorization"), keys: signers[environment]}
			if g.proof == "" {
				g.proof = wire.Derive(appID, env.CallbackURL)
			}
			g.api = wire.API{
				Base:    bases[environment],
				Client:  env.Client,
				Secrets: []string{appID, g.proof, env.CallbackURL},
				Reason:  reason,
				Header:  map[string]string{"Authorization": appID},
				Now:     env.Now,
			}
			if g.debits = o.Choice(autopayOption.Name, autopayOption.Choices) == "yes"; g.debits {
				return &debitor{g}, o.Err()
			}
			return g, o.Err()
		},
	}
}

func reason(body []byte) string {
	var said struct {
		Error  json.RawMessage
		Errors []struct{ Message string }
	}
	_ = json.Unmarshal(body, &said)
	var text string
	_ = json.Unmarshal(said.Error, &text)
	for _, e := range said.Errors {
		text += " " + e.Message
	}
	return text
}

type gateway struct {
	api   wire.API
	env   payment.Env
	proof string // what callbacks bear as their authorization
	keys  *keys

	debits bool // the account has PIX Automático
}

// charge is one as Woovi returns it.
type charge struct {
	Status        string      `json:"status"`
	Value         json.Number `json:"value"`
	CorrelationID string      `json:"correlationID"`
	TransactionID string      `json:"transactionID"`
	GlobalID      string      `json:"globalID"`
	BRCode        string      `json:"brCode"`
	ExpiresDate   string      `json:"expiresDate"`
}

const chargesPath = "/api/v1/charge"

var states = map[string]payment.State{
	"ACTIVE":    payment.StatePending,
	"COMPLETED": payment.StatePaid,
	"EXPIRED":   payment.StateCancelled,
}

func (c *charge) public() payment.Charge {
	return payment.Charge{
		ID:        wire.Pick(c.GlobalID, c.TransactionID, c.CorrelationID),
		PixCode:   c.BRCode,
		ExpiresAt: wire.Time(c.ExpiresDate),
	}
}

type chargeRequest struct {
	CorrelationID string    `json:"correlationID"`
	Value         int64     `json:"value"`
	Comment       string    `json:"comment,omitempty"`
	ExpiresIn     int64     `json:"expiresIn"`
	Customer      *customer `json:"customer,omitempty"`
}

type customer struct {
	Name    string   `json:"name"`
	TaxID   string   `json:"taxID,omitempty"`
	Email   string   `json:"email,omitempty"`
	Phone   string   `json:"phone,omitempty"`
	Address *address `json:"address,omitempty"`
}

type address struct {
	Zipcode      string `json:"zipcode"`
	Street       string `json:"street"`
	Number       string `json:"number"`
	Neighborhood string `json:"neighborhood"`
	City         string `json:"city"`
	State        string `json:"state"`
	Complement   string `json:"complement,omitempty"`
}

// customerOf is the payer as Woovi knows one; nil when there is a name alone,
// which it turns down. An address goes along when it is complete.
func customerOf(payer payment.Payer) *customer {
	if payer.TaxID == "" && payer.Email == "" && payer.Phone == "" {
		return nil
	}
	c := &customer{Name: payer.Name, TaxID: payer.TaxID, Email: payer.Email, Phone: payer.Phone}
	place := payer.Address
	if place.CEP != "" && place.Street != "" && place.Number != "" && place.District != "" && place.City != "" && place.State != "" {
		c.Address = &address{
			place.CEP, place.Street, place.Number, place.District, place.City, place.State,
			place.Complement,
		}
	}
	return c
}

// minLife is the shortest that Woovi has ever allowed: its documents disagree.
const minLife = 15 * time.Minute

// Create makes the charge; Woovi answers a repeated id with the one that it
// has.
func (g *gateway) Create(ctx context.Context, order payment.Order) (payment.Charge, error) {
	body := chargeRequest{
		CorrelationID: order.Reference,
		Value:         int64(order.Amount),
		Comment:       wire.Cut(order.Description, 140),
		ExpiresIn:     int64(max(order.ExpiresAt.Sub(g.env.Now()), minLife) / time.Second),
		Customer:      customerOf(order.Payer),
	}
	var answer struct {
		Charge charge `json:"charge"`
		BRCode string `json:"brCode"`
	}
	err := g.api.Do(ctx, wire.Request{
		Method: http.MethodPost,
		Path:   chargesPath,
		Query:  url.Values{"return_existing": {"true"}},
		Body:   body,
	}, &answer)
	if err != nil {
		return payment.Charge{}, wire.Outcome(err)
	}
	charge := answer.Charge
	charge.BRCode = wire.Pick(charge.BRCode, answer.BRCode)
	return made(charge, order)
}

// made wants the charge that was asked for, alive.
func made(charge charge, order payment.Order) (payment.Charge, error) {
	value, err := wire.Whole(charge.Value)
	switch {
	case err != nil || charge.CorrelationID != order.Reference || charge.BRCode == "":
		return payment.Charge{}, errors.New("POST /api/v1/charge: the answer lacks value, id or code")
	case value != order.Amount || states[charge.Status] != payment.StatePending:
		return payment.Charge{}, fmt.Errorf("charge %s was made before, for %s, and is %.40q", order.Reference, value,
			charge.Status)
	}
	made := charge.public()
	if made.ExpiresAt.IsZero() {
		made.ExpiresAt = order.ExpiresAt
	}
	return made, nil
}

// find reads a charge. Woovi turns an unknown id down like any other mistake,
// so after a refusal we ask for something that exists: only when that is
// answered is the charge unknown.
func (g *gateway) find(ctx context.Context, ref payment.Ref) (charge, payment.State, error) {
	var answer struct {
		Charge charge `json:"charge"`
	}
	path := chargesPath + "/" + url.PathEscape(wire.Pick(ref.Reference, ref.ID))
	err := g.api.Get(ctx, path, nil, &answer)
	if wire.Changed(err) {
		return charge{}, "", g.unknown(ctx)
	}
	charge := answer.Charge
	state := states[charge.Status]
	known := state != "" && charge.CorrelationID != ""
	return charge, state, wire.Expect(err, known, "GET %s: a charge has the unknown status %.40q", path, charge.Status)
}

// unknown returns ErrNoCharge if that is certain.
func (g *gateway) unknown(ctx context.Context) error {
	if err := g.checkCharges(ctx); err != nil {
		return err
	}
	return payment.ErrNoCharge
}

// Fetch reads the charge back, and once it is paid, with what.
func (g *gateway) Fetch(ctx context.Context, ref payment.Ref) (payment.Report, error) {
	charge, state, err := g.find(ctx, ref)
	if err != nil {
		return payment.Report{}, wire.Outcome(err)
	}
	report := payment.Report{Charge: charge.public(), Reference: charge.CorrelationID, State: state}
	if state == payment.StatePaid {
		report.Payments, err = g.payments(ctx, charge.CorrelationID)
	}
	return report, wire.Outcome(err)
}

// Cancel deletes the charge.
func (g *gateway) Cancel(ctx context.Context, ref payment.Ref) error {
	return wire.Cancel(ctx, ref, g.find, g.remove)
}

func (g *gateway) remove(ctx context.Context, c charge) error {
	var answer struct{ Status string }
	path := chargesPath + "/" + url.PathEscape(c.CorrelationID)
	err := g.api.Send(ctx, http.MethodDelete, path, nil, &answer)
	return wire.Expect(err, answer.Status == "OK", "DELETE %s: answered %.40q", path, answer.Status)
}

// Check asks for what the application must be allowed to read.
func (g *gateway) Check(ctx context.Context) error {
	if err := g.checkCharges(ctx); err != nil {
		return wire.Outcome(err)
	}
	var page struct{ Transactions []transaction }
	return wire.Outcome(g.api.Get(ctx, "/api/v1/transaction", g.lastMinute(), &page))
}

// lastMinute is a period in which little happened: Woovi's document has no other
// way to ask for little.
func (g *gateway) lastMinute() url.Values {
	now := g.env.Now().UTC()
	return url.Values{"start": {now.Add(-time.Minute).Format(time.RFC3339)}, "end": {now.Format(time.RFC3339)}}
}

func (g *gateway) checkCharges(ctx context.Context) error {
	var page struct{ Charges []charge }
	return g.api.Get(ctx, chargesPath, g.lastMinute(), &page)
}
