package checkout_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"carteira/internal/customer"
	"carteira/internal/payment"
	"carteira/internal/payment/sandbox"
	"carteira/internal/platform/sqldb"
	"carteira/test/kit/housetest"
	"carteira/test/kit/sqldbtest"
)

// debited has the shop's invoice announced to the customer's bank.
func (s *shop) debited(t *testing.T) {
	t.Helper()
	customerID := s.invoice.Customer.ID
	_, err := s.payments.AskAutopay(t.Context(), s.Actor, customerID, payment.AutopayRequestDraft{Journey: payment.JourneyCode})
	housetest.Must(t, err)
	_, err = s.payments.SimulateAutopay(t.Context(), s.Actor, customerID, string(sandbox.DeedAuthorise))
	housetest.Must(t, err)
	housetest.Must(t, s.reconcile(t.Context()))
}

// reconcile lets the engine do what is due, past the space between two calls.
func (s *shop) reconcile(ctx context.Context) error {
	for range 5 {
		if _, err := s.payments.Reconcile(ctx); err != nil {
			return err
		}
		s.Clock.Advance(10 * time.Second)
	}
	return nil
}

func TestPageOfAnInvoiceThatIsDebitedSaysWhenAndGivesACodeOnRequest(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		shop := open(t, engine, "provider", "sandbox")
		shop.debited(t)
		link := shop.link(t)
		shop.get(t, link).want(t, http.StatusOK, "Esta fatura será debitada em 05/02/2026").lacks(t, "qr.png")
		shop.get(t, link+"/state").want(t, http.StatusOK, `"debit"`)
		shop.do(t, http.MethodPost, link+"/instead").want(t, http.StatusOK, "qr.png").lacks(t, "será debitada")
	})
}

func TestPayerCanPayAndAuthoriseTheNextOnes(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		shop := open(t, engine, "provider", "sandbox")
		link := shop.link(t)
		shop.get(t, link).want(t, http.StatusOK, "Pagar e autorizar as próximas").lacks(t, "autoriza as próximas: cada uma")
		shop.do(t, http.MethodPost, link+"/authorise").want(t, http.StatusOK, "autoriza as próximas: cada uma", "Pagar só esta fatura", "qr.png")
		shop.do(t, http.MethodPost, link+"/instead").want(t, http.StatusOK, "Pagar e autorizar as próximas", "qr.png").lacks(t, "Pagar só esta fatura")
		shop.do(t, http.MethodPost, link+"/authorise").want(t, http.StatusOK, "Pagar só esta fatura")
		shop.do(t, http.MethodPost, link+"/simulate").want(t, http.StatusOK, "Pagamento recebido")
		housetest.Must(t, shop.reconcile(t.Context()))
		known, err := shop.payments.Autopay(t.Context(), shop.Actor, shop.invoice.Customer.ID)
		housetest.Must(t, err)
		if known.State != customer.AutopayActive {
			t.Errorf("autopay is %s after the payment", known.State)
		}
	})
}

func TestPageOfAGatewayWithoutPixAutomaticoOffersNone(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		shop := open(t, engine)
		link := shop.link(t)
		shop.get(t, link).lacks(t, "Pagar e autorizar")
		shop.do(t, http.MethodPost, link+"/authorise").lacks(t, "Pagar só esta fatura")
	})
}
