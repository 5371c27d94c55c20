package payment

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"carteira/internal/billing"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/worker"
)

// logged has the service log into a buffer.
func (w *world) logged() *bytes.Buffer {
	var out bytes.Buffer
	w.options.Log = slog.New(slog.NewTextHandler(&out, nil))
	return &out
}

func panicOn(operation string) func(context.Context, string) error {
	return func(_ context.Context, o string) error {
		if o == operation {
			panic("index out of range")
		}
		return nil
	}
}

func wantLogged(t *testing.T, log *bytes.Buffer, words string, times int) {
	t.Helper()
	if n := strings.Count(log.String(), words); n != times {
		t.Errorf("%q is logged %d times, want %d", words, n, times)
	}
}

func TestChargeWhoseGatewayPanicsIsSetAsideAfterThreeTimes(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		log, i := w.logged(), w.invoice(t)
		p := w.charged(t, i.ID)
		w.bank.before = panicOn("look")
		for range 20 {
			w.later(t, time.Hour)
		}
		if n := w.bank.called("look"); n != worker.MaxStrikes {
			t.Errorf("looked up %d times", n)
		}
		if c := w.only(t, i.ID); c.problem != asideProblem || c.claim != "" {
			t.Errorf("the charge is %+v", c)
		}
		if u := w.setup(t); u.Problem != asideProblem {
			t.Errorf("the gateway's problem is %q", u.Problem)
		}
		wantLogged(t, log, "level=ERROR msg=\"charge set aside", 1)
		wantLogged(t, log, "debug.Stack()", 6) // the stack, with the call and with the charge
		// After a day it is looked at again, and the money that came meanwhile is found.
		w.bank.before = nil
		w.bank.payAt(t, p.PixCode, 3500, noon.Add(time.Hour))
		w.later(t, 12*time.Hour)
		w.wantPaid(t, i)
	})
}

// What panics here is inside of the settlement's transaction: nothing ends the
// claim but its lease.
func TestChargeWhoseSettlementPanicsIsSetAsideAndStopsNoOther(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		log, i, j := w.logged(), w.invoice(t), w.invoice(t)
		w.invoices.Watch(func(_ context.Context, _ *sqldb.Tx, changed billing.Changes) error {
			if c := changed.List[0]; c.Action == billing.ActionUpdated && c.After.ID == i.ID {
				panic("nil map")
			}
			return nil
		})
		for _, invoice := range []billing.Invoice{i, j} {
			w.bank.pay(t, w.charged(t, invoice.ID).PixCode, 3500)
		}
		for range 10 {
			w.later(t, unhurried+time.Minute)
		}
		w.wantPaid(t, j)
		w.wantOpen(t, i)
		wantLogged(t, log, "charge panicked", worker.MaxStrikes-1)
		wantLogged(t, log, "charge set aside", 1)
		if c := w.only(t, i.ID); c.problem != asideProblem || c.nextCheck.Before(w.clock.Now()) {
			t.Errorf("the charge is %+v", c)
		}
	})
}

func TestCallbackThatPanicsIsSetAsideAfterThreeTimes(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		log, u := w.logged(), w.setup(t)
		w.bank.before = panicOn("look")
		must(t, w.callBack(t, u, tell{"e1", theSecret, "ch_77", ""}))
		for range 10 {
			w.later(t, unhurried+time.Minute)
		}
		if n := w.bank.called("look"); n != worker.MaxStrikes {
			t.Errorf("looked into %d times", n)
		}
		if n := w.count(t, `SELECT COUNT(*) FROM gateway_callbacks WHERE next_try_at IS NOT NULL`); n != 0 {
			t.Errorf("%d are still claimed", n)
		}
		wantLogged(t, log, "level=ERROR msg=\"callback set aside", 1)
	})
}
