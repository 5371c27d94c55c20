package mercadopago_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"carteira/internal/payment"
	"carteira/internal/payment/mercadopago"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/money"
	"carteira/test/kit/apidoctest"
	"carteira/test/kit/gatewaytest"
)

var ordersOptions = map[string]string{"access_token": token, "webhook_secret": secret, "api": "orders"}

func ordersBench(t *testing.T, double *orderDouble) *gatewaytest.Bench {
	t.Helper()
	line := gatewaytest.NewLine(t, guard(t, double.double), makes)
	provider := mercadopago.ProviderAt(line.URL)
	return &gatewaytest.Bench{
		Flow:    provider.Flow,
		Gateway: open(t, provider, line, ordersOptions),
		Denied:  open(t, provider, line, gatewaytest.Options(ordersOptions, "access_token", "APP_USR-wrong")),
		Double:  double,
		Line:    line,
		Secrets: []string{token, secret, "APP_USR-wrong"},
	}
}

func TestOrdersPassTheSuite(t *testing.T) {
	gatewaytest.Run(t, func(t *testing.T) *gatewaytest.Bench {
		t.Helper()
		return ordersBench(t, newOrderDouble())
	})
}

// Its pages have an error for a key that was used, and do not say whether the same
// request is meant.
func TestOrdersPassTheSuiteWhereAKeyIsGoodForOneRequest(t *testing.T) {
	gatewaytest.Run(t, func(t *testing.T) *gatewaytest.Bench {
		t.Helper()
		double := newOrderDouble()
		double.oneUse = true
		return ordersBench(t, double)
	})
}

func makeOrder(t *testing.T, bench *gatewaytest.Bench) (payment.Order, payment.Charge) {
	t.Helper()
	order := gatewaytest.Order(1, 35_00)
	charge, err := bench.Gateway.Create(t.Context(), order)
	if err != nil {
		t.Fatal(err)
	}
	return order, charge
}

func TestWhatIsSentForAnOrder(t *testing.T) {
	double := newOrderDouble()
	bench := ordersBench(t, double)
	order := gatewaytest.Order(1, 1234_50)
	charge, err := bench.Gateway.Create(t.Context(), order)
	if err != nil || !charge.ExpiresAt.Equal(order.ExpiresAt) {
		t.Fatalf("made %+v, %v", charge, err)
	}
	for _, want := range []string{
		`"type":"online"`, `"processing_mode":"automatic"`, `"total_amount":"1234.50"`, `"amount":"1234.50"`,
		`"external_reference":"` + order.Reference + `"`, `"payment_method":{"id":"pix","type":"bank_transfer"}`,
		`"expiration_time":"PT1440M"`, `"identification":{"number":"52998224725","type":"CPF"}`,
		`"email":"jose@example.com"`, `"first_name":"José"`, `"last_name":"da Silva"`,
	} {
		if !strings.Contains(double.requests[0], want) {
			t.Errorf("no %s in %s", want, double.requests[0])
		}
	}
}

// The double refuses what the document's extract refuses.
func TestOrderThatBreaksTheDocumentIsRefused(t *testing.T) {
	const sound = `{"type":"online","processing_mode":"automatic","total_amount":"35.00","external_reference":"A1",` +
		`"payer":{"email":"jose@example.com"},"transactions":{"payments":[{"amount":"35.00","expiration_time":"PT30M",` +
		`"payment_method":{"id":"pix","type":"bank_transfer"}}]}}`
	for name, change := range map[string][2]string{
		"nothing":                  {"", ""},
		"an amount as a number":    {`"total_amount":"35.00"`, `"total_amount":35.00`},
		"an address for callbacks": {`"type":"online"`, `"notification_url":"https://example.com","type":"online"`},
		"another type":             {`"online"`, `"point"`},
		"no payer":                 {`"email":"jose@example.com"`, `"first_name":"José"`},
		"no method":                {`"type":"bank_transfer"`, `"installments":1`},
		"the field of payments":    {`"amount":"35.00","exp`, `"transaction_amount":"35.00","exp`},
	} {
		var broken []string
		double := newOrderDouble()
		guarded := &apidoctest.Guard{
			Document: apidoctest.MercadoPago(), Double: double,
			Broken: func(err error) { broken = append(broken, err.Error()) },
		}
		body := strings.Replace(sound, change[0], change[1], 1)
		request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "https://example.com/v1/orders", strings.NewReader(body))
		request.Header.Set("Authorization", "Bearer "+token)
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("X-Idempotency-Key", "0d5020ed-1af6-469c-ae06-c3bec19954bb")
		answer := httptest.NewRecorder()
		guarded.ServeHTTP(answer, request)
		fine := change[0] == ""
		if (len(broken) == 0) != fine || (answer.Code == http.StatusCreated) != fine || (double.Charges() == 1) != fine {
			t.Errorf("%s: %d, %q", name, answer.Code, broken)
		}
	}
}

func TestExpiryOfAnOrderIsHeldToWhatMercadoPagoAllows(t *testing.T) {
	for lives, want := range map[time.Duration]time.Duration{
		-time.Hour: 31 * time.Minute, time.Minute: 31 * time.Minute, 90 * 24 * time.Hour: 30 * 24 * time.Hour,
	} {
		bench := ordersBench(t, newOrderDouble())
		order := gatewaytest.Order(1, 1_00)
		order.ExpiresAt = gatewaytest.Now.Add(lives)
		charge, err := bench.Gateway.Create(t.Context(), order)
		if err != nil || !charge.ExpiresAt.Equal(gatewaytest.Now.Add(want)) {
			t.Errorf("%s: %+v, %v", lives, charge, err)
		}
	}
}

// Time passes between a try and the next, so that less of it is left for paying.
func TestOrderIsMadeOnceWhenTheNextTryLeavesLessTime(t *testing.T) {
	double := newOrderDouble()
	bench := ordersBench(t, double)
	order, first := makeOrder(t, bench)
	env := gatewaytest.Env(bench.Line)
	env.Now = func() time.Time { return gatewaytest.Now.Add(2 * time.Minute) }
	later := gatewaytest.Open(t, mercadopago.ProviderAt(bench.Line.URL), env, ordersOptions)
	second, err := later.Create(t.Context(), order)
	if err != nil || second != first || double.Charges() != 1 {
		t.Errorf("first %+v, then %+v, %v", first, second, err)
	}
}

func TestOrderThatNoSearchFindsYetIsNeitherMadeAgainNorRefused(t *testing.T) {
	double := newOrderDouble()
	double.oneUse, double.lagging = true, true
	bench := ordersBench(t, double)
	order, _ := makeOrder(t, bench)
	if again, err := bench.Gateway.Create(t.Context(), order); err == nil || errors.Is(err, payment.ErrRefused) {
		t.Errorf("made %+v, %v", again, err)
	}
	if n := double.Charges(); n != 1 {
		t.Errorf("%d orders were made", n)
	}
	double.lagging = false
	report, err := bench.Gateway.Fetch(t.Context(), payment.Ref{Reference: order.Reference})
	if err != nil || report.State != payment.StatePending {
		t.Errorf("found %+v, %v", report, err)
	}
}

func TestSearchThatIsNotByTheReferenceProvesNothing(t *testing.T) {
	double := newOrderDouble()
	bench := ordersBench(t, double)
	makeOrder(t, bench)
	double.careless = true
	unknown := payment.Ref{Reference: gatewaytest.Order(9, 0).Reference}
	if report, err := bench.Gateway.Fetch(t.Context(), unknown); err == nil || errors.Is(err, payment.ErrNoCharge) {
		t.Errorf("found %+v, %v", report, err)
	}
	if err := bench.Gateway.Cancel(t.Context(), unknown); err == nil {
		t.Error("it is taken for cancelled")
	}
	if err := bench.Gateway.Check(t.Context()); err == nil {
		t.Error("the check is content with it")
	}
}

// What is refused so was not made; what is locked may have been.
func TestRefusalsOfOrdersAreTold(t *testing.T) {
	for status, refused := range map[int]bool{402: true, 400: true, 409: false, 423: false} {
		double := newOrderDouble()
		line := gatewaytest.NewLine(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if makes(r) {
				refuseOrder(w, status, "processing_error")
				return
			}
			double.ServeHTTP(w, r)
		}), makes)
		gateway := open(t, mercadopago.ProviderAt(line.URL), line, ordersOptions)
		_, err := gateway.Create(t.Context(), gatewaytest.Order(1, 35_00))
		if errors.Is(err, payment.ErrRefused) != refused || !strings.Contains(fmt.Sprint(err), "order: processing_error about processing_error") {
			t.Errorf("%d: %v", status, err)
		}
	}
}

// The pairs are those of the page "Order status", for orders of PIX.
func TestEveryStatusOfAnOrderIsUnderstood(t *testing.T) {
	pending, paid, cancelled := payment.StatePending, payment.StatePaid, payment.StateCancelled
	for _, test := range []struct {
		status, detail string
		want           payment.State
		back           money.Cents
	}{
		{"created", "created", pending, 0},
		{"processing", "in_process", pending, 0},
		{"action_required", "waiting_payment", pending, 0},
		{"action_required", "waiting_transfer", pending, 0},
		{"processed", "accredited", paid, 0},
		{"processed", "refunded", paid, 35_00},
		{"refunded", "refunded", paid, 35_00},
		{"charged_back", "in_process", paid, 35_00},
		{"charged_back", "settled", paid, 35_00},
		{"charged_back", "reimbursed", paid, 0},
		{"canceled", "canceled", cancelled, 0},
		{"expired", "expired", cancelled, 0},
		{"failed", "failed", cancelled, 0},
	} {
		double := newOrderDouble()
		bench := ordersBench(t, double)
		order, charge := makeOrder(t, bench)
		enter(double.orders[charge.ID], test.status, test.detail)
		report, err := bench.Gateway.Fetch(t.Context(), payment.Ref{ID: charge.ID, Reference: order.Reference})
		if err != nil || report.State != test.want || (len(report.Payments) == 1) != (test.want == paid) {
			t.Errorf("%s/%s: %+v, %v", test.status, test.detail, report, err)
			continue
		}
		if test.want == paid && report.Payments[0].Refunded != test.back {
			t.Errorf("%s/%s: %+v", test.status, test.detail, report.Payments)
		}
	}
}

func TestStatusThatNobodyKnowsIsLeftOpen(t *testing.T) {
	double := newOrderDouble()
	line := gatewaytest.NewLine(t, double, makes)
	gateway := open(t, mercadopago.ProviderAt(line.URL), line, ordersOptions)
	charge, err := gateway.Create(t.Context(), gatewaytest.Order(1, 35_00))
	if err != nil {
		t.Fatal(err)
	}
	double.orders[charge.ID]["status"] = "half_paid"
	if report, err := gateway.Fetch(t.Context(), payment.Ref{ID: charge.ID}); err == nil || errors.Is(err, payment.ErrNoCharge) {
		t.Errorf("got %+v, %v", report, err)
	}
	if err := gateway.Cancel(t.Context(), payment.Ref{ID: charge.ID}); err == nil || errors.Is(err, payment.ErrRefused) {
		t.Errorf("cancelled: %v", err)
	}
}

// Orders do not say when they were paid; their payments do.
func TestMoneyOfAnOrderHasTheTimeOfItsPaymentOrElseOfTheOrder(t *testing.T) {
	double := newOrderDouble()
	bench := ordersBench(t, double)
	order, charge := makeOrder(t, bench)
	double.Pay(order.Reference, 35_00)
	for _, want := range []time.Time{gatewaytest.Now, changedAt} {
		report, err := bench.Gateway.Fetch(t.Context(), payment.Ref{ID: charge.ID})
		if err != nil || len(report.Payments) != 1 || !report.Payments[0].At.Equal(want) {
			t.Errorf("%+v, %v; want %s", report, err, want)
		}
		clear(double.payments) // from now on the payments API lists none
	}
}

// An application may have both events chosen, and then reports the same money
// twice: by the order, and by the payment under another id.
func TestMoneyOfAnOrderHasOneIDWhicheverCallbackTellsOfIt(t *testing.T) {
	double := newOrderDouble()
	bench := ordersBench(t, double)
	order, charge := makeOrder(t, bench)
	double.Pay(order.Reference, 35_00)
	payments := open(t, mercadopago.ProviderAt(bench.Line.URL), bench.Line, gatewaytest.Options(ordersOptions, "api", "payments"))
	for _, gateway := range []payment.Gateway{bench.Gateway, payments} {
		for _, call := range []payment.Callback{double.Callback(order.Reference), double.double.Callback(order.Reference)} {
			hints, err := gateway.VerifyCallback(t.Context(), call)
			if err != nil || len(hints) != 1 {
				t.Fatalf("%+v, %v", hints, err)
			}
			report, err := gateway.Fetch(t.Context(), hints[0].Ref)
			if err != nil || len(report.Payments) != 1 || report.ID != charge.ID {
				t.Fatalf("%+v: %+v, %v", hints, report, err)
			}
			if id := report.Payments[0].ID; id != paymentIn(double.orders[charge.ID])["id"] {
				t.Errorf("%+v: the money is %s", hints, id)
			}
		}
	}
}

// Payments are found also where the application may not use orders.
func TestPaymentIsFoundWithoutTheOrdersAPI(t *testing.T) {
	bench := bench(t)
	bench.Double.(*double).noOrders = true
	order, charge := makeOrder(t, bench)
	report, err := bench.Gateway.Fetch(t.Context(), payment.Ref{ID: charge.ID})
	if err != nil || report.Reference != order.Reference || report.State != payment.StatePending {
		t.Errorf("%+v, %v", report, err)
	}
}

func TestCallbackOfAnOrderThatIsNotOursLeadsNowhere(t *testing.T) {
	bench := ordersBench(t, newOrderDouble())
	makeOrder(t, bench)
	hints, err := bench.Gateway.VerifyCallback(t.Context(), signedOrder("ORD01JQ4S4KY8HWQ6NA5PXB65B3D3", secret))
	if err != nil || len(hints) != 1 {
		t.Fatalf("%+v, %v", hints, err)
	}
	if report, err := bench.Gateway.Fetch(t.Context(), hints[0].Ref); !errors.Is(err, payment.ErrNoCharge) {
		t.Errorf("%+v, %v", report, err)
	}
}

// The signature is over the id in small letters; the hint has it as orders spell it.
func TestSignatureOfAnOrdersVector(t *testing.T) {
	bench := ordersBench(t, newOrderDouble())
	env := gatewaytest.Env(bench.Line)
	env.Now = vectorTime
	gateway := gatewaytest.Open(t, mercadopago.ProviderAt(bench.Line.URL), env, ordersOptions)
	for _, spelt := range []string{"ORD01JQ4S4KY8HWQ6NA5PXB65B3D3", "ord01jq4s4ky8hwq6na5pxb65b3d3"} {
		hints, err := gateway.VerifyCallback(t.Context(), payment.Callback{
			Header: http.Header{
				"X-Request-Id": {"bb56a2f1-6aae-46ac-982e-9dcd3581d08e"},
				"X-Signature":  {"ts=1742505638683,v1=d01c1e683abb102d26f74d7a9947aff85188c4c9db6e1cb758910bb1336d500a"},
			},
			Query: url.Values{"data.id": {spelt}, "type": {"order"}},
			Body:  []byte(`{"type":"order","data":{"id":"ORD01JQ4S4KY8HWQ6NA5PXB65B3D3"}}`),
		})
		want := payment.Hint{Ref: payment.Ref{ID: "ORD01JQ4S4KY8HWQ6NA5PXB65B3D3"}}
		if err != nil || len(hints) != 1 || hints[0] != want {
			t.Errorf("%s: %+v, %v", spelt, hints, err)
		}
	}
}

// A company that chooses the other API has charges of the first that can be paid.
func TestChargesOfTheOtherAPIAreStillLookedUpAndCancelled(t *testing.T) {
	for _, first := range []string{"orders", "payments"} {
		double := newOrderDouble()
		bench := ordersBench(t, double)
		provider := mercadopago.ProviderAt(bench.Line.URL)
		other := map[string]string{"orders": "payments", "payments": "orders"}[first]
		before := open(t, provider, bench.Line, gatewaytest.Options(ordersOptions, "api", first))
		after := open(t, provider, bench.Line, gatewaytest.Options(ordersOptions, "api", other))
		order := gatewaytest.Order(1, 35_00)
		charge, err := before.Create(t.Context(), order)
		if err != nil {
			t.Fatal(err)
		}
		ref := payment.Ref{ID: charge.ID, Reference: order.Reference}
		if report, err := after.Fetch(t.Context(), ref); err != nil || report.State != payment.StatePending || report.ID != charge.ID {
			t.Errorf("%s, then %s: %+v, %v", first, other, report, err)
		}
		if err := after.Cancel(t.Context(), ref); err != nil {
			t.Errorf("%s, then %s: %v", first, other, err)
		}
		if report, err := before.Fetch(t.Context(), ref); err != nil || report.State != payment.StateCancelled {
			t.Errorf("%s, then %s, cancelled: %+v, %v", first, other, report, err)
		}
	}
}

func TestOrdersAreNoChoiceThatIsMisspelt(t *testing.T) {
	_, err := mercadopago.Provider().Open(gatewaytest.Options(ordersOptions, "api", "order"), payment.Env{})
	if fields := fault.FieldsOf(err); len(fields.Get("api")) == 0 {
		t.Errorf("got %v", err)
	}
}

func TestOwnAddressIsRefusedAsThatOfPayersOfOrdersToo(t *testing.T) {
	bench := ordersBench(t, newOrderDouble())
	options := gatewaytest.Options(ordersOptions, "payer_email", ownEmail)
	err := open(t, mercadopago.ProviderAt(bench.Line.URL), bench.Line, options).Check(t.Context())
	if !errors.Is(err, payment.ErrRefused) || !strings.Contains(err.Error(), "payer_email") {
		t.Errorf("got %v", err)
	}
}
