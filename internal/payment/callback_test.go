package payment

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"carteira/internal/customer"
	"carteira/internal/platform/fault"
)

// key is the last part of a callback address.
func (u Setup) keyOf() string { return u.CallbackURL[strings.LastIndexByte(u.CallbackURL, '/')+1:] }

// callBack sends a callback as the bank would.
func (w *world) callBack(t *testing.T, setup Setup, body tell) error {
	t.Helper()
	text, err := json.Marshal(body)
	must(t, err)
	return w.ReceiveCallback(t.Context(), setup.Provider.Name, setup.keyOf(), Callback{Body: text})
}

func (w *world) setup(t *testing.T) Setup {
	t.Helper()
	setup, err := w.Gateway(t.Context(), w.actor)
	must(t, err)
	return setup
}

const theSecret = "s3cret-of-the-company"

func TestCallbackHasTheChargeLookedUpAtOnce(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		setup, invoice := world.setup(t), world.invoice(t)
		payable := world.charged(t, invoice.ID)
		charge := world.only(t, invoice.ID)
		// A callback is a hint and no more: nothing was paid.
		must(t, world.callBack(t, setup, tell{"e1", theSecret, charge.ID, ""}))
		world.work(t)
		world.wantOpen(t, invoice)
		if world.bank.called("look") != 1 {
			t.Errorf("looked up %d times", world.bank.called("look"))
		}
		world.bank.pay(t, payable.PixCode, 3500)
		must(t, world.callBack(t, setup, tell{"e2", theSecret, "", charge.order.Reference}))
		world.wantOpen(t, invoice) // it is answered before its charge is checked
		world.work(t)
		world.wantPaid(t, invoice)
		if n := world.count(t, `SELECT COUNT(*) FROM gateway_callbacks WHERE seen = 1`); n != 2 {
			t.Errorf("%d callbacks kept", n)
		}
	})
}

func TestForgedCallbackIsRefused(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		setup, invoice := world.setup(t), world.invoice(t)
		world.charged(t, invoice.ID)
		charge := world.only(t, invoice.ID)
		wantKind(t, world.callBack(t, setup, tell{"e1", "guess", charge.ID, ""}), fault.KindUnauthenticated)
		wantKind(t, world.ReceiveCallback(t.Context(), "fake", setup.keyOf(), Callback{Body: []byte("<xml>")}), fault.KindUnauthenticated)
		wantKind(t, world.ReceiveCallback(t.Context(), "other", setup.keyOf(), Callback{}), fault.KindNotFound)
		wantKind(t, world.ReceiveCallback(t.Context(), "fake", "guess", Callback{}), fault.KindNotFound)
		must(t, world.callBack(t, setup, tell{Secret: theSecret})) // genuine and of no interest
		world.work(t)
		if n := world.count(t, `SELECT COUNT(*) FROM gateway_callbacks`); n != 0 || world.bank.called("look") != 0 {
			t.Errorf("%d kept, %d looked up", n, world.bank.called("look"))
		}
		// One company's secret is no use at another's address, and its charges are not reached from there.
		stranger := *world
		stranger.actor = world.newCompany(t)
		v := stranger.gateway(t, "provider", "fake", "secret", "another-secret-of-another")
		wantKind(t, world.callBack(t, v, tell{"e1", theSecret, charge.ID, ""}), fault.KindUnauthenticated)
		must(t, world.callBack(t, v, tell{"e1", "another-secret-of-another", charge.ID, charge.order.Reference}))
		world.work(t)
		if got := world.only(t, invoice.ID); !got.hintedAt.IsZero() || got.checks != 0 {
			t.Errorf("another company had it looked up: %+v", got)
		}
	})
}

// The payment may have come after the gateway answered: a callback in the middle of a look has the charge looked at
// once more, also one in the same instant as the callback before it.
func TestCallbackDuringALookIsLookedIntoByItself(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		setup, invoice := world.setup(t), world.invoice(t)
		payable := world.charged(t, invoice.ID)
		ref := world.only(t, invoice.ID).ID
		must(t, world.callBack(t, setup, tell{"e1", theSecret, ref, ""}))
		claimed, err := world.claim(t.Context(), maxInFlight)
		if err != nil || len(claimed) != 1 {
			t.Fatalf("%d claimed, %v", len(claimed), err)
		}
		must(t, world.callBack(t, setup, tell{"e2", theSecret, ref, ""}))
		world.checkCharge(t.Context(), claimed[0])
		world.wantOpen(t, invoice)
		world.bank.pay(t, payable.PixCode, 3500)
		if n, err := world.Reconcile(t.Context()); n != 1 || err != nil {
			t.Errorf("%d looked at, %v", n, err)
		}
		world.wantPaid(t, invoice)
		if n, err := world.Reconcile(t.Context()); n != 0 || err != nil {
			t.Errorf("%d looked at after all is answered, %v", n, err)
		}
	})
}

func TestStormOfCallbacksPaysOnce(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		setup, invoice, other := w.setup(t), w.invoice(t), w.invoice(t)
		codes := []string{w.charged(t, invoice.ID).PixCode, w.charged(t, other.ID).PixCode}
		charge, d := w.only(t, invoice.ID), w.only(t, other.ID)
		storm := []tell{
			{"e1", theSecret, charge.ID, ""},
			{"e1", theSecret, charge.ID, ""},
			{"e2", theSecret, "", charge.order.Reference},
			{"e3", theSecret, charge.ID, charge.order.Reference},
			{"", theSecret, charge.ID, ""},
			{"e4", "forged", charge.ID, ""},
			{"e5", theSecret, "ch_999", ""},
			{"e6", theSecret, d.ID, ""},
			{"e0", theSecret, d.ID, ""},
		}
		w.bank.pay(t, codes[0], 3500)
		processes := []*world{w, w.process(t), w.process(t)}
		var all sync.WaitGroup
		for n := range 90 {
			all.Go(func() {
				world, body := processes[n%3], storm[rand.IntN(len(storm))]
				if err := world.callBack(t, setup, body); (fault.KindOf(err) == fault.KindUnauthenticated) != (body.Secret == "forged") || err != nil && body.Secret != "forged" {
					t.Errorf("%v: %v", body, err)
				}
				if _, err := world.Reconcile(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		w.work(t)
		w.wantPaid(t, invoice)
		w.wantOpen(t, other)
		w.wantReviews(t)
		// Replayed a day later, they change nothing and cost nothing.
		before := w.bank.called("look")
		for _, body := range storm[:4] {
			must(t, w.callBack(t, setup, body))
		}
		_, err := w.Reconcile(t.Context())
		must(t, err)
		if n := w.bank.called("look"); n != before {
			t.Errorf("a replay had the gateway asked %d times", n-before)
		}
		w.wantPaid(t, invoice)
	})
}

// The gateway may be faster than its own answer: a callback about a charge
// that is still being made.
func TestCallbackOfAChargeThatIsKnownByReferenceOnly(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		setup, invoice := world.setup(t), world.invoice(t)
		world.bank.loseAnswers("create", errBank)
		_, err := world.Charge(t.Context(), world.actor, invoice.ID, "")
		wantKind(t, err, fault.KindUpstream)
		world.bank.change(world.bank.paid)
		must(t, world.callBack(t, setup, tell{"e1", theSecret, "ch_1", ""}))
		world.bank.fail("look", errBank)
		world.work(t)
		world.wantOpen(t, invoice)
		world.bank.fail("look", nil)
		world.later(t, 40*time.Second)
		world.wantPaid(t, invoice)
		// A reference that is no charge of ours is looked up only so often.
		must(t, world.callBack(t, setup, tell{"e2", theSecret, "ch_77", ""}))
		world.work(t)
		if n := world.count(t, `SELECT COUNT(*) FROM gateway_callbacks WHERE next_try_at IS NOT NULL`); n != 0 {
			t.Errorf("%d are wondered at for ever", n)
		}
	})
}

func TestCallbackThatComesWhileTheChargeIsLookedAt(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		setup, invoice := world.setup(t), world.invoice(t)
		payable := world.charged(t, invoice.ID)
		charge := world.only(t, invoice.ID)
		world.bank.after = func(o string) error {
			if o == "look" { // the report is on its way, and old
				world.bank.after = nil
				go func() {
					world.bank.pay(t, payable.PixCode, 3500)
				}()
			}
			return nil
		}
		world.clock.Advance(time.Minute)
		claimed, err := world.claim(t.Context(), 1)
		must(t, err)
		must(t, world.callBack(t, setup, tell{"e1", theSecret, charge.ID, ""}))
		world.checkCharge(t.Context(), claimed[0])
		eventuallyPaid := func() bool {
			world.bank.mu.Lock()
			defer world.bank.mu.Unlock()
			return len(world.bank.charges[charge.order.Reference].payments) > 0
		}
		for !eventuallyPaid() {
		}
		world.work(t) // without the clock moving on
		world.wantPaid(t, invoice)
	})
}

func TestCallbacksAreForgottenInTime(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		setup, invoice := world.setup(t), world.invoice(t)
		world.charged(t, invoice.ID)
		must(t, world.callBack(t, setup, tell{"e1", theSecret, world.only(t, invoice.ID).ID, ""}))
		for days, want := range []int64{1, 0} {
			world.clock.Advance(time.Duration(29+2*days) * 24 * time.Hour)
			must(t, world.Prune(t.Context()))
			if n := world.count(t, `SELECT COUNT(*) FROM gateway_callbacks`); n != want {
				t.Errorf("%d callbacks, want %d", n, want)
			}
		}
	})
}

func TestEventKeyTellsCallbacksApart(t *testing.T) {
	hint := []Hint{{Ref: Ref{ID: "1"}}}
	keys := map[string]bool{}
	for n, callback := range []Callback{
		{Body: []byte("a")},
		{Body: []byte("b")},
		{Body: []byte("a"), Query: map[string][]string{"id": {"1"}}},
		{Body: []byte("a"), Query: map[string][]string{"id": {"2"}}},
	} {
		keys[eventKey(callback, hint)] = true
		if again := eventKey(callback, hint); !keys[again] || len(keys) != n+1 {
			t.Errorf("%v: %v", callback, keys)
		}
	}
	if got := eventKey(Callback{}, []Hint{{EventID: "evt"}}); got != "evt" {
		t.Errorf("got %s", got)
	}
	if got := eventKey(Callback{}, []Hint{{EventID: strings.Repeat("x", 5000)}}); len(got) > 200 {
		t.Error("a key of any length")
	}
}

// What a provider lets the company do may end every authorisation, which it reports of none.
func TestCallbackAboutTheAccountHasAuthorisationsLookedAt(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		invoice := world.authorised(t, dueOn)
		setup, err := world.Gateway(t.Context(), world.actor)
		must(t, err)
		world.bank.endsThem(ByBank)
		must(t, world.callBack(t, setup, tell{Event: accountEvent, Secret: "s3cret-of-the-company"}))
		world.later(t, time.Minute)
		known := world.wantAutopay(t, invoice.Customer.ID, customer.AutopayEnded)
		if known.Newest.EndedBy != ByBank {
			t.Errorf("ended by %s", known.Newest.EndedBy)
		}
	})
}
