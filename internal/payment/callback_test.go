package payment

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"carteira/internal/platform/fault"
)

// key is the last part of a callback address.
func (u Setup) keyOf() string { return u.CallbackURL[strings.LastIndexByte(u.CallbackURL, '/')+1:] }

// callBack sends a callback as the bank would.
func (w *world) callBack(t *testing.T, u Setup, body tell) error {
	t.Helper()
	text, err := json.Marshal(body)
	must(t, err)
	return w.ReceiveCallback(t.Context(), u.Provider.Name, u.keyOf(), Callback{Body: text})
}

func (w *world) setup(t *testing.T) Setup {
	t.Helper()
	u, err := w.Gateway(t.Context(), w.actor)
	must(t, err)
	return u
}

const theSecret = "s3cret-of-the-company"

func TestCallbackHasTheChargeLookedUpAtOnce(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		u, i := w.setup(t), w.invoice(t)
		p := w.charged(t, i.ID)
		c := w.only(t, i.ID)
		// A callback is a hint and no more: nothing was paid.
		must(t, w.callBack(t, u, tell{"e1", theSecret, c.ID, ""}))
		w.work(t)
		w.wantOpen(t, i)
		if w.bank.called("look") != 1 {
			t.Errorf("looked up %d times", w.bank.called("look"))
		}
		w.bank.pay(t, p.PixCode, 3500)
		must(t, w.callBack(t, u, tell{"e2", theSecret, "", c.order.Reference}))
		w.wantOpen(t, i) // it is answered before its charge is checked
		w.work(t)
		w.wantPaid(t, i)
		if n := w.count(t, `SELECT COUNT(*) FROM gateway_callbacks WHERE seen = 1`); n != 2 {
			t.Errorf("%d callbacks kept", n)
		}
	})
}

func TestForgedCallbackIsRefused(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		u, i := w.setup(t), w.invoice(t)
		w.charged(t, i.ID)
		c := w.only(t, i.ID)
		wantKind(t, w.callBack(t, u, tell{"e1", "guess", c.ID, ""}), fault.KindUnauthenticated)
		wantKind(t, w.ReceiveCallback(t.Context(), "fake", u.keyOf(), Callback{Body: []byte("<xml>")}), fault.KindUnauthenticated)
		wantKind(t, w.ReceiveCallback(t.Context(), "other", u.keyOf(), Callback{}), fault.KindNotFound)
		wantKind(t, w.ReceiveCallback(t.Context(), "fake", "guess", Callback{}), fault.KindNotFound)
		must(t, w.callBack(t, u, tell{Secret: theSecret})) // genuine and of no interest
		w.work(t)
		if n := w.count(t, `SELECT COUNT(*) FROM gateway_callbacks`); n != 0 || w.bank.called("look") != 0 {
			t.Errorf("%d kept, %d looked up", n, w.bank.called("look"))
		}
		// One company's secret is no use at another's address, and its charges are not reached from there.
		stranger := *w
		stranger.actor = w.newCompany(t)
		v := stranger.gateway(t, "provider", "fake", "secret", "another-secret-of-another")
		wantKind(t, w.callBack(t, v, tell{"e1", theSecret, c.ID, ""}), fault.KindUnauthenticated)
		must(t, w.callBack(t, v, tell{"e1", "another-secret-of-another", c.ID, c.order.Reference}))
		w.work(t)
		if got := w.only(t, i.ID); !got.hintedAt.IsZero() || got.checks != 0 {
			t.Errorf("another company had it looked up: %+v", got)
		}
	})
}

func TestStormOfCallbacksPaysOnce(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		u, i, j := w.setup(t), w.invoice(t), w.invoice(t)
		codes := []string{w.charged(t, i.ID).PixCode, w.charged(t, j.ID).PixCode}
		c, d := w.only(t, i.ID), w.only(t, j.ID)
		storm := []tell{
			{"e1", theSecret, c.ID, ""},
			{"e1", theSecret, c.ID, ""},
			{"e2", theSecret, "", c.order.Reference},
			{"e3", theSecret, c.ID, c.order.Reference},
			{"", theSecret, c.ID, ""},
			{"e4", "forged", c.ID, ""},
			{"e5", theSecret, "ch_999", ""},
			{"e6", theSecret, d.ID, ""},
			{"e0", theSecret, d.ID, ""},
		}
		w.bank.pay(t, codes[0], 3500)
		processes := []*world{w, w.process(t), w.process(t)}
		var all sync.WaitGroup
		for n := range 90 {
			all.Go(func() {
				p, body := processes[n%3], storm[rand.IntN(len(storm))]
				if err := p.callBack(t, u, body); (fault.KindOf(err) == fault.KindUnauthenticated) != (body.Secret == "forged") || err != nil && body.Secret != "forged" {
					t.Errorf("%v: %v", body, err)
				}
				if _, err := p.Reconcile(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		w.work(t)
		w.wantPaid(t, i)
		w.wantOpen(t, j)
		w.wantReviews(t)
		// Replayed a day later, they change nothing and cost nothing.
		before := w.bank.called("look")
		for _, body := range storm[:4] {
			must(t, w.callBack(t, u, body))
		}
		_, err := w.Reconcile(t.Context())
		must(t, err)
		if n := w.bank.called("look"); n != before {
			t.Errorf("a replay had the gateway asked %d times", n-before)
		}
		w.wantPaid(t, i)
	})
}

// The gateway may be faster than its own answer: a callback about a charge
// whose making is not known yet.
func TestCallbackOfAChargeThatIsKnownByReferenceOnly(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		u, i := w.setup(t), w.invoice(t)
		w.bank.loseAnswers("create", errBank)
		_, err := w.Charge(t.Context(), w.actor, i.ID, "")
		wantKind(t, err, fault.KindUpstream)
		w.bank.change(w.bank.paid)
		must(t, w.callBack(t, u, tell{"e1", theSecret, "ch_1", ""}))
		w.bank.fail("look", errBank)
		w.work(t)
		w.wantOpen(t, i)
		w.bank.fail("look", nil)
		w.later(t, 40*time.Second)
		w.wantPaid(t, i)
		// A reference that is no charge of ours is looked up only so often.
		must(t, w.callBack(t, u, tell{"e2", theSecret, "ch_77", ""}))
		w.work(t)
		if n := w.count(t, `SELECT COUNT(*) FROM gateway_callbacks WHERE next_try_at IS NOT NULL`); n != 0 {
			t.Errorf("%d are wondered at for ever", n)
		}
	})
}

func TestCallbackThatComesWhileTheChargeIsLookedAt(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		u, i := w.setup(t), w.invoice(t)
		p := w.charged(t, i.ID)
		c := w.only(t, i.ID)
		w.bank.after = func(o string) error {
			if o == "look" { // the report is on its way, and old
				w.bank.after = nil
				go func() {
					w.bank.pay(t, p.PixCode, 3500)
				}()
			}
			return nil
		}
		w.clock.Advance(time.Minute)
		claimed, err := w.claim(t.Context(), 1)
		must(t, err)
		must(t, w.callBack(t, u, tell{"e1", theSecret, c.ID, ""}))
		w.checkCharge(t.Context(), claimed[0])
		eventuallyPaid := func() bool {
			w.bank.mu.Lock()
			defer w.bank.mu.Unlock()
			return len(w.bank.charges[c.order.Reference].payments) > 0
		}
		for !eventuallyPaid() {
		}
		w.work(t) // without the clock moving on
		w.wantPaid(t, i)
	})
}

func TestCallbacksAreForgottenInTime(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		u, i := w.setup(t), w.invoice(t)
		w.charged(t, i.ID)
		must(t, w.callBack(t, u, tell{"e1", theSecret, w.only(t, i.ID).ID, ""}))
		for days, want := range []int64{1, 0} {
			w.clock.Advance(time.Duration(29+2*days) * 24 * time.Hour)
			must(t, w.Prune(t.Context()))
			if n := w.count(t, `SELECT COUNT(*) FROM gateway_callbacks`); n != want {
				t.Errorf("%d callbacks, want %d", n, want)
			}
		}
	})
}

func TestEventKeyTellsCallbacksApart(t *testing.T) {
	hint := []Hint{{Ref: Ref{ID: "1"}}}
	keys := map[string]bool{}
	for n, c := range []Callback{
		{Body: []byte("a")},
		{Body: []byte("b")},
		{Body: []byte("a"), Query: map[string][]string{"id": {"1"}}},
		{Body: []byte("a"), Query: map[string][]string{"id": {"2"}}},
	} {
		keys[eventKey(c, hint)] = true
		if again := eventKey(c, hint); !keys[again] || len(keys) != n+1 {
			t.Errorf("%v: %v", c, keys)
		}
	}
	if got := eventKey(Callback{}, []Hint{{EventID: "evt"}}); got != "evt" {
		t.Errorf("got %s", got)
	}
	if got := eventKey(Callback{}, []Hint{{EventID: strings.Repeat("x", 5000)}}); len(got) > 200 {
		t.Error("a key of any length")
	}
}
