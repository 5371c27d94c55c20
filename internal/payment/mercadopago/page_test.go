package mercadopago_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"carteira/internal/payment"
	"carteira/internal/payment/mercadopago"
	"carteira/test/kit/apidoctest"
	"carteira/test/kit/gatewaytest"
)

var pageOptions = map[string]string{"access_token": token, "webhook_secret": secret}

func pageBench(t *testing.T, double *orderDouble) *gatewaytest.Bench {
	t.Helper()
	line := gatewaytest.NewLine(t, pageGuard(t, double), makes)
	provider := mercadopago.CheckoutProviderAt(line.URL)
	return &gatewaytest.Bench{
		Flow:    provider.Flow,
		Gateway: open(t, provider, line, pageOptions),
		Denied:  open(t, provider, line, gatewaytest.Options(pageOptions, "access_token", "APP_USR-wrong")),
		Double:  double,
		Line:    line,
		Secrets: []string{token, secret, "APP_USR-wrong"},
	}
}

func TestCheckoutPassesTheSuite(t *testing.T) {
	for _, oneUse := range []bool{false, true} {
		gatewaytest.Run(t, func(t *testing.T) *gatewaytest.Bench {
			t.Helper()
			double := newPageDouble()
			double.oneUse = oneUse
			return pageBench(t, double)
		})
	}
}

func TestWhatIsSentForAPage(t *testing.T) {
	double := newPageDouble()
	bench := pageBench(t, double)
	order := gatewaytest.Order(1, 1234_50)
	charge, err := bench.Gateway.Create(t.Context(), order)
	if err != nil || !charge.ExpiresAt.Equal(order.ExpiresAt) || charge.CheckoutURL != double.orders[charge.ID]["checkout_url"] {
		t.Fatalf("made %+v, %v", charge, err)
	}
	for _, want := range []string{
		`"type":"online"`, `"processing_mode":"manual"`, `"total_amount":"1234.50"`, `"external_reference":"` + order.Reference + `"`,
		`"items":[{"quantity":1,"title":"`, `"unit_price":"1234.50"}]`, `"expiration_time":"PT1440M"`, `"default_payment_due_date":"PT1440M"`,
		`"success_url":"https://pay.example.com/pay/abc"`, `"auto_return":"approved"`, `"email":"jose@example.com"`,
		`"identification":{"number":"52998224725","type":"CPF"}`, `"first_name":"José"`, `"last_name":"da Silva"`,
	} {
		if !strings.Contains(double.requests[0], want) {
			t.Errorf("no %s in %s", want, double.requests[0])
		}
	}
	if strings.Contains(double.requests[0], "transactions") {
		t.Errorf("the payer is to choose: %s", double.requests[0])
	}
}

// All types that the document names are excluded but PIX, which it calls a bank
// transfer, and wallets, which pages call a digital currency.
func TestPageIsForPixUnlessAllIsChosen(t *testing.T) {
	double := newPageDouble()
	bench := pageBench(t, double)
	makeOrder(t, bench)
	types := apidoctest.MercadoPago().Enum("Payment", "payment_type_id")
	if len(types) < 5 {
		t.Fatalf("the document names %q", types)
	}
	for _, name := range types {
		kept := name == "pix" || name == "bank_transfer" || name == "digital_wallet"
		if strings.Contains(double.requests[0], `"`+name+`"`) == kept {
			t.Errorf("%s: %s", name, double.requests[0])
		}
	}
	all := open(t, mercadopago.CheckoutProviderAt(bench.Line.URL), bench.Line, gatewaytest.Options(pageOptions, "methods", "all"))
	if _, err := all.Create(t.Context(), gatewaytest.Order(2, 99_90)); err != nil || strings.Contains(double.requests[1], "not_allowed") {
		t.Errorf("all methods: %s, %v", double.requests, err)
	}
}

// A page that can be paid is no answer without its address.
func TestPageWithoutAnAddressIsLeftOpen(t *testing.T) {
	double := newPageDouble()
	double.fill = func(map[string]any, map[string]any) {}
	bench := pageBench(t, double)
	if charge, err := bench.Gateway.Create(t.Context(), gatewaytest.Order(1, 35_00)); err == nil || errors.Is(err, payment.ErrRefused) {
		t.Errorf("made %+v, %v", charge, err)
	}
}

func TestPayerOfAPageWithoutEmailGetsTheCompanysOwnOrIsRefused(t *testing.T) {
	double := newPageDouble()
	bench := pageBench(t, double)
	order := gatewaytest.Order(1, 1_00)
	order.Payer.Email = ""
	if _, err := bench.Gateway.Create(t.Context(), order); !errors.Is(err, payment.ErrRefused) || double.Charges() != 0 {
		t.Errorf("got %v", err)
	}
	options := gatewaytest.Options(pageOptions, "payer_email", "loja@example.com")
	gateway := open(t, mercadopago.CheckoutProviderAt(bench.Line.URL), bench.Line, options)
	if _, err := gateway.Create(t.Context(), order); err != nil || !strings.Contains(double.requests[0], `"email":"loja@example.com"`) {
		t.Errorf("sent %s, %v", double.requests, err)
	}
}

// A code that the page has shown may outlive the page.
func TestCancellingAPageCancelsTheCodeItHasShown(t *testing.T) {
	for _, status := range []string{"created", "action_required", "expired"} {
		double := newPageDouble()
		double.leaving = true
		bench := pageBench(t, double)
		order, charge := makeOrder(t, bench)
		made := double.begun(order.Reference)
		made["status"] = status
		for range 2 {
			if err := bench.Gateway.Cancel(t.Context(), payment.Ref{ID: charge.ID, Reference: order.Reference}); err != nil {
				t.Fatalf("%s: %v", status, err)
			}
		}
		if shown := double.paidBy[charge.ID]["status"]; shown != "cancelled" || made["status"] == "created" || made["status"] == "action_required" {
			t.Errorf("%s: the order is %v, the code %v", status, made["status"], shown)
		}
	}
}

// Orders that have no reference of ours do not lead to the payments of others.
func TestCancellingAPageTouchesNoPaymentOfOthers(t *testing.T) {
	double := newPageDouble()
	bench := pageBench(t, double)
	_, charge := makeOrder(t, bench)
	other := double.newPayment("", "12.00")
	double.orders[charge.ID]["external_reference"] = ""
	if err := bench.Gateway.Cancel(t.Context(), payment.Ref{ID: charge.ID}); err != nil || other["status"] != "pending" {
		t.Errorf("the payment of others is %v, %v", other["status"], err)
	}
}

func TestRejectedTryLeavesThePageOpenUnlessTheOrderFails(t *testing.T) {
	double := newPageDouble()
	bench := pageBench(t, double)
	order, charge := makeOrder(t, bench)
	made := double.begun(order.Reference)
	paymentIn(made)["status"] = "failed"
	for status, want := range map[string]payment.State{"created": payment.StatePending, "failed": payment.StateCancelled} {
		made["status"] = status
		report, err := bench.Gateway.Fetch(t.Context(), payment.Ref{ID: charge.ID})
		if err != nil || report.State != want || report.CheckoutURL != charge.CheckoutURL || report.PixCode != "" {
			t.Errorf("%s: got %+v, %v", status, report, err)
		}
	}
}

// Money that comes after the page has ended is told as any other.
func TestMoneyOfAPageThatHasEndedIsTold(t *testing.T) {
	double := newPageDouble()
	bench := pageBench(t, double)
	order, charge := makeOrder(t, bench)
	if err := bench.Gateway.Cancel(t.Context(), payment.Ref{ID: charge.ID, Reference: order.Reference}); err != nil {
		t.Fatal(err)
	}
	double.Pay(order.Reference, 35_00)
	report, err := bench.Gateway.Fetch(t.Context(), payment.Ref{ID: charge.ID, Reference: order.Reference})
	if err != nil || report.State != payment.StatePaid || len(report.Payments) != 1 || report.Payments[0].Amount != 35_00 {
		t.Errorf("got %+v, %v", report, err)
	}
}

// What the payments API says of one payment is not believed of the other.
func TestPageThatWasPaidTwiceHasTwoPayments(t *testing.T) {
	double := newPageDouble()
	bench := pageBench(t, double)
	order, charge := makeOrder(t, bench)
	double.begin(double.orders[charge.ID], "PT30M")
	double.begin(double.orders[charge.ID], "PT30M")
	double.Pay(order.Reference, 35_00)
	for _, paid := range paymentsIn(double.orders[charge.ID]) {
		paid["paid_amount"] = "35.00"
	}
	double.double.Refund(order.Reference, 35_00)
	paymentIn(double.orders[charge.ID])["refunded_amount"] = "35.00"
	report, err := bench.Gateway.Fetch(t.Context(), payment.Ref{Reference: order.Reference})
	if err != nil || len(report.Payments) != 2 || report.Payments[0].ID == report.Payments[1].ID ||
		report.Payments[0].Refunded != 35_00 || report.Payments[1].Refunded != 0 || !report.Payments[1].At.Equal(changedAt) {
		t.Errorf("got %+v, %v", report, err)
	}
}

func TestMoneyOfAPageHasOneIDWhicheverCallbackTellsOfIt(t *testing.T) {
	double := newPageDouble()
	bench := pageBench(t, double)
	order, charge := makeOrder(t, bench)
	double.Pay(order.Reference, 35_00)
	for _, call := range []payment.Callback{double.Callback(order.Reference), double.double.Callback(order.Reference)} {
		hints, err := bench.Gateway.VerifyCallback(t.Context(), call)
		if err != nil || len(hints) != 1 {
			t.Fatalf("%+v, %v", hints, err)
		}
		report, err := bench.Gateway.Fetch(t.Context(), hints[0].Ref)
		if err != nil || len(report.Payments) != 1 || report.ID != charge.ID || report.Payments[0].ID != paymentIn(double.orders[charge.ID])["id"] {
			t.Errorf("%+v: %+v, %v", hints, report, err)
		}
	}
}

// Time passes between a try and the next, so that less of it is left for paying.
func TestPageIsMadeOnceWhenTheNextTryLeavesLessTime(t *testing.T) {
	double := newPageDouble()
	bench := pageBench(t, double)
	order, first := makeOrder(t, bench)
	env := gatewaytest.Env(bench.Line)
	env.Now = func() time.Time { return gatewaytest.Now.Add(2 * time.Minute) }
	later := gatewaytest.Open(t, mercadopago.CheckoutProviderAt(bench.Line.URL), env, pageOptions)
	if second, err := later.Create(t.Context(), order); err != nil || second != first || double.Charges() != 1 {
		t.Errorf("first %+v, then %+v, %v", first, second, err)
	}
}
