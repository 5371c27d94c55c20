package mercadopago

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"

	"carteira/internal/payment"
	"carteira/internal/payment/wire"
)

// VerifyCallback checks the signature, which covers the id in the address and not the
// body. The id is that of a payment.
func (c *client) VerifyCallback(_ context.Context, call payment.Callback) ([]payment.Hint, error) {
	id := first(call.Query["data.id"])
	ts, v1 := signature(call.Header.Get("X-Signature"))
	if ts == "" || !wire.Same(v1, c.sign(manifest(id, call.Header.Get("X-Request-Id"), ts))) {
		return nil, payment.ErrForged
	}
	var event struct {
		ID   json.RawMessage `json:"id"`
		Type string          `json:"type"`
	}
	_ = json.Unmarshal(call.Body, &event) // the address says enough
	if wire.Pick(first(call.Query["type"]), event.Type) != "payment" || id == "" {
		return nil, nil
	}
	return []payment.Hint{{EventID: strings.Trim(wire.Cut(string(event.ID), 100), `"`), Ref: payment.Ref{ID: id}}}, nil
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
