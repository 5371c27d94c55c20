package bacen_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"carteira/internal/payment"
	"carteira/internal/payment/bacen"
	"carteira/internal/platform/civil"
	"carteira/test/kit/gatewaytest"
)

// dueOrder is an order with an amount that the bank computes.
func dueOrder(n int) payment.Order {
	order := gatewaytest.Order(n, 33_25)
	order.Due = &payment.Due{
		On: civil.MustParse("2026-11-30"), Face: 35_00, Discount: 1_75, LateFee: 2_00, LateInterest: 1_00, Days: 30,
	}
	return order
}

func dueBench(t *testing.T) (*gatewaytest.Bench, *double) {
	t.Helper()
	double := newDouble("/api/v2")
	line := newLine(t, guard(t, double, "/api/v2"))
	return benchOf(t, bacen.Provider(bacen.Settings{Server: line.URL}), line, double, "bank", "sicredi", "late_charges", "bank"), double
}

func TestBankIsToldWhatToComputeBy(t *testing.T) {
	b, double := dueBench(t)
	order := dueOrder(1)
	charge, err := b.Gateway.Create(t.Context(), order)
	if err != nil || charge.PixCode != codeOf(order.Reference) {
		t.Fatalf("made %+v, %v", charge, err)
	}
	// The last day, in Brasília, and the 30 after it.
	if want := time.Date(2026, 12, 31, 3, 0, 0, 0, time.UTC); !charge.ExpiresAt.Equal(want) {
		t.Errorf("ends at %s", charge.ExpiresAt)
	}
	sent, _ := json.Marshal(double.cobs[order.Reference]["valor"])
	const want = `{"desconto":{"descontoDataFixa":[{"data":"2026-11-30","valorPerc":"1.75"}],"modalidade":1},` +
		`"juros":{"modalidade":3,"valorPerc":"1.00"},"multa":{"modalidade":2,"valorPerc":"2.00"},"original":"35.00"}`
	if string(sent) != want {
		t.Errorf("sent %s", sent)
	}
	again, err := b.Gateway.Create(t.Context(), order)
	if err != nil || again != charge || double.Charges() != 1 {
		t.Errorf("again: %+v, %v, %d charges", again, err, double.Charges())
	}
}

func TestChargeWithADueDateIsFoundPaidAndCancelled(t *testing.T) {
	b, double := dueBench(t)
	for i := range 2 {
		if _, err := b.Gateway.Create(t.Context(), dueOrder(i)); err != nil {
			t.Fatal(err)
		}
	}
	paid, other := payment.Ref{Reference: dueOrder(0).Reference}, payment.Ref{ID: dueOrder(1).Reference}
	double.Pay(paid.Reference, 35_71)
	report, err := b.Gateway.Fetch(t.Context(), paid)
	if err != nil || report.State != payment.StatePaid || len(report.Payments) != 1 || report.Payments[0].Amount != 35_71 {
		t.Errorf("paid: %+v, %v", report, err)
	}
	if err := b.Gateway.Cancel(t.Context(), paid); !errors.Is(err, payment.ErrPaid) {
		t.Errorf("cancel what was paid: %v", err)
	}
	for range 2 {
		if err := b.Gateway.Cancel(t.Context(), other); err != nil {
			t.Fatal(err)
		}
	}
	if report, err := b.Gateway.Fetch(t.Context(), other); err != nil || report.State != payment.StateCancelled {
		t.Errorf("cancelled: %+v, %v", report, err)
	}
}
