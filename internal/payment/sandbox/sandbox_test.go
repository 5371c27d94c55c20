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
	"carteira/internal/payment/gatewaytest"
	"carteira/internal/payment/pix"
	"carteira/internal/payment/sandbox"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/money"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/sqldb/sqldbtest"
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
	c, err := d.sand.Find(d.t.Context(), reference)
	d.must(err)
	return c.Amount
}

func (d *double) Pay(reference string, amount money.Cents) {
	_, err := d.sand.Receive(d.t.Context(), reference, amount)
	d.must(err)
}

func (d *double) Callback(reference string) payment.Callback {
	c, err := d.sand.Callback(d.t.Context(), reference)
	d.must(err)
	return c
}

func (d *double) Forgeries(reference string) map[string]payment.Callback {
	with := func(change func(*payment.Callback)) payment.Callback {
		c := d.Callback(reference)
		change(&c)
		return c
	}
	return map[string]payment.Callback{
		"no signature":      with(func(c *payment.Callback) { c.Header.Del("X-Sandbox-Signature") }),
		"another signature": with(func(c *payment.Callback) { c.Header.Set("X-Sandbox-Signature", strings.Repeat("0", 64)) }),
		"an altered body":   with(func(c *payment.Callback) { c.Body = append(slices.Clone(c.Body), ' ') }),
		"another charge":    with(func(c *payment.Callback) { c.Body = []byte(`{"id":"x","charge_id":"nobody"}`) }),
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
	g, err := s.Provider().Open(map[string]string{"flow": flow}, gatewaytest.Env(nil))
	if err != nil {
		t.Fatal(err)
	}
	return &place{double{t, db, s}, clock, g}
}

func suite(t *testing.T, engine sqldb.Engine, flow payment.Flow) {
	t.Helper()
	gatewaytest.Run(t, func(t *testing.T) *gatewaytest.Bench {
		t.Helper()
		p := open(t, engine, string(flow))
		return &gatewaytest.Bench{Flow: flow, Gateway: p.gateway, Double: &p.double}
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
		p := open(t, engine, "")
		o := gatewaytest.Order(1, 35_00)
		made, err := p.gateway.Create(t.Context(), o)
		p.must(err)
		var group sync.WaitGroup
		for range 10 {
			group.Go(func() {
				if _, err := p.sand.Pay(context.WithoutCancel(t.Context()), made.ID); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		c, err := p.sand.Find(t.Context(), o.Reference)
		if err != nil || len(c.Payments) != 1 || c.Payments[0].Amount != 35_00 || p.sand.Payable(c) {
			t.Errorf("got %+v, %v", c, err)
		}
	})
}

func TestWhatCannotBePaidRefusesTheButton(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		p := open(t, engine, "")
		cancelled, expired := gatewaytest.Order(1, 1_00), gatewaytest.Order(2, 1_00)
		for _, o := range []payment.Order{cancelled, expired} {
			_, err := p.gateway.Create(t.Context(), o)
			p.must(err)
		}
		p.must(p.gateway.Cancel(t.Context(), payment.Ref{Reference: cancelled.Reference}))
		p.clock.Advance(25 * time.Hour)
		for _, o := range []payment.Order{cancelled, expired} {
			if _, err := p.sand.Pay(t.Context(), o.Reference); fault.KindOf(err) != fault.KindConflict {
				t.Errorf("%s: %v", o.Reference, err)
			}
			r, err := p.gateway.Fetch(t.Context(), payment.Ref{Reference: o.Reference})
			if err != nil || r.State != payment.StateCancelled || len(r.Payments) != 0 {
				t.Errorf("%+v, %v", r, err)
			}
		}
		if _, err := p.sand.Pay(t.Context(), "nobody"); fault.KindOf(err) != fault.KindNotFound {
			t.Errorf("an unknown one: %v", err)
		}
	})
}

func TestMoneyMayComeLateAndTwice(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		p := open(t, engine, "")
		o := gatewaytest.Order(1, 1_00)
		_, err := p.gateway.Create(t.Context(), o)
		p.must(err)
		p.must(p.gateway.Cancel(t.Context(), payment.Ref{Reference: o.Reference}))
		p.Pay(o.Reference, 1_00)
		p.Pay(o.Reference, 2_00)
		r, err := p.gateway.Fetch(t.Context(), payment.Ref{Reference: o.Reference})
		if err != nil || r.State != payment.StatePaid || len(r.Payments) != 2 || r.Payments[0].ID == r.Payments[1].ID {
			t.Errorf("%+v, %v", r, err)
		}
	})
}

// Two processes on one database.
func TestAnotherProcessSeesTheCharge(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		url := sqldbtest.URL(t, engine)
		first, second := sandbox.New(sqldbtest.Open(t, url)), sandbox.New(sqldbtest.Open(t, url))
		g, err := first.Provider().Open(nil, gatewaytest.Env(nil))
		if err != nil {
			t.Fatal(err)
		}
		o := gatewaytest.Order(1, 1_00)
		o.ExpiresAt = time.Now().Add(time.Hour)
		if _, err := g.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		if _, err := second.Pay(t.Context(), o.Reference); err != nil {
			t.Fatal(err)
		}
		if r, err := g.Fetch(t.Context(), payment.Ref{Reference: o.Reference}); err != nil || r.State != payment.StatePaid {
			t.Errorf("%+v, %v", r, err)
		}
	})
}

func TestCodeIsARealOne(t *testing.T) {
	p := open(t, sqldb.SQLite, "pix")
	made, err := p.gateway.Create(t.Context(), gatewaytest.Order(1, 35_00))
	p.must(err)
	if c, err := pix.Parse(made.PixCode); err != nil || !c.Once || !strings.HasPrefix(c.URL, "pix.example.com/") {
		t.Errorf("got %+v, %v", c, err)
	}
}

func TestNothingToPayIsRefused(t *testing.T) {
	p := open(t, sqldb.SQLite, "pix")
	if _, err := p.gateway.Create(t.Context(), gatewaytest.Order(1, 0)); !errors.Is(err, payment.ErrRefused) {
		t.Errorf("got %v", err)
	}
}

func TestUnknownFlowIsRefused(t *testing.T) {
	_, err := sandbox.New(nil).Provider().Open(map[string]string{"flow": "cash"}, payment.Env{})
	if fields := fault.FieldsOf(err); len(fields.Get("flow")) != 1 {
		t.Errorf("got %v", err)
	}
}
