package gatewaytest

import (
	"errors"
	"testing"
	"time"

	"carteira/internal/payment"
	"carteira/internal/platform/money"
)

func testCreate(t *testing.T, bench *Bench) {
	order := Order(1, 35_00)
	charge := bench.create(t, order)
	bench.checkCharge(t, charge)
	if !charge.ExpiresAt.After(Now) {
		t.Errorf("expires at %s", charge.ExpiresAt)
	}
	if n := bench.Double.Charges(); n != 1 {
		t.Errorf("%d charges were made", n)
	}
}

// checkCharge wants what the flow needs, and nothing of the other.
func (b *Bench) checkCharge(t *testing.T, charge payment.Charge) {
	t.Helper()
	pix := b.Flow == payment.FlowPix
	if charge.ID == "" || (charge.PixCode != "") != pix || (charge.CheckoutURL != "") == pix {
		t.Errorf("flow %s has %+v", b.Flow, charge)
	}
}

func testCreateAgain(t *testing.T, bench *Bench) {
	order := Order(1, 35_00)
	first := bench.create(t, order)
	second := bench.create(t, order)
	if first.ID != second.ID || first.PixCode != second.PixCode || first.CheckoutURL != second.CheckoutURL {
		t.Errorf("first %+v, then %+v", first, second)
	}
	if n := bench.Double.Charges(); n != 1 {
		t.Errorf("%d charges were made", n)
	}
	if other := bench.create(t, Order(2, 35_00)); other.ID == first.ID {
		t.Error("two orders share a charge")
	}
}

// refs are the ways to name a charge.
func refs(order payment.Order, charge payment.Charge) map[string]payment.Ref {
	return map[string]payment.Ref{
		"id":        {ID: charge.ID},
		"reference": {Reference: order.Reference},
		"both":      {ID: charge.ID, Reference: order.Reference},
	}
}

func testPending(t *testing.T, bench *Bench) {
	bench.create(t, Order(2, 1_00))
	order := Order(1, 35_00)
	charge := bench.create(t, order)
	for name, ref := range refs(order, charge) {
		report := bench.look(t, ref)
		if report.State != payment.StatePending || len(report.Payments) != 0 || report.Reference != order.Reference || report.ID != charge.ID {
			t.Errorf("by %s: %+v", name, report)
		}
		// Some providers want one more call for the code. It is worth it only when
		// nothing but the reference is known.
		known := name != "reference" && report.PixCode == ""
		if report.PixCode != charge.PixCode && !known || report.CheckoutURL != charge.CheckoutURL {
			t.Errorf("by %s: made %+v, found %+v", name, charge, report.Charge)
		}
	}
}

func testPaid(t *testing.T, bench *Bench) {
	bench.create(t, Order(2, 1_00))
	order := Order(1, 35_00)
	charge := bench.create(t, order)
	bench.Double.Pay(order.Reference, 35_00)
	for name, ref := range refs(order, charge) {
		report := bench.look(t, ref)
		if report.State != payment.StatePaid || report.Reference != order.Reference || len(report.Payments) != 1 {
			t.Fatalf("by %s: %+v", name, report)
		}
		checkPayment(t, report.Payments[0], 35_00)
	}
	if report := bench.look(t, payment.Ref{Reference: Order(2, 0).Reference}); report.State != payment.StatePending {
		t.Errorf("the other: %+v", report)
	}
}

func checkPayment(t *testing.T, received payment.Received, amount money.Cents) {
	t.Helper()
	if received.ID == "" || received.Amount != amount || received.Currency != "BRL" || received.Refunded != 0 {
		t.Errorf("got %+v, want %s", received, amount)
	}
	// Some providers tell no more than the day.
	if received.At.After(Now) || received.At.Before(Now.Add(-24*time.Hour)) {
		t.Errorf("paid at %s, by what is said", received.At)
	}
}

func testWrongAmount(t *testing.T, bench *Bench) {
	order := Order(1, 35_00)
	bench.create(t, order)
	bench.Double.Pay(order.Reference, 34_99)
	report := bench.look(t, payment.Ref{Reference: order.Reference})
	if len(report.Payments) != 1 {
		t.Fatalf("%+v", report)
	}
	checkPayment(t, report.Payments[0], 34_99)
}

// testRefunded gives money back in parts: what is reported is their sum.
func testRefunded(t *testing.T, bench *Bench) {
	double, ok := bench.Double.(Refunder)
	if !ok {
		t.Fatal("the double gives no money back")
	}
	order := Order(1, 35_00)
	charge := bench.create(t, order)
	bench.Double.Pay(order.Reference, 35_00)
	sum := money.Cents(0)
	for _, back := range []money.Cents{5_00, 1, 29_99} {
		double.Refund(order.Reference, back)
		sum += back
		for name, ref := range refs(order, charge) {
			report := bench.look(t, ref)
			if report.State != payment.StatePaid || len(report.Payments) != 1 ||
				report.Payments[0].Amount != 35_00 || report.Payments[0].Refunded != sum {
				t.Errorf("by %s, %s given back: %+v", name, sum, report)
			}
			if at := report.Payments[0].RefundedAt; !at.Equal(Now) {
				t.Errorf("by %s: given back at %s", name, at)
			}
		}
	}
}

func testUnknown(t *testing.T, bench *Bench) {
	bench.create(t, Order(1, 35_00))
	for _, ref := range []payment.Ref{{Reference: Order(9, 0).Reference}, {ID: "9999999999"}} {
		if report, err := bench.Gateway.Fetch(t.Context(), ref); !errors.Is(err, payment.ErrNoCharge) {
			t.Errorf("look %+v: %+v, %v", ref, report, err)
		}
		if err := bench.Gateway.Cancel(t.Context(), ref); err != nil {
			t.Errorf("cancel %+v: %v", ref, err)
		}
	}
}

func testCancel(t *testing.T, bench *Bench) {
	order := Order(1, 35_00)
	charge := bench.create(t, order)
	bench.cancelTwice(t, payment.Ref{ID: charge.ID, Reference: order.Reference})
}

func testCancelByReference(t *testing.T, bench *Bench) {
	order := Order(1, 35_00)
	bench.create(t, order)
	bench.cancelTwice(t, payment.Ref{Reference: order.Reference})
}

func (b *Bench) cancelTwice(t *testing.T, ref payment.Ref) {
	t.Helper()
	for range 2 {
		if err := b.Gateway.Cancel(t.Context(), ref); err != nil {
			t.Fatal(err)
		}
		report, err := b.Gateway.Fetch(t.Context(), ref)
		if !errors.Is(err, payment.ErrNoCharge) && (err != nil || report.State != payment.StateCancelled) {
			t.Fatalf("after cancelling: %+v, %v", report, err)
		}
	}
}

func testCancelPaid(t *testing.T, bench *Bench) {
	order := Order(1, 35_00)
	charge := bench.create(t, order)
	bench.Double.Pay(order.Reference, 35_00)
	for name, ref := range refs(order, charge) {
		if err := bench.Gateway.Cancel(t.Context(), ref); !errors.Is(err, payment.ErrPaid) {
			t.Errorf("by %s: %v", name, err)
		}
	}
	if report := bench.look(t, payment.Ref{ID: charge.ID, Reference: order.Reference}); report.State != payment.StatePaid {
		t.Errorf("afterwards: %+v", report)
	}
}

func testAmounts(t *testing.T, bench *Bench) {
	for i, amount := range []money.Cents{1, 10, 29, 57, 1_15, 8_20, 1234_56, 10_000_000_10, money.Max} {
		order := Order(i, amount)
		bench.create(t, order)
		if got := bench.Double.Asked(order.Reference); got != amount {
			t.Errorf("%s became %s", amount, got)
		}
		bench.Double.Pay(order.Reference, amount)
		if report := bench.look(t, payment.Ref{Reference: order.Reference}); len(report.Payments) != 1 || report.Payments[0].Amount != amount {
			t.Errorf("%s was paid, %+v was found", amount, report.Payments)
		}
	}
}
