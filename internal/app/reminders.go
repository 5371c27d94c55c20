package app

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"carteira/internal/account"
	"carteira/internal/payment"
	"carteira/internal/payment/pix"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/config"
	"carteira/internal/platform/outbound"
	"carteira/internal/reminder"
	"carteira/internal/reminder/evolution"
	"carteira/internal/reminder/logchannel"
	"carteira/internal/reminder/poster"
	"carteira/internal/reminder/smtp"
	"carteira/internal/reminder/whatsapp"
)

// reminderOptions are the channels there are, and what a customer pays with.
func reminderOptions(
	cfg config.Config, log *slog.Logger, gate *outbound.Gate, client *outbound.Client, payments *payment.Service,
) reminder.Options {
	near := outbound.NewGate(cfg.MessageAllowNetworks, nil).Near()
	return reminder.Options{
		Kinds: []reminder.Kind{
			whatsapp.Kind, evolution.NewKind(), smtp.Kind, poster.Kind, logchannel.Kind,
		},
		Env: reminder.Env{
			Gate: near,
			Once: outbound.NewClient(near, outbound.Options{
				Timeout:   reminder.CallTimeout,
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
