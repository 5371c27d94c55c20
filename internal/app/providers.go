package app

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"carteira/internal/account"
	"carteira/internal/payment"
	"carteira/internal/payment/asaas"
	"carteira/internal/payment/bacen"
	"carteira/internal/payment/mercadopago"
	"carteira/internal/payment/pix"
	"carteira/internal/payment/pixkey"
	"carteira/internal/payment/sandbox"
	"carteira/internal/payment/woovi"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/config"
	"carteira/internal/platform/outbound"
	"carteira/internal/platform/sqldb"
	"carteira/internal/reminder"
	"carteira/internal/reminder/evolution"
	"carteira/internal/reminder/logchannel"
	"carteira/internal/reminder/poster"
	"carteira/internal/reminder/smtp"
	"carteira/internal/reminder/whatsapp"
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

// gatewayClient is for providers with addresses that are constants of the
// program. A proxy of the environment is used; redirects are not followed.
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

// maxCarrierAnswer is how much of a carrier's answer is read: a list of the instances
// of a bridge, or a code to scan with its picture, is longer than a receipt.
const maxCarrierAnswer = 256 << 10

// reminderOptions are the channels there are, and what a customer pays with.
func reminderOptions(
	cfg config.Config, log *slog.Logger, gate *outbound.Gate, client *outbound.Client, payments *payment.Service,
) reminder.Options {
	near := outbound.NewGate(cfg.MessageAllowNetworks, nil).Neighbours()
	return reminder.Options{
		Kinds: []reminder.Kind{
			whatsapp.Kind, evolution.NewKind(), smtp.Kind, poster.Kind, logchannel.Kind,
		},
		Env: reminder.Env{
			Gate: near,
			Once: outbound.NewClient(near, outbound.Options{
				Timeout:   reminder.CallTimeout,
				MaxBody:   maxCarrierAnswer,
				UserAgent: "Carteira/1.0",
				Once:      true,
			}),
			WebhookGate: gate,
			Webhooks:    client,
			Log:         log,
		},
		Links: payLinks{payments},
		Keep:  time.Duration(cfg.MessageHistoryDays) * 24 * time.Hour,

		PublicURL:   cfg.PublicURL,
		Unreachable: cfg.Reach() != config.Reachable,
	}
}

// payLinks lets messages carry what the payment room makes.
type payLinks struct{ payments *payment.Service }

// PaymentLink is the address of the page on which an invoice is paid.
func (l payLinks) PaymentLink(ctx context.Context, actor account.Actor, invoiceID int64) (string, error) {
	link, err := l.payments.PaymentLink(ctx, actor, invoiceID)
	return link.URL, err
}

// DebitOn is when an invoice will be debited by PIX Automático.
func (l payLinks) DebitOn(ctx context.Context, actor account.Actor, invoiceID int64) (civil.Date, error) {
	days, err := l.payments.DebitDays(ctx, actor, []int64{invoiceID})
	return days[invoiceID], err
}

// PixCode has the invoice charged, and is the code to copy. Where a gateway has
// none, its page takes the code's place.
func (l payLinks) PixCode(ctx context.Context, actor account.Actor, invoiceID int64) (string, error) {
	payable, err := l.payments.Charge(ctx, actor, invoiceID, "")
	if err == nil && payable.PixCode == "" {
		return payable.CheckoutURL, nil
	}
	return payable.PixCode, err
}

// Picture draws a PIX code. What begins otherwise than one is the address of a
// gateway's page, which a button leads to.
func (l payLinks) Picture(code string) ([]byte, error) {
	if !strings.HasPrefix(code, "000201") {
		return nil, nil
	}
	return pix.PNG(code)
}

// everywhere is where the operator's own mail server may be: unlike those of
// companies, the operator names it.
var everywhere = []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")}

// mailer hands mails to users to the operator's mail server; nil without one.
func mailer(cfg config.Config, db *sqldb.DB) account.Mailer {
	if cfg.Mail == nil {
		return nil
	}
	security, port := "starttls", "587"
	if cfg.Mail.Scheme == "smtps" {
		security, port = "tls", "465"
	}
	password, _ := cfg.Mail.User.Password()
	sender, err := smtp.Kind.Open(map[string]string{
		"host": cfg.Mail.Hostname(), "port": cmp.Or(cfg.Mail.Port(), port), "security": security,
		"from": cfg.MailFrom, "from_name": "Carteira",
		"username": cfg.Mail.User.Username(), "password": password,
	}, reminder.Env{Gate: outbound.NewGate(everywhere, nil).Neighbours()})
	return func(ctx context.Context, mail account.Mail) error {
		if err != nil {
			return fmt.Errorf("CARTEIRA_MAIL_URL: %w", err)
		}
		_, err := sender.Send(ctx, reminder.Letter{
			ID:      mail.ID,
			To:      mail.To,
			Subject: mail.Subject,
			Text:    mail.Text,
			At:      db.Now(),
		})
		if err != nil {
			return fmt.Errorf("mail server: %w", err)
		}
		return nil
	}
}

// tellGateway writes to the owners of a company that its money goes elsewhere.
func tellGateway(accounts *account.Service) func(context.Context, account.Tx, string) error {
	return func(ctx context.Context, tx account.Tx, what string) error {
		return accounts.TellOwnersTx(ctx, tx, account.Notice{
			Kind:    "gateway",
			Subject: "o destino do dinheiro foi alterado",
			Text: "O gateway ou a chave PIX da sua empresa foi alterado: " + what + ". Quem o fez está no registro de auditoria.\n\n" +
				"Se nenhum de vocês fez isso, troquem as senhas e configurem o gateway de novo.",
			English: "The gateway or PIX key of your company was changed: " + what + ". The audit log says by whom. " +
				"If none of you did that, change your passwords and set the gateway up again.",
		})
	}
}
