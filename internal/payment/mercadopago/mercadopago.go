// Package mercadopago owns two gateways of Mercado Pago: PIX codes, made by its
// payments API or by its orders API, and its own checkout page (Checkout Pro), which
// is an order, for the redirect flow.
package mercadopago

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"carteira/internal/payment"
	"carteira/internal/payment/wire"
)

// production is the only host: trials use test credentials on it.
const production = "https://api.mercadopago.com"

var (
	accessToken = payment.Option{
		Name: "access_token", Title: "Access token", Secret: true, Required: true,
		Help: "Mercado Pago > Suas integrações > your application > Credenciais de produção > Access token (APP_USR-…)",
	}
	webhookSecret = payment.Option{
		Name: "webhook_secret", Title: "Assinatura secreta", Secret: true,
		Help: "Suas integrações > your application > Webhooks > Assinatura secreta. Without it callbacks are refused, and " +
			"payments are found by asking",
	}
	payerEmail = payment.Option{
		Name: "payer_email", Title: "E-mail de quem paga",
		Help: "Mercado Pago wants an e-mail address of every payer; this one is used for customers who have none",
	}
)

// apis are the APIs that a PIX code can be made by. A company that chose none before
// there was a choice has the first.
var apis = []string{"payments", ordersAPI}

// ordersAPI is the choice of Mercado Pago's newer API.
const ordersAPI = "orders"

// Provider is the gateway of PIX codes.
func Provider() payment.Provider { return ProviderAt(production) }

// ProviderAt is Provider at another address, for tests.
func ProviderAt(base string) payment.Provider {
	return payment.Provider{
		Name: "mercadopago", Title: "Mercado Pago", Flow: payment.FlowPix,
		Options: []payment.Option{accessToken, webhookSecret, payerEmail, {
			Name:    "api",
			Title:   "API",
			Choices: apis,
			Help: "payments (the default) or orders (the newer one; enter the callback address under Webhooks of your application, " +
				"event Order)",
		}},
		Open: func(options map[string]string, env payment.Env) (payment.Gateway, error) {
			o := wire.Options{Given: options}
			gateway := newGateway(base, &o, env)
			gateway.makesOrders = o.Choice("api", apis) == ordersAPI
			return gateway, o.Err()
		},
	}
}

// CheckoutProvider is the gateway of the checkout page.
func CheckoutProvider() payment.Provider {
	return CheckoutProviderAt(production)
}

// CheckoutProviderAt is CheckoutProvider at another address, for tests.
func CheckoutProviderAt(base string) payment.Provider {
	return payment.Provider{
		Name:  "mercadopago_checkout",
		Title: "Mercado Pago (Checkout Pro)",
		Flow:  payment.FlowRedirect,
		Options: []payment.Option{accessToken, webhookSecret, payerEmail, {
			Name:    "methods",
			Title:   "Meios de pagamento",
			Choices: checkoutMethods,
			Help:    "pix (the default) or all (cards, boleto and the balance of Mercado Pago too)",
		}},
		Open: func(options map[string]string, env payment.Env) (payment.Gateway, error) {
			o := wire.Options{Given: options}
			gateway := newGateway(base, &o, env)
			gateway.makesOrders, gateway.methods = true, o.Choice("methods", checkoutMethods)
			return gateway, o.Err()
		},
	}
}

// gateway makes codes, or pages, by one of the APIs. Charges that were made by the
// other one before are still looked up and cancelled there: the form of the id shows
// which.
type gateway struct {
	api         wire.API
	env         payment.Env
	secret      string
	payerEmail  string
	makesOrders bool   // by the orders API; otherwise by the payments API
	methods     string // of payment on a page; empty: it makes codes
}

func newGateway(base string, options *wire.Options, env payment.Env) *gateway {
	token, secret := options.Need(accessToken.Name), options.Opt(webhookSecret.Name)
	email := options.Opt(payerEmail.Name)
	if email != "" && !strings.Contains(email, "@") {
		options.Refuse(payerEmail.Name, "must be a valid e-mail address")
	}
	return &gateway{
		api: wire.API{
			Base:    base,
			Client:  env.Client,
			Secrets: []string{token, secret, env.CallbackURL},
			Reason:  reason,
			Header:  map[string]string{"Authorization": "Bearer " + token},
			Now:     env.Now,
		},
		env: env, secret: secret, payerEmail: email,
	}
}

// reason finds Mercado Pago's words in a refusal. The orders API has a list of them.
func reason(body []byte) string {
	var said struct {
		Message string
		Error   string
		Cause   []struct{ Description string }
		Errors  []struct {
			Message string
			Details []string
		}
	}
	_ = json.Unmarshal(body, &said)
	parts := []string{wire.Pick(said.Message, said.Error)}
	for _, cause := range said.Cause {
		parts = append(parts, cause.Description)
	}
	for _, refused := range said.Errors {
		parts = append(append(parts, refused.Message), refused.Details...)
	}
	return strings.Join(parts, " ")
}

// Check looks at the credentials, whether they are good for the orders API where
// that makes charges, and whether the e-mail address for payers without one is the
// account's own: Mercado Pago does not let an account pay itself, and would
// refuse every charge.
func (g *gateway) Check(ctx context.Context) error {
	var methods []struct{ ID string }
	if err := g.api.Get(ctx, "/v1/payment_methods", nil, &methods); err != nil {
		return wire.Outcome(err)
	}
	if g.makesOrders {
		if _, err := g.searchOrders(ctx, noReference); err != nil {
			return wire.Outcome(err)
		}
	}
	if g.payerEmail == "" {
		return nil
	}
	var account struct{ Email string }
	err := g.api.Get(ctx, "/users/me", nil, &account)
	if status := wire.Status(err); status >= 400 && status < 500 {
		return nil // it may not be read: the charge will tell
	}
	if err == nil && strings.EqualFold(account.Email, g.payerEmail) {
		return &payment.Refusal{Reason: "the option payer_email must not be the address of the Mercado Pago account itself"}
	}
	return err
}

// post makes something; Mercado Pago knows a repeated call by its key.
func (g *gateway) post(ctx context.Context, path, key string, body, into any) error {
	header := map[string]string{"X-Idempotency-Key": idempotencyKey(key)}
	return g.api.Do(ctx, wire.Request{Method: http.MethodPost, Path: path, Header: header, Body: body}, into)
}

// idempotencyKey is a UUID by which a repeated call is known.
func idempotencyKey(reference string) string {
	sum := sha256.Sum256([]byte(reference))
	sum[6] = sum[6]&0x0f | 0x80 // version 8 and variant of RFC 9562: made of what one likes
	sum[8] = sum[8]&0x3f | 0x80
	s := hex.EncodeToString(sum[:16])
	return s[:8] + "-" + s[8:12] + "-" + s[12:16] + "-" + s[16:20] + "-" + s[20:]
}

// topics of callbacks: what their id is the id of.
var topics = []string{"payment", "order"}

// VerifyCallback hears of payments and of orders, whichever API makes charges: an
// application may have both events chosen. The signature covers the id in the address,
// in small letters, and not the body.
func (g *gateway) VerifyCallback(_ context.Context, call payment.Callback) ([]payment.Hint, error) {
	id := first(call.Query["data.id"])
	ts, v1 := signature(call.Header.Get("X-Signature"))
	signed := manifest(strings.ToLower(id), call.Header.Get("X-Request-Id"), ts)
	if !g.recent(ts) || !wire.Same(v1, g.sign(signed)) {
		return nil, payment.ErrForged
	}
	var event event
	_ = json.Unmarshal(call.Body, &event) // the address says enough
	if !slices.Contains(topics, wire.Pick(first(call.Query["type"]), event.Type)) || id == "" {
		return nil, nil
	}
	return []payment.Hint{{EventID: event.id(), Ref: payment.Ref{ID: event.spelt(id)}}}, nil
}

// A signature is good from when it was made: Mercado Pago repeats a callback for some
// days, and its clock may be ahead of ours.
const (
	signatureLife  = 7 * 24 * time.Hour
	signatureAhead = time.Hour
)

// recent reports whether a signature's time, in milliseconds or seconds, is not too
// old for a callback that is repeated. An older one may be replayed.
func (g *gateway) recent(ts string) bool {
	const milliseconds = 100_000_000_000 // as seconds, the year 5138
	made, err := strconv.ParseInt(ts, 10, 64)
	if err != nil {
		return false
	}
	at := time.Unix(made, 0)
	if made >= milliseconds {
		at = time.UnixMilli(made)
	}
	age := g.env.Now().Sub(at)
	return age <= signatureLife && age >= -signatureAhead
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
func (g *gateway) sign(manifest string) string {
	if g.secret == "" {
		return ""
	}
	mac := hmac.New(sha256.New, []byte(g.secret))
	mac.Write([]byte(manifest))
	return hex.EncodeToString(mac.Sum(nil))
}
