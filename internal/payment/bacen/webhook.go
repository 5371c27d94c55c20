package bacen

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"carteira/internal/payment"
	"carteira/internal/payment/wire"
)

// VerifyCallback compares the proof in the address with ours. A callback reports several
// PIX at once, sent ones among them, which have no charge; or of authorisations, or of
// debits.
func (g *gateway) VerifyCallback(_ context.Context, call payment.Callback) ([]payment.Hint, error) {
	if came := call.Query["hmac"]; len(came) != 1 || !wire.Same(came[0], g.proof) {
		return nil, payment.ErrForged
	}
	var told struct {
		Pix    []paid `json:"pix"`
		Recs   []rec  `json:"recs"`
		Debits []cobr `json:"cobsr"`
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
	if g.debits {
		hints = append(hints, autopayHints(told.Recs, told.Debits)...)
	}
	return hints, nil
}

// event distinguishes the callback of a payment from those of its refunds.
func (p *paid) event() string {
	parts := []string{p.EndToEndID}
	for _, back := range p.Devolucoes {
		parts = append(parts, back.ID, back.Status)
	}
	return wire.Cut(strings.Join(parts, " "), 200)
}

// address is where the bank is to call. It adds /pix to the end (or /rec, or
// /cobr), which an empty last parameter takes up. The bank's own certificate is not asked for, since TLS
// often ends before us; the address has the proof instead.
func (g *gateway) address() string {
	return g.env.CallbackURL + "?hmac=" + g.proof + "&ignorar="
}

// Register sets the bank's webhooks: for the key, and for PIX Automático. Each
// has one webhook: one that another system set is left alone and returned as
// payment.WebhookTaken.
func (g *gateway) Register(ctx context.Context) error { return g.register(ctx, nil) }

// Replace is Register over the webhook of another system, if that is still the
// one that was agreed on.
func (g *gateway) Replace(ctx context.Context, agreed string) error {
	return g.register(ctx, &agreed)
}

// register goes through all webhooks, so that one which is not ours to set keeps
// none of the others back, and returns what came first.
func (g *gateway) register(ctx context.Context, agreed *string) error {
	if !wire.Reachable(g.env.CallbackURL) {
		return nil
	}
	var first error
	for _, slot := range g.slots() {
		if err := g.registerSlot(ctx, slot, agreed); err != nil && first == nil {
			first = err
		}
	}
	return first
}

func (g *gateway) registerSlot(ctx context.Context, slot string, agreed *string) error {
	present, err := g.webhook(ctx, slot)
	if err != nil {
		return wire.Outcome(err)
	}
	if present == g.address() {
		return nil
	}
	if taken := g.taken(present); taken != nil && (agreed == nil || *agreed != taken.URL) {
		return taken
	}
	return wire.Outcome(g.do(ctx, g.webhookRequest(http.MethodPut, slot), nil))
}

// unknownWebhook is what the webhook is called that the application may not read.
const unknownWebhook = "unknown"

// webhook is what is called now; empty: nothing.
func (g *gateway) webhook(ctx context.Context, slot string) (string, error) {
	var answer struct {
		URL string `json:"webhookUrl"`
	}
	err := g.do(ctx, g.webhookRequest(http.MethodGet, slot), &answer)
	switch wire.Status(err) {
	case http.StatusNotFound:
		return "", nil
	case http.StatusForbidden, http.StatusMethodNotAllowed:
		return unknownWebhook, nil
	}
	return answer.URL, err
}

// suffixes are what banks add to an address.
var suffixes = []string{"/pix", "/rec", "/cobr"}

// taken returns the owner of a webhook that is neither ours nor free. Ours is
// known by the address before the proof, which changes with the credentials.
func (g *gateway) taken(present string) *payment.WebhookTaken {
	shown, _, _ := strings.Cut(present, "?")
	if present == "" || shown == g.env.CallbackURL {
		return nil
	}
	for _, suffix := range suffixes {
		if shown == g.env.CallbackURL+suffix {
			return nil
		}
	}
	return &payment.WebhookTaken{URL: shown}
}

func (g *gateway) webhookRequest(method, slot string) wire.Request {
	request := wire.Request{
		Method: method,
		Path:   slot,
		Header: map[string]string{},
		// They are in the body, which an answer may repeat.
		Secrets: []string{g.proof, g.env.CallbackURL},
	}
	if method == http.MethodPut {
		request.Body = map[string]string{"webhookUrl": g.address()}
		if skip := g.account.bank.skipCheck; skip != "" {
			request.Header[skip] = "true"
		}
	}
	return request
}

// slots are the webhooks that a gateway registers.
func (g *gateway) slots() []string {
	key := "/webhook/" + url.PathEscape(g.key)
	if !g.debits {
		return []string{key}
	}
	return []string{key, "/webhookrec", "/webhookcobr"}
}

// autopayHints are the authorisations and debits that a callback is about.
func autopayHints(recs []rec, debits []cobr) []payment.Hint {
	var hints []payment.Hint
	for _, rec := range recs {
		if validRecID.MatchString(rec.ID) {
			hints = append(hints, payment.Hint{
				EventID: wire.Cut("rec "+rec.ID+" "+rec.Status, 200),
				Ref:     payment.Ref{ID: rec.ID},
				Kind:    payment.HintAuthorisation,
			})
		}
	}
	for i := range debits {
		if validTxID.MatchString(debits[i].TxID) {
			hints = append(hints, payment.Hint{
				EventID: debits[i].event(),
				Ref:     payment.Ref{ID: debits[i].TxID, Reference: debits[i].TxID},
				Kind:    payment.HintDebit,
			})
		}
	}
	return slices.Clip(hints)
}
