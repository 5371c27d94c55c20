package efi

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"carteira/internal/payment"
	"carteira/internal/payment/wire"
)

// VerifyCallback compares the proof in the address with ours. A callback tells of several
// PIX at once, sent ones among them, which have no charge.
func (g *gateway) VerifyCallback(_ context.Context, call payment.Callback) ([]payment.Hint, error) {
	if came := call.Query["hmac"]; len(came) != 1 || !wire.Same(came[0], g.proof) {
		return nil, payment.ErrForged
	}
	var told struct {
		Pix []paid `json:"pix"`
	}
	// A test of the address has another body, and no PIX in it.
	_ = json.Unmarshal(call.Body, &told)
	var hints []payment.Hint
	for _, paid := range told.Pix {
		if validTxID.MatchString(paid.TxID) {
			hints = append(hints, payment.Hint{
				EventID: paid.event(),
				Ref:     payment.Ref{ID: paid.TxID, Reference: paid.TxID},
			})
		}
	}
	return hints, nil
}

// event tells the callback of a payment from those of its refunds.
func (p *paid) event() string {
	parts := []string{p.EndToEndID}
	for _, back := range p.Devolucoes {
		parts = append(parts, back.ID, back.Status)
	}
	return wire.Cut(strings.Join(parts, " "), 200)
}

// Register tells Efí where to call. It adds /pix to the end of the address,
// which an empty last parameter takes up. Efí's own certificate is not asked
// for, since TLS often ends before us; the address has the proof instead.
func (g *gateway) Register(ctx context.Context) error {
	if !wire.Reachable(g.env.CallbackURL) {
		return nil
	}
	var answer struct{}
	return wire.Outcome(g.do(ctx, g.env.Now(), wire.Request{
		Method: http.MethodPut,
		Path:   "/v2/webhook/" + url.PathEscape(g.key),
		Header: map[string]string{"X-Skip-Mtls-Checking": "true"},
		Body:   map[string]string{"webhookUrl": g.env.CallbackURL + "?hmac=" + g.proof + "&ignorar="},
		// They are in the body, which an answer may repeat.
		Secrets: []string{g.proof, g.env.CallbackURL},
	}, &answer))
}
