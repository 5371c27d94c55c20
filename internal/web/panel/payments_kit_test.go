package panel

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"carteira/internal/billing"
	"carteira/internal/customer"
	"carteira/internal/payment"
	"carteira/internal/payment/pixkey"
	"carteira/internal/platform/input"
	"carteira/internal/platform/money"
	"carteira/internal/platform/secret"
	"carteira/internal/platform/sqldb"
)

// testBank is a gateway in memory that can be made to fail. Pressing its
// button pays a charge.
type testBank struct {
	payment.Debitor // debits nothing: no test comes near a due date
	asked           payment.Authorisation
	mandate         payment.Mandate   // that it was asked for last
	journeys        []payment.Journey // that it has; none: all

	broken  error
	webhook string      // another system's that the key calls; empty: none
	pays    money.Cents // 0: what was ordered
	charges map[string]*testCharge
	options atomic.Pointer[map[string]string] // that it was opened with last
}

type testCharge struct {
	payment.Charge
	order    payment.Order
	payments []payment.Received
}

func (b *testBank) payments(db *sqldb.DB, invoices *billing.Service, box *secret.Box) *payment.Service {
	b.charges = map[string]*testCharge{}
	return payment.New(db, invoices, box, payment.Options{
		PublicURL: "https://carteira.example", Timeout: 2 * time.Minute, // no test comes near it, however slow the machine
		Providers: []payment.Provider{pixkey.Provider(), {
			Name: "bank", Title: "Banco & Cia", Flow: payment.FlowPix,
			Options: []payment.Option{
				{Name: "token", Title: "Access token", Secret: true, Required: true, Help: "likewise"},
				{Name: "webhook_secret", Title: "Assinatura secreta", Secret: true},
				{Name: "certificate", Title: "Certificado (PEM ou .p12)", Secret: true, Lines: true, Files: ".p12"},
				{Name: "environment", Title: "Ambiente", Choices: []string{"production", "sandbox"}},
			},
			Open: func(options map[string]string, _ payment.Env) (payment.Gateway, error) {
				b.options.Store(&options)
				return b, nil
			},
		}},
		SimulatePayer: map[string]func(context.Context, string, string) error{"bank": func(_ context.Context, _, deed string) error {
			b.asked.State = map[string]payment.AuthorisationState{"authorise": payment.AuthorisationActive, "end": payment.AuthorisationEnded}[deed]
			return nil
		}},
		Simulate: map[string]func(context.Context, string) error{"bank": func(_ context.Context, id string) error {
			charge := b.charges[id]
			amount := b.pays
			if amount == 0 {
				amount = charge.order.Amount
			}
			charge.payments = append(charge.payments, payment.Received{ID: fmt.Sprintf("E2E%s%d", id[:8], len(charge.payments)), Amount: amount, Currency: "BRL", At: db.Now()})
			return nil
		}},
	})
}

// Authorise implements payment.Debitor.
func (b *testBank) Authorise(_ context.Context, mandate payment.Mandate) (payment.Authorisation, error) {
	if b.broken != nil {
		return payment.Authorisation{}, b.broken
	}
	b.mandate = mandate
	b.asked = payment.Authorisation{
		Ref: payment.Ref{Reference: mandate.Reference, ID: "au_1"}, State: payment.AuthorisationAsked, PixCode: "rec<code>",
	}
	if mandate.Journey == payment.JourneyRequest {
		b.asked.PixCode = ""
	}
	return b.asked, nil
}

// Journeys are those that a test leaves it.
func (b *testBank) Journeys() []payment.Journey {
	if b.journeys != nil {
		return b.journeys
	}
	return []payment.Journey{payment.JourneyRequest, payment.JourneyCode, payment.JourneyPayCode}
}

// FetchAuthorisation implements payment.Debitor.
func (b *testBank) FetchAuthorisation(context.Context, payment.Ref) (payment.Authorisation, error) {
	return b.asked, nil
}

// Create implements payment.Gateway.
func (b *testBank) Create(_ context.Context, order payment.Order) (payment.Charge, error) {
	if b.broken != nil {
		return payment.Charge{}, b.broken
	}
	b.charges[order.Reference] = &testCharge{payment.Charge{ID: order.Reference, PixCode: "pix<code>" + order.Reference, ExpiresAt: order.ExpiresAt}, order, nil}
	return b.charges[order.Reference].Charge, nil
}

// Fetch implements payment.Gateway.
func (b *testBank) Fetch(_ context.Context, ref payment.Ref) (payment.Report, error) {
	charge := b.charges[ref.Reference]
	state := payment.StatePending
	if len(charge.payments) > 0 {
		state = payment.StatePaid
	}
	return payment.Report{Charge: charge.Charge, Reference: ref.Reference, State: state, Payments: charge.payments}, b.broken
}

// Cancel implements payment.Gateway.
func (b *testBank) Cancel(context.Context, payment.Ref) error { return b.broken }

// Check implements payment.Gateway.
func (b *testBank) Check(context.Context) error { return b.broken }

// Register implements payment.Registrar.
func (b *testBank) Register(context.Context) error {
	if b.webhook != "" {
		return &payment.WebhookTaken{URL: b.webhook}
	}
	return nil
}

// Replace implements payment.Replacer.
func (b *testBank) Replace(_ context.Context, agreed string) error {
	if agreed != b.webhook {
		return &payment.WebhookTaken{URL: b.webhook}
	}
	b.webhook = ""
	return nil
}

// VerifyCallback implements payment.Gateway.
func (b *testBank) VerifyCallback(context.Context, payment.Callback) ([]payment.Hint, error) {
	return nil, errors.New("it is not heard here")
}

func (o *office) exec(t *testing.T, text string, args ...any) {
	t.Helper()
	if err := o.DB.Write(t.Context(), func(tx *sqldb.Tx) error {
		_, err := tx.Exec(t.Context(), text, args...)
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

// useBank gives a company the gateway.
func (p *person) useBank() {
	p.t.Helper()
	if _, err := p.Payments.ConfigureGateway(p.t.Context(), p.actor, p.Payments.ReadGateway(values("provider", "bank", "token", "s3cret-token-of-the-company"))); err != nil {
		p.t.Fatal(err)
	}
}

// pay has an invoice charged and paid, by the bank's button.
func (p *person) pay(invoiceID int64, amount money.Cents) {
	p.t.Helper()
	p.bank.pays = amount
	_, err := p.Payments.Charge(p.t.Context(), p.actor, invoiceID, "")
	var link payment.Link
	if err == nil {
		link, err = p.Payments.PaymentLink(p.t.Context(), p.actor, invoiceID)
	}
	if err == nil {
		err = p.Payments.Simulate(p.t.Context(), link.URL[strings.LastIndex(link.URL, "/")+1:])
	}
	p.bank.pays = 0
	if err != nil {
		p.t.Fatal(err)
	}
}

// fillPayments gives a company a gateway and money for a customer who has
// been deleted since; it returns the id of the review.
func (p *person) fillPayments(planID int64) int64 {
	p.t.Helper()
	p.useBank()
	record, err := p.Customers.Create(p.t.Context(), p.actor, customer.ReadNew(values("name", "Zé <b>Ido</b>", "plan_id", fmt.Sprint(planID), "data_de_vencimento", "2026-01-31")))
	if err != nil {
		p.t.Fatal(err)
	}
	invoice, _, err := p.Billing.Owed(p.t.Context(), p.actor, record.ID)
	if err != nil {
		p.t.Fatal(err)
	}
	p.pay(invoice.ID, 3000)
	if err := p.Customers.Delete(p.t.Context(), p.actor, record.ID); err != nil {
		p.t.Fatal(err)
	}
	list, _, err := p.Payments.List(p.t.Context(), p.actor, billing.PaymentFilter{}, input.Page{Number: 1, Size: 1})
	if err != nil || len(list) != 1 || list[0].ReviewID == 0 {
		p.t.Fatalf("%+v, %v", list, err)
	}
	return list[0].ReviewID
}
