package sandbox

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"

	"carteira/internal/payment"
	"carteira/internal/payment/wire"
	"carteira/internal/platform/fault"
)

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
	body, err := json.Marshal(event{ID: known.id + "-" + string(known.state), AuthorisationID: known.id})
	if err != nil {
		return payment.Callback{}, err
	}
	return payment.Callback{
		Header: http.Header{signatureHeader: {sign(known.secret, body)}},
		Body:   body,
	}, nil
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
	body, err := json.Marshal(event{ID: c.Payments[len(c.Payments)-1].ID, ChargeID: c.ID})
	if err != nil {
		return payment.Callback{}, err
	}
	return payment.Callback{
		Header: http.Header{signatureHeader: {sign(c.secret, body)}},
		Body:   body,
	}, nil
}

func sign(secret string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	return hex.EncodeToString(mac.Sum(nil))
}

// VerifyCallback checks a callback with the secret of the charge it claims to be about.
func (g *gateway) VerifyCallback(ctx context.Context, call payment.Callback) ([]payment.Hint, error) {
	var e event
	if json.Unmarshal(call.Body, &e) != nil || e.ChargeID == "" && e.AuthorisationID == "" {
		return nil, payment.ErrForged
	}
	if e.AuthorisationID != "" {
		return g.verifyAuthorisation(ctx, call, e)
	}
	c, err := charge(ctx, g.db, e.ChargeID)
	switch {
	case errors.Is(err, payment.ErrNoCharge):
		return nil, payment.ErrForged
	case err != nil:
		return nil, err
	case !wire.Same(call.Header.Get(signatureHeader), sign(c.secret, call.Body)):
		return nil, payment.ErrForged
	}
	kind := payment.HintCharge
	_, err = debitNamed(ctx, g.db, c.ID)
	switch {
	case err == nil:
		kind = payment.HintDebit
	case !errors.Is(err, payment.ErrNoCharge):
		return nil, err
	}
	return []payment.Hint{{EventID: e.ID, Ref: payment.Ref{ID: c.ID, Reference: c.Reference}, Kind: kind}}, nil
}

func (g *gateway) verifyAuthorisation(ctx context.Context, call payment.Callback, told event) ([]payment.Hint, error) {
	known, err := authorisationNamed(ctx, g.db, told.AuthorisationID)
	switch {
	case errors.Is(err, payment.ErrNoCharge):
		return nil, payment.ErrForged
	case err != nil:
		return nil, err
	case !wire.Same(call.Header.Get(signatureHeader), sign(known.secret, call.Body)):
		return nil, payment.ErrForged
	}
	ref := payment.Ref{ID: known.id, Reference: known.reference}
	return []payment.Hint{{EventID: told.ID, Ref: ref, Kind: payment.HintAuthorisation}}, nil
}
