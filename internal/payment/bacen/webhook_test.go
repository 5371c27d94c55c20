package bacen_test

import (
	"errors"
	"strings"
	"testing"

	"carteira/internal/payment"
	"carteira/internal/payment/wire"
	"carteira/test/kit/gatewaytest"
)

func TestWebhookIsRegisteredWithAProofAndAPlaceForTheSuffix(t *testing.T) {
	_, double := bench(t)
	if !strings.HasPrefix(double.webhook, gatewaytest.CallbackURL+"?hmac=") || !strings.HasSuffix(double.webhook, "&ignorar=") || strings.Contains(double.webhook, clientSecret) {
		t.Errorf("registered %s", double.webhook)
	}
}

// A company that chose Efí before there were other banks has this address there,
// and goes on with it.
func TestAddressAtEfiIsTheOneOfBefore(t *testing.T) {
	_, double := bench(t)
	if want := gatewaytest.CallbackURL + "?hmac=" + wire.Derive(clientSecret, gatewaytest.CallbackURL) + "&ignorar="; double.webhook != want {
		t.Errorf("registered %s", double.webhook)
	}
}

const others = "https://erp.example.com/pix/loja?token=s3cret"

func TestWebhookOfAnotherSystemIsLeftAloneAndNamed(t *testing.T) {
	b, double := bench(t)
	double.webhook = others
	err := b.Gateway.(payment.Registrar).Register(t.Context())
	taken, ok := errors.AsType[*payment.WebhookTaken](err)
	if !ok || taken.URL != "https://erp.example.com/pix/loja" || strings.Contains(err.Error(), "s3cret") {
		t.Fatalf("got %v", err)
	}
	if double.webhook != others || !errors.Is(err, payment.ErrRefused) {
		t.Errorf("%s is registered, after %v", double.webhook, err)
	}
}

func TestWebhookOfAnotherSystemIsReplacedWhenThatIsAgreed(t *testing.T) {
	b, double := bench(t)
	ours := double.webhook
	replacer := b.Gateway.(payment.Replacer)
	double.webhook = others
	// Another system changed it between the question and the answer.
	err := replacer.Replace(t.Context(), "https://old.example.com/pix")
	if taken, ok := errors.AsType[*payment.WebhookTaken](err); !ok || taken.URL != "https://erp.example.com/pix/loja" || double.webhook != others {
		t.Errorf("agreed on another: %v, %s", err, double.webhook)
	}
	if err := replacer.Replace(t.Context(), "https://erp.example.com/pix/loja"); err != nil || double.webhook != ours {
		t.Errorf("agreed: %v, %s", err, double.webhook)
	}
}

// The proof changes with the credentials, and some banks tell the address with
// what they add to it.
func TestOwnWebhookIsRenewedWithoutAQuestion(t *testing.T) {
	b, double := bench(t)
	ours := double.webhook
	for _, present := range []string{gatewaytest.CallbackURL + "?hmac=old&ignorar=", gatewaytest.CallbackURL + "/pix", gatewaytest.CallbackURL, ""} {
		double.webhook = present
		if err := b.Gateway.(payment.Registrar).Register(t.Context()); err != nil || double.webhook != ours {
			t.Errorf("%q: %v, %s", present, err, double.webhook)
		}
	}
}

func TestWebhookThatMayNotBeReadIsAskedAbout(t *testing.T) {
	b, double := bench(t)
	ours := double.webhook
	double.webhook, double.blind = others, true
	err := b.Gateway.(payment.Registrar).Register(t.Context())
	taken, ok := errors.AsType[*payment.WebhookTaken](err)
	if !ok || taken.URL != "unknown" || double.webhook != others {
		t.Fatalf("got %v, %s", err, double.webhook)
	}
	if err := b.Gateway.(payment.Replacer).Replace(t.Context(), taken.URL); err != nil || double.webhook != ours {
		t.Errorf("agreed: %v, %s", err, double.webhook)
	}
}
