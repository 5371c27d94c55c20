package mercadopago

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"carteira/internal/payment"
	"carteira/internal/payment/wire"
)

// The topics of callbacks: what their id is the id of.
const (
	paymentTopic = "payment"
	orderTopic   = "order"
)

// VerifyCallback hears of payments. A preference has no order.
func (c *client) VerifyCallback(_ context.Context, call payment.Callback) ([]payment.Hint, error) {
	return c.hear(call, paymentTopic)
}

// VerifyCallback hears of payments and orders, whichever API makes charges now: those
// of the other one may still be paid.
func (g *pixGateway) VerifyCallback(_ context.Context, call payment.Callback) ([]payment.Hint, error) {
	return g.hear(call, paymentTopic, orderTopic)
}

// hear checks the signature, which covers the id in the address, in small letters,
// and not the body.
func (c *client) hear(call payment.Callback, topics ...string) ([]payment.Hint, error) {
	id := first(call.Query["data.id"])
	ts, v1 := signature(call.Header.Get("X-Signature"))
	signed := manifest(strings.ToLower(id), call.Header.Get("X-Request-Id"), ts)
	if ts == "" || !wire.Same(v1, c.sign(signed)) {
		return nil, payment.ErrForged
	}
	var event event
	_ = json.Unmarshal(call.Body, &event) // the address says enough
	if !slices.Contains(topics, wire.Pick(first(call.Query["type"]), event.Type)) || id == "" {
		return nil, nil
	}
	return []payment.Hint{{EventID: event.id(), Ref: payment.Ref{ID: event.spelt(id)}}}, nil
}

// event is the body of a callback.
type event struct {
	ID   json.RawMessage `json:"id"`
	Type string          `json:"type"`
	Data struct {
		ID json.RawMessage `json:"id"`
	} `json:"data"`
}

// id is the callback's own, empty where it has none.
func (e event) id() string { return strings.Trim(wire.Cut(string(e.ID), 100), `"`) }

// spelt is the signed id in the letters of the body: an address may have it in
// small ones, and orders have capitals.
func (e event) spelt(id string) string {
	if body := strings.Trim(string(e.Data.ID), `"`); strings.EqualFold(body, id) {
		return body
	}
	return id
}

func first(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return values[0]
}

// signature reads ts=…,v1=….
func signature(header string) (ts, v1 string) {
	for part := range strings.SplitSeq(header, ",") {
		switch name, value, _ := strings.Cut(strings.TrimSpace(part), "="); name {
		case "ts":
			ts = value
		case "v1":
			v1 = value
		}
	}
	return ts, v1
}

// manifest is what is signed; what is absent is left out with its name.
func manifest(id, requestID, ts string) string {
	var out strings.Builder
	for _, pair := range [][2]string{{"id", id}, {"request-id", requestID}, {"ts", ts}} {
		if pair[1] != "" {
			out.WriteString(pair[0] + ":" + pair[1] + ";")
		}
	}
	return out.String()
}

// sign is empty, which fits nothing, while there is no secret.
func (c *client) sign(manifest string) string {
	if c.secret == "" {
		return ""
	}
	mac := hmac.New(sha256.New, []byte(c.secret))
	mac.Write([]byte(manifest))
	return hex.EncodeToString(mac.Sum(nil))
}
