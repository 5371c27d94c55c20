package asaas

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"

	"carteira/internal/payment"
	"carteira/internal/payment/wire"
)

// events are those that change what we know of a charge.
var events = []string{
	"PAYMENT_RECEIVED", "PAYMENT_CONFIRMED", "PAYMENT_DELETED", "PAYMENT_RESTORED",
	"PAYMENT_REFUNDED", "PAYMENT_PARTIALLY_REFUNDED", "PAYMENT_REFUND_IN_PROGRESS",
	"PAYMENT_CHARGEBACK_REQUESTED",
}

// autopayEvents are those of PIX Automático, by the names that Asaas gives them.
var autopayEvents = []string{
	"PIX_AUTOMATIC_RECURRING_AUTHORIZATION_ACTIVATED", "PIX_AUTOMATIC_RECURRING_AUTHORIZATION_CANCELLED",
	"PIX_AUTOMATIC_RECURRING_AUTHORIZATION_EXPIRED", "PIX_AUTOMATIC_RECURRING_AUTHORIZATION_REFUSED",
	"PIX_AUTOMATIC_RECURRING_PAYMENT_INSTRUCTION_SCHEDULED", "PIX_AUTOMATIC_RECURRING_PAYMENT_INSTRUCTION_REFUSED",
	"PIX_AUTOMATIC_RECURRING_PAYMENT_INSTRUCTION_CANCELLED", "PAYMENT_OVERDUE", eligibility,
}

// eligibility says that Asaas has opened PIX Automático to the account, or closed it.
const eligibility = "PIX_AUTOMATIC_RECURRING_ELIGIBILITY_UPDATED"

// events are those that the gateway subscribes to.
func (g *gateway) events() []string {
	if !g.debits {
		return events
	}
	return slices.Concat(events, autopayEvents)
}

// VerifyCallback compares the token that came with ours.
func (g *gateway) VerifyCallback(_ context.Context, call payment.Callback) ([]payment.Hint, error) {
	came := call.Header.Get("Asaas-Access-Token")
	if !wire.Same(came, g.token) && !wire.Same(came, g.oldToken) {
		return nil, payment.ErrForged
	}
	var told event
	_ = json.Unmarshal(call.Body, &told) // what is no event names none
	if !slices.Contains(g.events(), told.Event) {
		return nil, nil
	}
	hint := told.hint(g.debits)
	if hint.Ref.ID == "" && hint.Kind != payment.HintAccount {
		return nil, nil
	}
	hint.EventID = wire.Cut(told.ID, 200)
	return []payment.Hint{hint}, nil
}

// event is what a callback says.
type event struct {
	ID            string
	Event         string
	Payment       charge
	Authorization authorisation
	Instruction   instruction `json:"paymentInstruction"`
}

// hint is what the event is about; empty: nothing that we know.
func (e *event) hint(debits bool) payment.Hint {
	paid := payment.Ref{ID: e.Payment.ID, Reference: e.Payment.ExternalReference}
	switch {
	case !debits:
		return payment.Hint{Ref: paid}
	case e.Event == eligibility:
		return payment.Hint{Kind: payment.HintAccount}
	case e.Authorization.ID != "":
		ref := payment.Ref{ID: e.Authorization.ID, Reference: e.Authorization.ContractID}
		return payment.Hint{Ref: ref, Kind: payment.HintAuthorisation}
	case e.Instruction.PaymentID != "":
		return payment.Hint{Ref: payment.Ref{ID: e.Instruction.PaymentID}, Kind: payment.HintDebit}
	case e.Payment.PixAutomaticAuthorizationID != "" && paid.Reference != "":
		return payment.Hint{Ref: paid, Kind: payment.HintDebit}
	case e.Payment.PixQrCodeID != "" && paid.Reference == "":
		return payment.Hint{Ref: payment.Ref{ID: qrCharge + e.Payment.PixQrCodeID}}
	}
	return payment.Hint{Ref: paid}
}

type webhook struct {
	Name        string   `json:"name"`
	URL         string   `json:"url"`
	Email       string   `json:"email"`
	Enabled     bool     `json:"enabled"`
	Interrupted bool     `json:"interrupted"`
	AuthToken   string   `json:"authToken"`
	SendType    string   `json:"sendType"`
	APIVersion  int      `json:"apiVersion"`
	Events      []string `json:"events"`
}

// Register makes the webhook at Asaas, or sets the one that is there right.
// Events are sent each for itself: in sequence, one that fails would hold up all
// behind it.
func (g *gateway) Register(ctx context.Context) error {
	if !wire.Reachable(g.env.CallbackURL) {
		return nil
	}
	if g.notifyEmail == "" { // it was set up before Asaas wanted one
		return &payment.Refusal{Reason: "Asaas wants an e-mail address for its warnings; enter the option notify_email"}
	}
	id, err := g.findWebhook(ctx)
	if err != nil {
		return wire.Outcome(err)
	}
	request := wire.Request{Method: http.MethodPost, Path: "/v3/webhooks", Body: webhook{
		Name:       "Carteira",
		URL:        g.env.CallbackURL,
		Email:      g.notifyEmail,
		Enabled:    true,
		AuthToken:  g.token,
		SendType:   "NON_SEQUENTIALLY",
		APIVersion: 3,
		Events:     g.events(),
	}}
	if id != "" {
		request.Method, request.Path = http.MethodPut, "/v3/webhooks/"+url.PathEscape(id)
	}
	return wire.Outcome(g.api.Do(ctx, request, nil))
}

func (g *gateway) findWebhook(ctx context.Context) (string, error) {
	list, err := listOf[struct{ ID, URL string }](ctx, g, "/v3/webhooks", url.Values{"limit": {"100"}})
	for _, w := range list {
		if w.URL == g.env.CallbackURL {
			return w.ID, err
		}
	}
	return "", err
}
