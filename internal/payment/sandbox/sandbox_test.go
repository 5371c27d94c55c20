package sandbox_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"carteira/internal/payment"
	"carteira/internal/payment/sandbox"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/money"
	"carteira/internal/platform/sqldb"
	"carteira/test/kit/gatewaytest"
	"carteira/test/kit/pixtest"
	"carteira/test/kit/sqldbtest"
)

// double moves the sandbox as the suite wants.
type double struct {
	t    *testing.T
	db   *sqldb.DB
	sand *sandbox.Sandbox
}

func (d *double) Charges() int {
	n, err := sqldb.Value[int](d.t.Context(), d.db, `SELECT count(*) FROM sandbox_charges`)
	d.must(err)
	return n
}

func (d *double) Asked(reference string) money.Cents {
	charge, err := d.sand.Find(d.t.Context(), reference)
	d.must(err)
	return charge.Amount
}

func (d *double) Pay(reference string, amount money.Cents) {
	_, err := d.sand.Receive(d.t.Context(), reference, amount)
	d.must(err)
}

func (d *double) Callback(reference string) payment.Callback {
	callback, err := d.sand.Callback(d.t.Context(), reference)
	d.must(err)
	return callback
}

func (d *double) Forgeries(reference string) map[string]payment.Callback {
	with := func(change func(*payment.Callback)) payment.Callback {
		callback := d.Callback(reference)
		change(&callback)
		return callback
	}
	return map[string]payment.Callback{
		"no signature":      with(func(callback *payment.Callback) { callback.Header.Del("X-Sandbox-Signature") }),
		"another signature": with(func(callback *payment.Callback) { callback.Header.Set("X-Sandbox-Signature", strings.Repeat("0", 64)) }),
		"an altered body":   with(func(callback *payment.Callback) { callback.Body = append(slices.Clone(callback.Body), ' ') }),
		"another charge":    with(func(callback *payment.Callback) { callback.Body = []byte(`{"id":"x","charge_id":"nobody"}`) }),
	}
}

func (d *double) must(err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
}

type place struct {
	double
	clock   *sqldbtest.Clock
	gateway payment.Gateway
}

func open(t *testing.T, engine sqldb.Engine, flow string) *place {
	t.Helper()
	clock := sqldbtest.NewClock(gatewaytest.Now)
	db := sqldbtest.New(t, engine, sqldbtest.WithClock(clock))
	s := sandbox.New(db)
	gateway, err := s.Provider().Open(map[string]string{"flow": flow}, gatewaytest.Env(nil))
	if err != nil {
		t.Fatal(err)
	}
	return &place{double{t, db, s}, clock, gateway}
}

func suite(t *testing.T, engine sqldb.Engine, flow payment.Flow) {
	t.Helper()
	gatewaytest.Run(t, func(t *testing.T) *gatewaytest.Bench {
		t.Helper()
		place := open(t, engine, string(flow))
		return &gatewaytest.Bench{Flow: flow, Gateway: place.gateway, Double: &place.double}
	})
}

func TestSandboxPassesTheSuite(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) { suite(t, engine, payment.FlowPix) })
}

func TestSandboxThatRedirectsPassesTheSuite(t *testing.T) {
	suite(t, sqldb.SQLite, payment.FlowRedirect)
}

func TestButtonPaysOnce(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		place := open(t, engine, "")
		order := gatewaytest.Order(1, 35_00)
		made, err := place.gateway.Create(t.Context(), order)
		place.must(err)
		var group sync.WaitGroup
		for range 10 {
			group.Go(func() {
				if _, err := place.sand.Pay(context.WithoutCancel(t.Context()), made.ID); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		charge, err := place.sand.Find(t.Context(), order.Reference)
		if err != nil || len(charge.Payments) != 1 || charge.Payments[0].Amount != 35_00 || place.sand.Payable(charge) {
			t.Errorf("got %+v, %v", charge, err)
		}
	})
}

func TestWhatCannotBePaidRefusesTheButton(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		place := open(t, engine, "")
		cancelled, expired := gatewaytest.Order(1, 1_00), gatewaytest.Order(2, 1_00)
		for _, order := range []payment.Order{cancelled, expired} {
			_, err := place.gateway.Create(t.Context(), order)
			place.must(err)
		}
		place.must(place.gateway.Cancel(t.Context(), payment.Ref{Reference: cancelled.Reference}))
		place.clock.Advance(25 * time.Hour)
		for _, order := range []payment.Order{cancelled, expired} {
			if _, err := place.sand.Pay(t.Context(), order.Reference); fault.KindOf(err) != fault.KindConflict {
				t.Errorf("%s: %v", order.Reference, err)
			}
			report, err := place.gateway.Fetch(t.Context(), payment.Ref{Reference: order.Reference})
			if err != nil || report.State != payment.StateCancelled || len(report.Payments) != 0 {
				t.Errorf("%+v, %v", report, err)
			}
		}
		if _, err := place.sand.Pay(t.Context(), "nobody"); fault.KindOf(err) != fault.KindNotFound {
			t.Errorf("an unknown one: %v", err)
		}
	})
}

func TestMoneyMayComeLateAndTwice(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		place := open(t, engine, "")
		order := gatewaytest.Order(1, 1_00)
		_, err := place.gateway.Create(t.Context(), order)
		place.must(err)
		place.must(place.gateway.Cancel(t.Context(), payment.Ref{Reference: order.Reference}))
		place.Pay(order.Reference, 1_00)
		place.Pay(order.Reference, 2_00)
		report, err := place.gateway.Fetch(t.Context(), payment.Ref{Reference: order.Reference})
		if err != nil || report.State != payment.StatePaid || len(report.Payments) != 2 || report.Payments[0].ID == report.Payments[1].ID {
			t.Errorf("%+v, %v", report, err)
		}
	})
}

// Two processes on one database.
func TestAnotherProcessSeesTheCharge(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		url := sqldbtest.URL(t, engine)
		first, second := sandbox.New(sqldbtest.Open(t, url)), sandbox.New(sqldbtest.Open(t, url))
		gateway, err := first.Provider().Open(nil, gatewaytest.Env(nil))
		if err != nil {
			t.Fatal(err)
		}
		order := gatewaytest.Order(1, 1_00)
		order.ExpiresAt = time.Now().Add(time.Hour)
		if _, err := gateway.Create(t.Context(), order); err != nil {
			t.Fatal(err)
		}
		if _, err := second.Pay(t.Context(), order.Reference); err != nil {
			t.Fatal(err)
		}
		if report, err := gateway.Fetch(t.Context(), payment.Ref{Reference: order.Reference}); err != nil || report.State != payment.StatePaid {
			t.Errorf("%+v, %v", report, err)
		}
	})
}

func TestCodeIsARealOne(t *testing.T) {
	place := open(t, sqldb.SQLite, "pix")
	made, err := place.gateway.Create(t.Context(), gatewaytest.Order(1, 35_00))
	place.must(err)
	if code, err := pixtest.Parse(made.PixCode); err != nil || !code.Once || !strings.HasPrefix(code.URL, "pix.example.com/") {
		t.Errorf("got %+v, %v", code, err)
	}
}

func TestNothingToPayIsRefused(t *testing.T) {
	place := open(t, sqldb.SQLite, "pix")
	if _, err := place.gateway.Create(t.Context(), gatewaytest.Order(1, 0)); !errors.Is(err, payment.ErrRefused) {
		t.Errorf("got %v", err)
	}
}

func TestUnknownFlowIsRefused(t *testing.T) {
	_, err := sandbox.New(nil).Provider().Open(map[string]string{"flow": "cash"}, payment.Env{})
	if fields := fault.FieldsOf(err); len(fields.Get("flow")) != 1 {
		t.Errorf("got %v", err)
	}
}
