package payment

import (
	"errors"
	"strings"
	"testing"
	"time"

	"carteira/internal/billing"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/secret"
)

func TestSetupIsWrittenAndNotRead(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		setup := world.setup(t)
		if setup.Provider.Name != "fake" || setup.Options["secret"] != "…pany" || !setup.Active || len(setup.keyOf()) != 24 ||
			setup.CallbackURL != "https://pay.example.com/gateways/fake/"+setup.keyOf() {
			t.Errorf("got %+v", setup)
		}
		stored := world.count(t, `SELECT COUNT(*) FROM gateways WHERE options LIKE '%s3cret%'`)
		if stored != 0 {
			t.Error("the secret is in the table as it is")
		}
		// What is not given stays; what is emptied goes; the address stays.
		again := world.gateway(t, "provider", "fake", "color", "red")
		if again.Options["secret"] != "…pany" || again.Options["color"] != "red" || again.CallbackURL != setup.CallbackURL || again.ID != setup.ID {
			t.Errorf("got %+v", again)
		}
		if again = world.gateway(t, "provider", "fake", "color", ""); again.Options["color"] != "" {
			t.Errorf("got %+v", again)
		}
		short := world.gateway(t, "provider", "fake", "secret", "abc")
		if short.Options["secret"] != "…" {
			t.Errorf("a short secret is shown: %+v", short.Options)
		}
	})
}

func TestSetupRefusesWhatIsWrong(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		for field, pairs := range map[string][]string{
			"provider": {"provider", "paypal"},
			"secret":   {"provider", "other"},
			"color":    {"provider", "fake", "color", "blue"},
		} {
			_, err := world.ConfigureGateway(t.Context(), world.actor, world.ReadGateway(values(pairs...)))
			wantField(t, err, field)
		}
		_, err := world.ConfigureGateway(t.Context(), world.actor, world.ReadGateway(values("provider", "other", "secret", "bad")))
		wantField(t, err, "secret")
		_, err = world.ConfigureGateway(t.Context(), world.actor, world.ReadGateway(values()))
		wantField(t, err, "provider")
		if setup := world.setup(t); setup.Provider.Name != "fake" {
			t.Errorf("the gateway is %s", setup.Provider.Name)
		}
	})
}

func TestOneGatewayIsInUse(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		first := world.setup(t)
		other := world.gateway(t, "provider", "other", "secret", "x")
		if n := world.count(t, `SELECT COUNT(*) FROM gateways WHERE active = ?`, true); n != 1 || other.CallbackURL == first.CallbackURL {
			t.Errorf("%d are in use", n)
		}
		back := world.gateway(t, "provider", "fake")
		if back.ID != first.ID || back.Options["secret"] != "…pany" {
			t.Errorf("chosen again: %+v", back)
		}
		must(t, world.ClearGateway(t.Context(), world.actor))
		_, err := world.Gateway(t.Context(), world.actor)
		wantField(t, err, "gateway")
		if _, err := world.Gateway(t.Context(), world.newCompany(t)); fault.KindOf(err) != fault.KindInvalid {
			t.Errorf("another company: %v", err)
		}
	})
}

func TestCheckAsksTheGateway(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		must(t, world.CheckGateway(t.Context(), world.actor))
		world.bank.fail("check", &Refusal{"the token is wrong"})
		err := world.CheckGateway(t.Context(), world.actor)
		wantKind(t, err, fault.KindUpstream)
		if fault.Public(err) != "Fake refused: the token is wrong" || world.setup(t).Problem == "" {
			t.Errorf("told %q, kept %q", fault.Public(err), world.setup(t).Problem)
		}
		world.bank.fail("check", nil)
		must(t, world.CheckGateway(t.Context(), world.actor))
		if p := world.setup(t).Problem; p != "" {
			t.Errorf("kept %q", p)
		}
	})
}

// A webhook of another system stays until a person who has read its address
// decides otherwise.
func TestWebhookOfAnotherSystemIsReplacedOnlyWhenAgreed(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		world.bank.taken = "https://erp.example.com/pix"
		err := world.CheckGateway(t.Context(), world.actor)
		wantKind(t, err, fault.KindUpstream)
		taken, found := errors.AsType[*WebhookTaken](err)
		const told = "Fake: the webhook of the PIX key calls another system: https://erp.example.com/pix"
		if !found || taken.URL != world.bank.taken || fault.Public(err) != told || world.setup(t).Problem != told {
			t.Errorf("told %v, kept %q", err, world.setup(t).Problem)
		}
		if failures := world.setup(t).Failures; failures != 0 {
			t.Errorf("it counts as %d failures", failures)
		}
		if err := world.ReplaceWebhook(t.Context(), world.actor, "https://old.example.com"); err == nil || world.bank.taken == "" {
			t.Errorf("agreed on another: %v", err)
		}
		must(t, world.ReplaceWebhook(t.Context(), world.actor, taken.URL))
		if world.bank.taken != "" || world.setup(t).Problem != "" {
			t.Errorf("%q is called, %q is kept", world.bank.taken, world.setup(t).Problem)
		}
	})
}

// A gateway that was left is asked after its charges as long as something can
// come of them; then its credentials are forgotten.
func TestGatewayThatWasLeftSettlesItsCharges(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		setup, invoice := world.setup(t), world.invoice(t)
		payable := world.charged(t, invoice.ID)
		must(t, world.ClearGateway(t.Context(), world.actor))
		must(t, world.Prune(t.Context()))
		world.bank.pay(t, payable.PixCode, 3500)
		must(t, world.callBack(t, setup, tell{"e1", theSecret, "", strings.TrimPrefix(payable.PixCode, "pix-")}))
		world.work(t)
		world.wantPaid(t, invoice)
		for range 31 { // as long as an unreported payment may be found
			world.later(t, 24*time.Hour)
		}
		must(t, world.Prune(t.Context()))
		if n := world.count(t, `SELECT COUNT(*) FROM gateways WHERE options <> ''`); n != 0 {
			t.Error("credentials are kept that nothing needs")
		}
		wantKind(t, world.callBack(t, setup, tell{"e2", theSecret, "x", ""}), fault.KindNotFound)
		_, err := world.ConfigureGateway(t.Context(), world.actor, world.ReadGateway(values("provider", "fake")))
		wantField(t, err, "secret")
	})
}

func TestResealLetsTheOldKeyGo(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		old := world.key
		world.key = secret.NewKey()
		both := world.process(t, old)
		for range 2 {
			must(t, both.Reseal(t.Context()))
		}
		alone := world.process(t)
		if setup := alone.setup(t); setup.Options["secret"] != "…pany" {
			t.Errorf("got %+v", setup)
		}
		alone.charged(t, world.invoice(t).ID)
	})
}

func TestLinkStaysTheSame(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		invoice := world.invoice(t)
		link, err := world.PaymentLink(t.Context(), world.actor, invoice.ID)
		must(t, err)
		code := strings.TrimPrefix(link.URL, "https://pay.example.com/pay/")
		if len(code) != 24 || !link.Payable || link.Provider != "fake" || link.Amount != 3500 || len(link.Methods) != 1 || !link.ExpiresAt.IsZero() {
			t.Errorf("got %+v", link)
		}
		if world.bank.made != 0 {
			t.Error("a link made a charge")
		}
		payable := world.charged(t, invoice.ID)
		again, err := world.PaymentLink(t.Context(), world.actor, invoice.ID)
		if err != nil || again.URL != link.URL || !again.ExpiresAt.Equal(payable.ExpiresAt) {
			t.Errorf("got %+v, %v", again, err)
		}
		must(t, world.ClearGateway(t.Context(), world.actor))
		if link, err = world.PaymentLink(t.Context(), world.actor, invoice.ID); err != nil || link.Payable || link.Provider != "" || len(link.Methods) != 0 {
			t.Errorf("without a gateway: %+v, %v", link, err)
		}
		_, err = world.PaymentLink(t.Context(), world.newCompany(t), invoice.ID)
		wantKind(t, err, fault.KindNotFound)
		must(t, world.customers.Delete(t.Context(), world.actor, invoice.Customer.ID))
		_, err = world.Page(t.Context(), code)
		wantKind(t, err, fault.KindNotFound)
	})
}

func TestVisitorMakesTheChargeAndCannotHammer(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		invoice := world.invoice(t)
		link, err := world.PaymentLink(t.Context(), world.actor, invoice.ID)
		must(t, err)
		code := link.URL[strings.LastIndexByte(link.URL, '/')+1:]
		world.bank.fail("create", errBank)
		for range 5 {
			page, err := world.OpenPage(t.Context(), code)
			wantKind(t, err, fault.KindUpstream)
			if page.Ready || page.Company.Name != "Rede Clara" || page.RetryAt.IsZero() {
				t.Errorf("got %+v", page)
			}
		}
		if n := world.bank.called("create"); n != 1 {
			t.Errorf("five visits asked the gateway %d times", n)
		}
		world.bank.fail("create", nil)
		world.clock.Advance(retryPause)
		page, err := world.OpenPage(t.Context(), code)
		must(t, err)
		if !page.Ready || page.Payable.PixCode == "" || page.Simulated {
			t.Errorf("got %+v", page)
		}
		calls := world.bank.called("create")
		for range 3 {
			if page, err = world.OpenPage(t.Context(), code); err != nil || !page.Ready {
				t.Errorf("got %+v, %v", page, err)
			}
		}
		if world.bank.called("create") != calls || world.bank.made != 1 {
			t.Errorf("%d charges", world.bank.made)
		}
		wantKind(t, world.Simulate(t.Context(), code), fault.KindForbidden)
		world.bank.pay(t, page.Payable.PixCode, 3500)
		world.later(t, time.Minute)
		if page, err = world.OpenPage(t.Context(), code); err != nil || page.Ready || page.Invoice.Status != billing.Paid {
			t.Errorf("paid: %+v, %v", page, err)
		}
		must(t, world.ClearGateway(t.Context(), world.actor))
		if page, err = world.OpenPage(t.Context(), code); err != nil || page.Provider.Name != "" {
			t.Errorf("without a gateway: %+v, %v", page, err)
		}
		_, err = world.OpenPage(t.Context(), "guess")
		wantKind(t, err, fault.KindNotFound)
	})
}
