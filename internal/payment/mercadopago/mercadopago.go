// Package mercadopago owns two gateways of Mercado Pago: PIX codes, made by its
// payments API or by its orders API, and its own checkout page (Checkout Pro) for
// the redirect flow. Both share the credentials and the proof of a callback.
package mercadopago

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"carteira/internal/payment"
	"carteira/internal/payment/wire"
)

// production is the only host: trials use test credentials on it.
const production = "https://api.mercadopago.com"

var (
	accessToken = payment.Option{
		Name:     "access_token",
		Title:    "Access token",
		Secret:   true,
		Required: true,
		Help:     "Mercado Pago > Suas integrações > your application > Credenciais de produção > Access token (APP_USR-…)",
	}
	webhookSecret = payment.Option{
		Name:   "webhook_secret",
		Title:  "Assinatura secreta",
		Secret: true,
		Help: "Suas integrações > your application > Webhooks > Assinatura secreta. Without it callbacks are refused, and " +
			"payments are found by asking",
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
		Options: []payment.Option{accessToken, webhookSecret, {
			Name:  "payer_email",
			Title: "E-mail de quem paga",
			Help:  "Mercado Pago wants an e-mail address of every payer; this one is used for customers who have none",
		}, {
			Name:    "api",
			Title:   "API",
			Choices: apis,
			Help: "payments (the default) or orders (the newer one; enter the callback address under Webhooks of your application, " +
				"event Order)",
		}},
		Open: func(options map[string]string, env payment.Env) (payment.Gateway, error) {
			o := wire.Options{Given: options}
			gateway := &pixGateway{
				client:      newClient(base, &o, env),
				payerEmail:  o.Opt("payer_email"),
				makesOrders: o.Choice("api", apis) == ordersAPI,
			}
			if gateway.payerEmail != "" && !strings.Contains(gateway.payerEmail, "@") {
				o.Refuse("payer_email", "must be a valid e-mail address")
			}
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
		Options: []payment.Option{accessToken, webhookSecret, {
			Name:    "methods",
			Title:   "Meios de pagamento",
			Choices: checkoutMethods,
			Help:    "pix (and the balance of Mercado Pago; the default) or all (cards and boleto too)",
		}},
		Open: func(options map[string]string, env payment.Env) (payment.Gateway, error) {
			o := wire.Options{Given: options}
			gateway := &checkoutGateway{
				client:  newClient(base, &o, env),
				methods: o.Choice("methods", checkoutMethods),
			}
			return gateway, o.Err()
		},
	}
}

// client is what both gateways share.
type client struct {
	api    wire.API
	env    payment.Env
	token  string
	secret string
}

func newClient(base string, options *wire.Options, env payment.Env) client {
	token, secret := options.Need(accessToken.Name), options.Opt(webhookSecret.Name)
	return client{
		api: wire.API{
			Base:    base,
			Client:  env.Client,
			Secrets: []string{token, secret, env.CallbackURL},
			Reason:  reason,
			Header:  map[string]string{"Authorization": "Bearer " + token},
			Now:     env.Now,
		},
		env: env, token: token, secret: secret,
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

// Check asks for something that only needs the credentials.
func (c *client) Check(ctx context.Context) error {
	var methods []struct{ ID string }
	return wire.Outcome(c.api.Do(
		ctx,
		wire.Request{Method: http.MethodGet, Path: "/v1/payment_methods"},
		&methods,
	))
}

// idempotencyKey is a UUID by which a repeated call is known.
func idempotencyKey(reference string) string {
	sum := sha256.Sum256([]byte(reference))
	sum[6] = sum[6]&0x0f | 0x80 // version 8 and variant of RFC 9562: made of what one likes
	sum[8] = sum[8]&0x3f | 0x80
	s := hex.EncodeToString(sum[:16])
	return s[:8] + "-" + s[8:12] + "-" + s[12:16] + "-" + s[16:20] + "-" + s[20:]
}

// notificationURL is where this charge is reported; nowhere while the house has
// no address that Mercado Pago would accept.
func (c *client) notificationURL() string {
	if !wire.Reachable(c.env.CallbackURL) {
		return ""
	}
	return c.env.CallbackURL + "?source_news=webhooks" // without it, an older kind comes too
}

func timestamp(at time.Time) string {
	return at.In(wire.Brasilia).Format("2006-01-02T15:04:05.000-07:00")
}
