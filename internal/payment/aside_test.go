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
	each(t, func(t *testing.T, world *world) {
		log, invoice := world.logged(), world.invoice(t)
		payable := world.charged(t, invoice.ID)
		world.bank.before = panicOn("look")
		for range 20 {
			world.later(t, time.Hour)
		}
		if n := world.bank.called("look"); n != worker.MaxStrikes {
			t.Errorf("looked up %d times", n)
		}
		if charge := world.only(t, invoice.ID); charge.problem != asideProblem || charge.claim != "" {
			t.Errorf("the charge is %+v", charge)
		}
		if setup := world.setup(t); setup.Problem != asideProblem {
			t.Errorf("the gateway's problem is %q", setup.Problem)
		}
		wantLogged(t, log, "level=ERROR msg=\"charge set aside", 1)
		wantLogged(t, log, "debug.Stack()", 6) // the stack, with the call and with the charge
		// After a day it is looked at again, and the money that came meanwhile is found.
		world.bank.before = nil
		world.bank.payAt(t, payable.PixCode, 3500, noon.Add(time.Hour))
		world.later(t, 12*time.Hour)
		world.wantPaid(t, invoice)
	})
}

// What panics here is inside of the settlement's transaction: nothing ends the
// claim but its lease.
func TestChargeWhoseSettlementPanicsIsSetAsideAndStopsNoOther(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		log, bill, other := world.logged(), world.invoice(t), world.invoice(t)
		world.invoices.Watch(func(_ context.Context, _ *sqldb.Tx, changed billing.Changes) error {
			if change := changed.List[0]; change.Action == billing.ActionUpdated && change.After.ID == bill.ID {
				panic("nil map")
			}
			return nil
		})
		for _, invoice := range []billing.Invoice{bill, other} {
			world.bank.pay(t, world.charged(t, invoice.ID).PixCode, 3500)
		}
		for range 10 {
			world.later(t, unhurried+time.Minute)
		}
		world.wantPaid(t, other)
		world.wantOpen(t, bill)
		wantLogged(t, log, "charge panicked", worker.MaxStrikes-1)
		wantLogged(t, log, "charge set aside", 1)
		if charge := world.only(t, bill.ID); charge.problem != asideProblem || charge.nextCheck.Before(world.clock.Now()) {
			t.Errorf("the charge is %+v", charge)
		}
	})
}

func TestCallbackThatPanicsIsSetAsideAfterThreeTimes(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		log, setup := world.logged(), world.setup(t)
		world.bank.before = panicOn("look")
		must(t, world.callBack(t, setup, tell{"e1", theSecret, "ch_77", ""}))
		for range 10 {
			world.later(t, unhurried+time.Minute)
		}
		if n := world.bank.called("look"); n != worker.MaxStrikes {
			t.Errorf("looked into %d times", n)
		}
		if n := world.count(t, `SELECT COUNT(*) FROM gateway_callbacks WHERE next_try_at IS NOT NULL`); n != 0 {
			t.Errorf("%d are still claimed", n)
		}
		wantLogged(t, log, "level=ERROR msg=\"callback set aside", 1)
	})
}
