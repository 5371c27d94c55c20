package checkout_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"carteira/internal/payment"
	"carteira/internal/payment/sandbox"
	"carteira/internal/platform/housetest"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/sqldb/sqldbtest"
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
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		shop := open(t, engine, "provider", "sandbox")
		shop.debited(t)
		link := shop.link(t)
		shop.get(t, link).want(t, http.StatusOK, "Esta fatura será debitada em 05/02/2026").lacks(t, "qr.png")
		shop.get(t, link+"/state").want(t, http.StatusOK, `"debit"`)
		shop.do(t, http.MethodPost, link+"/instead").want(t, http.StatusOK, "qr.png").lacks(t, "será debitada")
	})
}
