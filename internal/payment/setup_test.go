package payment

import (
	"strings"
	"testing"
	"time"

	"carteira/internal/billing"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/secret"
)

func TestSetupIsWrittenAndNotRead(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		u := w.setup(t)
		if u.Provider.Name != "fake" || u.Options["secret"] != "…pany" || !u.Active || len(u.keyOf()) != 24 ||
			u.CallbackURL != "https://pay.example.com/gateways/fake/"+u.keyOf() {
			t.Errorf("got %+v", u)
		}
		stored := w.count(t, `SELECT COUNT(*) FROM gateways WHERE options LIKE '%s3cret%'`)
		if stored != 0 {
			t.Error("the secret is in the table as it is")
		}
		// What is not given stays; what is emptied goes; the address stays.
		again := w.gateway(t, "provider", "fake", "color", "red")
		if again.Options["secret"] != "…pany" || again.Options["color"] != "red" || again.CallbackURL != u.CallbackURL || again.ID != u.ID {
			t.Errorf("got %+v", again)
		}
		if again = w.gateway(t, "provider", "fake", "color", ""); again.Options["color"] != "" {
			t.Errorf("got %+v", again)
		}
		short := w.gateway(t, "provider", "fake", "secret", "abc")
		if short.Options["secret"] != "…" {
			t.Errorf("a short secret is shown: %+v", short.Options)
		}
	})
}

func TestSetupRefusesWhatIsWrong(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		for field, pairs := range map[string][]string{
			"provider": {"provider", "paypal"},
			"secret":   {"provider", "other"},
			"color":    {"provider", "fake", "color", "blue"},
		} {
			_, err := w.ConfigureGateway(t.Context(), w.actor, w.ReadGateway(values(pairs...)))
			wantField(t, err, field)
		}
		_, err := w.ConfigureGateway(t.Context(), w.actor, w.ReadGateway(values("provider", "other", "secret", "bad")))
		wantField(t, err, "secret")
		_, err = w.ConfigureGateway(t.Context(), w.actor, w.ReadGateway(values()))
		wantField(t, err, "provider")
		if u := w.setup(t); u.Provider.Name != "fake" {
			t.Errorf("the gateway is %s", u.Provider.Name)
		}
	})
}

func TestOneGatewayIsInUse(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		first := w.setup(t)
		other := w.gateway(t, "provider", "other", "secret", "x")
		if n := w.count(t, `SELECT COUNT(*) FROM gateways WHERE active = ?`, true); n != 1 || other.CallbackURL == first.CallbackURL {
			t.Errorf("%d are in use", n)
		}
		back := w.gateway(t, "provider", "fake")
		if back.ID != first.ID || back.Options["secret"] != "…pany" {
			t.Errorf("chosen again: %+v", back)
		}
		must(t, w.ClearGateway(t.Context(), w.actor))
		_, err := w.Gateway(t.Context(), w.actor)
		wantField(t, err, "gateway")
		if _, err := w.Gateway(t.Context(), w.newCompany(t)); fault.KindOf(err) != fault.KindInvalid {
			t.Errorf("another company: %v", err)
		}
	})
}

func TestCheckAsksTheGateway(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		must(t, w.CheckGateway(t.Context(), w.actor))
		w.bank.fail("check", &Refusal{"the token is wrong"})
		err := w.CheckGateway(t.Context(), w.actor)
		wantKind(t, err, fault.KindUpstream)
		if fault.Public(err) != "Fake refused: the token is wrong" || w.setup(t).Problem == "" {
			t.Errorf("told %q, kept %q", fault.Public(err), w.setup(t).Problem)
		}
		w.bank.fail("check", nil)
		must(t, w.CheckGateway(t.Context(), w.actor))
		if p := w.setup(t).Problem; p != "" {
			t.Errorf("kept %q", p)
		}
	})
}

// A gateway that was left is asked after its charges as long as something can
// come of them; then its credentials are forgotten.
func TestGatewayThatWasLeftSettlesItsCharges(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		u, i := w.setup(t), w.invoice(t)
		p := w.charged(t, i.ID)
		must(t, w.ClearGateway(t.Context(), w.actor))
		must(t, w.Prune(t.Context()))
		w.bank.pay(t, p.PixCode, 3500)
		must(t, w.callBack(t, u, tell{"e1", theSecret, "", strings.TrimPrefix(p.PixCode, "pix-")}))
		w.work(t)
		w.wantPaid(t, i)
		for range 31 { // as long as a payment that nobody reported may be found
			w.later(t, 24*time.Hour)
		}
		must(t, w.Prune(t.Context()))
		if n := w.count(t, `SELECT COUNT(*) FROM gateways WHERE options <> ''`); n != 0 {
			t.Error("credentials are kept that nothing needs")
		}
		wantKind(t, w.callBack(t, u, tell{"e2", theSecret, "x", ""}), fault.KindNotFound)
		_, err := w.ConfigureGateway(t.Context(), w.actor, w.ReadGateway(values("provider", "fake")))
		wantField(t, err, "secret")
	})
}

func TestResealLetsTheOldKeyGo(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		old := w.key
		w.key = secret.NewKey()
		both := w.process(t, old)
		for range 2 {
			must(t, both.Reseal(t.Context()))
		}
		alone := w.process(t)
		if u := alone.setup(t); u.Options["secret"] != "…pany" {
			t.Errorf("got %+v", u)
		}
		alone.charged(t, w.invoice(t).ID)
	})
}

func TestLinkStaysTheSame(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		i := w.invoice(t)
		l, err := w.PaymentLink(t.Context(), w.actor, i.ID)
		must(t, err)
		code := strings.TrimPrefix(l.URL, "https://pay.example.com/pay/")
		if len(code) != 24 || !l.Payable || l.Provider != "fake" || l.Amount != 3500 || len(l.Methods) != 1 || !l.ExpiresAt.IsZero() {
			t.Errorf("got %+v", l)
		}
		if w.bank.made != 0 {
			t.Error("a link made a charge")
		}
		p := w.charged(t, i.ID)
		again, err := w.PaymentLink(t.Context(), w.actor, i.ID)
		if err != nil || again.URL != l.URL || !again.ExpiresAt.Equal(p.ExpiresAt) {
			t.Errorf("got %+v, %v", again, err)
		}
		must(t, w.ClearGateway(t.Context(), w.actor))
		if l, err = w.PaymentLink(t.Context(), w.actor, i.ID); err != nil || l.Payable || l.Provider != "" || len(l.Methods) != 0 {
			t.Errorf("without a gateway: %+v, %v", l, err)
		}
		_, err = w.PaymentLink(t.Context(), w.newCompany(t), i.ID)
		wantKind(t, err, fault.KindNotFound)
		must(t, w.customers.Delete(t.Context(), w.actor, i.Customer.ID))
		_, err = w.Page(t.Context(), code)
		wantKind(t, err, fault.KindNotFound)
	})
}

func TestVisitorMakesTheChargeAndCannotHammer(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		i := w.invoice(t)
		l, err := w.PaymentLink(t.Context(), w.actor, i.ID)
		must(t, err)
		code := l.URL[strings.LastIndexByte(l.URL, '/')+1:]
		w.bank.fail("create", errBank)
		for range 5 {
			p, err := w.OpenPage(t.Context(), code)
			wantKind(t, err, fault.KindUpstream)
			if p.Ready || p.Company.Name != "Rede Clara" || p.RetryAt.IsZero() {
				t.Errorf("got %+v", p)
			}
		}
		if n := w.bank.called("create"); n != 1 {
			t.Errorf("five visits asked the gateway %d times", n)
		}
		w.bank.fail("create", nil)
		w.clock.Advance(retryPause)
		p, err := w.OpenPage(t.Context(), code)
		must(t, err)
		if !p.Ready || p.Payable.PixCode == "" || p.Simulated {
			t.Errorf("got %+v", p)
		}
		calls := w.bank.called("create")
		for range 3 {
			if p, err = w.OpenPage(t.Context(), code); err != nil || !p.Ready {
				t.Errorf("got %+v, %v", p, err)
			}
		}
		if w.bank.called("create") != calls || w.bank.made != 1 {
			t.Errorf("%d charges", w.bank.made)
		}
		wantKind(t, w.Simulate(t.Context(), code), fault.KindForbidden)
		w.bank.pay(t, p.Payable.PixCode, 3500)
		w.later(t, time.Minute)
		if p, err = w.OpenPage(t.Context(), code); err != nil || p.Ready || p.Invoice.Status != billing.Paid {
			t.Errorf("paid: %+v, %v", p, err)
		}
		must(t, w.ClearGateway(t.Context(), w.actor))
		if p, err = w.OpenPage(t.Context(), code); err != nil || p.Provider.Name != "" {
			t.Errorf("without a gateway: %+v, %v", p, err)
		}
		_, err = w.OpenPage(t.Context(), "guess")
		wantKind(t, err, fault.KindNotFound)
	})
}
