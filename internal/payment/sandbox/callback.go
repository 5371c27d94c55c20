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
	ID       string `json:"id"` // of the payment that it is about
	ChargeID string `json:"charge_id"`
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
func (g *gateway) VerifyCallback(
	ctx context.Context,
	call payment.Callback,
) ([]payment.Hint, error) {
	var e event
	if json.Unmarshal(call.Body, &e) != nil || e.ChargeID == "" {
		return nil, payment.ErrForged
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
	return []payment.Hint{{EventID: e.ID, Ref: payment.Ref{ID: c.ID, Reference: c.Reference}}}, nil
}
