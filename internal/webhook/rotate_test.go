package webhook_test

import (
	"strings"
	"testing"
	"time"

	"carteira/internal/event"
	"carteira/internal/platform/sqldb"
	"carteira/internal/webhook"
	"carteira/test/kit/webhooktest"
)

// signedBy checks the three headers of a delivery: by the new secret, and by the
// old one where there is one.
func signedBy(t *testing.T, got webhooktest.Message, secret, old string) {
	t.Helper()
	at, id, body := got.Header.Get("X-Service-Timestamp"), got.Header.Get("Webhook-Id"), []byte(got.Body)
	own := func(secret string) string { return "sha256=" + webhook.Sign([]byte(secret), at, body) }
	standard := func(secret string) string { return webhooktest.SignStandard(secret, id, at, body) }
	wantOld, wantStandard := "", standard(secret)
	if old != "" {
		wantOld, wantStandard = own(old), wantStandard+" "+standard(old)
	}
	for _, header := range []struct{ name, want string }{
		{"X-Service-Signature", own(secret)}, {"X-Service-Signature-Old", wantOld}, {"Webhook-Signature", wantStandard},
	} {
		if sent := got.Header.Get(header.name); sent != header.want {
			t.Errorf("%s: %s, want %s", header.name, sent, header.want)
		}
	}
}

func TestOldSecretOfAWebhookSignsForADay(t *testing.T) {
	webhooktest.Each(t, func(t *testing.T, world *webhooktest.World) {
		receiver := webhooktest.NewReceiver(t)
		id, first := world.Subscribe(receiver.URL, event.CustomerCreated)
		ping := func(secret, old string) {
			t.Helper()
			_, _, err := world.Test(t.Context(), world.Actor, id)
			webhooktest.Must(t, err)
			messages := receiver.Messages()
			signedBy(t, messages[len(messages)-1], secret, old)
		}
		rotate := func() string {
			t.Helper()
			secret, err := world.RotateSecret(t.Context(), world.Actor, id)
			webhooktest.Must(t, err)
			return secret
		}
		ping(first, "")
		second := rotate()
		if second == first || !strings.HasPrefix(second, "whsec_") {
			t.Errorf("the secret after %s is %s", first, second)
		}
		world.Clock.Advance(webhook.Overlap - time.Second)
		world.Put(id, `{"description":"changed meanwhile"}`)
		ping(second, first)
		world.Clock.Advance(time.Second)
		ping(second, "")
		third := rotate()
		fourth := rotate()
		ping(fourth, third)
		if _, err := world.RotateSecret(t.Context(), world.Actor, id+1); err == nil {
			t.Error("the secret of no webhook was replaced")
		}
	})
}

func TestOldCallbackSecretSignsForADay(t *testing.T) {
	webhooktest.Each(t, func(t *testing.T, world *webhooktest.World) {
		first, err := world.CallbackSecret(t.Context(), world.Actor)
		webhooktest.Must(t, err)
		second, err := world.RotateCallbackSecret(t.Context(), world.Actor)
		webhooktest.Must(t, err)
		if now, err := world.CallbackSecret(t.Context(), world.Actor); err != nil || now != second || now == first {
			t.Errorf("the secret is %s, %v, after %s and %s", now, err, first, second)
		}
		until, err := sqldb.Value[int64](t.Context(), world.DB, `SELECT old_until FROM callback_secrets WHERE old_secret <> ''`)
		if want := webhooktest.Morning.Add(webhook.Overlap).UnixMicro(); err != nil || until != want {
			t.Errorf("the old secret signs until %d, want %d: %v", until, want, err)
		}
	})
}
