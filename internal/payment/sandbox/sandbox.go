// Package sandbox owns a gateway that is nowhere but here: it makes real codes
// that no bank knows, and a charge is paid by pressing a button. Its charges are
// rows, so that every process sees them and a restart forgets nothing. It moves
// no money.
package sandbox

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"carteira/internal/payment"
	"carteira/internal/payment/pix"
	"carteira/internal/payment/wire"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/id"
	"carteira/internal/platform/money"
	"carteira/internal/platform/sqldb"
)

// Name is what the provider is called.
const Name = "sandbox"

// Sandbox is the simulated provider.
type Sandbox struct{ db *sqldb.DB }

// New makes it.
func New(db *sqldb.DB) *Sandbox { return &Sandbox{db} }

var flows = []string{string(payment.FlowPix), string(payment.FlowRedirect)}

// Provider is the gateway. Its flow is that of the option: a charge has a code
// or an address, never both.
func (s *Sandbox) Provider() payment.Provider {
	return payment.Provider{
		Name: Name, Title: "Simulador (sem dinheiro)", Flow: payment.FlowPix,
		Options: []payment.Option{{
			Name: "flow", Title: "Fluxo", Choices: flows,
			Help: "pix (a code; the default) or redirect (a page of its own)",
		}},
		Open: func(options map[string]string, env payment.Env) (payment.Gateway, error) {
			o := wire.Options{Given: options}
			g := &gateway{Sandbox: s, env: env, flow: payment.Flow(o.Choice("flow", flows))}
			return g, o.Err()
		},
	}
}

// Charge is a charge as the simulated provider knows it.
type Charge struct {
	ID          string
	Reference   string
	Amount      money.Cents
	Description string
	PayerName   string
	PixCode     string
	CheckoutURL string
	ReturnURL   string // where its page leads back to
	ExpiresAt   time.Time
	Cancelled   bool
	Payments    []payment.Received

	secret string
}

// state is the state of the charge at an instant.
func (c *Charge) state(now time.Time) payment.State {
	switch {
	case len(c.Payments) > 0:
		return payment.StatePaid
	case c.Cancelled, !c.ExpiresAt.After(now):
		return payment.StateCancelled
	}
	return payment.StatePending
}

// Find returns a charge by its id or by our reference, for its page.
func (s *Sandbox) Find(ctx context.Context, name string) (Charge, error) {
	c, err := charge(ctx, s.db, name)
	if errors.Is(err, payment.ErrNoCharge) {
		return c, fault.NotFound("charge")
	}
	return c, err
}

// Payable reports whether a charge can be paid now.
func (s *Sandbox) Payable(c Charge) bool {
	return c.state(s.db.Now()) == payment.StatePending
}

// Pay is the button: it pays what is asked, once, while the charge can be paid.
// Pressing it again changes nothing.
func (s *Sandbox) Pay(ctx context.Context, name string) (Charge, error) {
	return s.write(ctx, name, func(tx *sqldb.Tx, c Charge) error {
		switch c.state(tx.Now()) {
		case payment.StateCancelled:
			return fault.Conflict("the charge can no longer be paid")
		case payment.StatePaid:
			return nil
		case payment.StatePending:
		}
		return insertPayment(ctx, tx, c.ID, c.Amount)
	})
}

// Receive is money that comes whatever the charge says: too much, too late,
// twice. Real gateways have such days too.
func (s *Sandbox) Receive(ctx context.Context, name string, amount money.Cents) (Charge, error) {
	return s.write(ctx, name, func(tx *sqldb.Tx, c Charge) error {
		return insertPayment(ctx, tx, c.ID, amount)
	})
}

// write locks a charge, changes it and returns what it has become.
func (s *Sandbox) write(ctx context.Context, name string, change func(tx *sqldb.Tx, c Charge) error) (Charge, error) {
	var c Charge
	err := s.db.Write(ctx, func(tx *sqldb.Tx) error {
		if err := lockCharge(ctx, tx, name); err != nil {
			return err
		}
		before, err := charge(ctx, tx, name)
		if err != nil {
			return err
		}
		if err := change(tx, before); err != nil {
			return err
		}
		c, err = charge(ctx, tx, name)
		return err
	})
	if errors.Is(err, payment.ErrNoCharge) {
		return c, fault.NotFound("charge")
	}
	return c, err
}

// gateway is the provider as one company reaches it.
type gateway struct {
	*Sandbox
	env  payment.Env
	flow payment.Flow
}

// Create makes the charge, or finds it.
func (g *gateway) Create(ctx context.Context, order payment.Order) (payment.Charge, error) {
	made, err := g.newCharge(order)
	if err != nil {
		return payment.Charge{}, err
	}
	var c Charge
	err = g.db.Write(ctx, func(tx *sqldb.Tx) error {
		if err := insertCharge(ctx, tx, made); err != nil {
			return err
		}
		c, err = charge(ctx, tx, order.Reference)
		return err
	})
	return c.public(), err
}

func (g *gateway) newCharge(order payment.Order) (Charge, error) {
	if order.Amount <= 0 {
		return Charge{}, &payment.Refusal{Reason: "there is nothing to pay"}
	}
	c := Charge{
		ID:          id.NewCode(26),
		Reference:   order.Reference,
		Amount:      order.Amount,
		Description: order.Description,
		PayerName:   order.Payer.Name,
		ReturnURL:   wire.Pick(g.env.ReturnURL, order.PayURL),
		ExpiresAt:   order.ExpiresAt,
		secret:      id.NewCode(32),
	}
	if g.flow == payment.FlowRedirect {
		c.CheckoutURL = order.PayURL + "/sandbox"
		return c, nil
	}
	code, err := pix.Dynamic{URL: "pix.example.com/qr/v2/" + c.ID, Name: "Simulador Carteira", City: "Sao Paulo"}.Code()
	if err != nil {
		return c, fmt.Errorf("make a simulated charge: %w", err)
	}
	c.PixCode = code
	return c, nil
}

func (c *Charge) public() payment.Charge {
	return payment.Charge{ID: c.ID, PixCode: c.PixCode, CheckoutURL: c.CheckoutURL, ExpiresAt: c.ExpiresAt}
}

// Fetch reads the charge back.
func (g *gateway) Fetch(ctx context.Context, ref payment.Ref) (payment.Report, error) {
	c, err := charge(ctx, g.db, wire.Pick(ref.ID, ref.Reference))
	if err != nil {
		return payment.Report{}, err
	}
	return payment.Report{
		Charge:    c.public(),
		Reference: c.Reference,
		State:     c.state(g.db.Now()),
		Payments:  c.Payments,
	}, nil
}

// Cancel closes the charge.
func (g *gateway) Cancel(ctx context.Context, ref payment.Ref) error {
	_, err := g.write(ctx, wire.Pick(ref.ID, ref.Reference), func(tx *sqldb.Tx, c Charge) error {
		if len(c.Payments) > 0 {
			return payment.ErrPaid
		}
		return cancelCharge(ctx, tx, c.ID)
	})
	if fault.KindOf(err) == fault.KindNotFound {
		return nil
	}
	return err
}

// Check has no credentials to look at, but needs the database.
func (g *gateway) Check(ctx context.Context) error { return g.db.Ping(ctx) }

const signatureHeader = "X-Sandbox-Signature"

// event is what the simulated provider calls back with.
type event struct {
	ID              string `json:"id"` // of the payment that it is about, or of what an authorisation has come to
	ChargeID        string `json:"charge_id,omitempty"`
	AuthorisationID string `json:"authorisation_id,omitempty"`
}

// AuthorisationCallback is what the provider would send about an authorisation.
// It is signed with the authorisation's own secret.
func (s *Sandbox) AuthorisationCallback(ctx context.Context, name string) (payment.Callback, error) {
	known, err := authorisationNamed(ctx, s.db, name)
	if err != nil {
		return payment.Callback{}, err
	}
	return event{ID: known.id + "-" + string(known.state), AuthorisationID: known.id}.signed(known.secret)
}

// Callback is what the provider would send about the newest payment of a
// charge. It is signed with the charge's own secret.
func (s *Sandbox) Callback(ctx context.Context, name string) (payment.Callback, error) {
	c, err := s.Find(ctx, name)
	if err != nil {
		return payment.Callback{}, err
	}
	if len(c.Payments) == 0 {
		return payment.Callback{}, fault.Conflict("the charge was not paid")
	}
	return event{ID: c.Payments[len(c.Payments)-1].ID, ChargeID: c.ID}.signed(c.secret)
}

func (e event) signed(secret string) (payment.Callback, error) {
	body, err := json.Marshal(e)
	return payment.Callback{Header: http.Header{signatureHeader: {sign(secret, body)}}, Body: body}, err
}

func sign(secret string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	return hex.EncodeToString(mac.Sum(nil))
}

// VerifyCallback checks a callback with the secret of what it claims to be about.
func (g *gateway) VerifyCallback(ctx context.Context, call payment.Callback) ([]payment.Hint, error) {
	var e event
	if json.Unmarshal(call.Body, &e) != nil {
		return nil, payment.ErrForged
	}
	secret, hint, err := g.claimed(ctx, e)
	switch {
	case errors.Is(err, payment.ErrNoCharge):
		return nil, payment.ErrForged
	case err != nil:
		return nil, err
	case !wire.Same(call.Header.Get(signatureHeader), sign(secret, call.Body)):
		return nil, payment.ErrForged
	}
	return []payment.Hint{hint}, nil
}

// claimed finds what an event claims to be about, and its secret.
func (g *gateway) claimed(ctx context.Context, e event) (secret string, hint payment.Hint, err error) {
	hint.EventID = e.ID
	if e.AuthorisationID != "" {
		known, err := authorisationNamed(ctx, g.db, e.AuthorisationID)
		hint.Ref, hint.Kind = payment.Ref{ID: known.id, Reference: known.reference}, payment.HintAuthorisation
		return known.secret, hint, err
	}
	c, err := charge(ctx, g.db, e.ChargeID)
	if err != nil {
		return "", hint, err
	}
	hint.Ref = payment.Ref{ID: c.ID, Reference: c.Reference}
	if _, err = debitNamed(ctx, g.db, c.ID); errors.Is(err, payment.ErrNoCharge) {
		return c.secret, hint, nil
	}
	hint.Kind = payment.HintDebit
	return c.secret, hint, err
}
