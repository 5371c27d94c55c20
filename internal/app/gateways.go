package app

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"time"

	"carteira/internal/payment"
	"carteira/internal/payment/asaas"
	"carteira/internal/payment/bacen"
	"carteira/internal/payment/mercadopago"
	"carteira/internal/payment/pixkey"
	"carteira/internal/payment/sandbox"
	"carteira/internal/payment/woovi"
	"carteira/internal/platform/config"
	"carteira/internal/platform/sqldb"
	"carteira/internal/webhook"
)

// paymentOptions has the gateways and what payment does not import: the
// simulator's button, and the notification of a single invoice.
func paymentOptions(cfg config.Config, log *slog.Logger, db *sqldb.DB, webhooks *webhook.Service) payment.Options {
	simulator := sandbox.New(db)
	banks := bacen.Settings{Hosts: cfg.PixBankHosts}
	var off []string
	if !cfg.SandboxGateway.On(cfg.PublicURL) {
		off = append(off, sandbox.Name)
	}
	return payment.Options{
		Off: off,
		Providers: []payment.Provider{
			pixkey.Provider(), mercadopago.Provider(), asaas.Provider(), bacen.EfiProvider(banks),
			woovi.Provider(), bacen.Provider(banks),
			mercadopago.CheckoutProvider(), asaas.CheckoutProvider(), simulator.Provider(),
		},
		PublicURL: cfg.PublicURL,
		Client:    gatewayClient(),
		Log:       log,
		Notify:    webhooks.NotifyTx,
		Simulate: map[string]func(context.Context, string) error{sandbox.Name: func(ctx context.Context, id string) error {
			_, err := simulator.Pay(ctx, id)
			return err
		}},
		SimulatePayer: map[string]func(context.Context, string, string) error{sandbox.Name: simulator.ActNamed},
	}
}

// gatewayClient is for providers whose addresses are written in the program. A
// proxy of the environment is used; redirects are not followed.
func gatewayClient() *http.Client {
	transport := &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{Timeout: 5 * time.Second}).DialContext,
		TLSHandshakeTimeout: 5 * time.Second, ForceAttemptHTTP2: true,
		MaxIdleConnsPerHost: 8, IdleConnTimeout: 90 * time.Second,
	}
	return &http.Client{
		Timeout:       15 * time.Second,
		Transport:     divert(transport),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}
