package woovi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"carteira/internal/payment"
	"carteira/internal/payment/wire"
)

// debitor is the gateway of a company that has PIX Automático at Woovi. An
// authorisation is a subscription there, which makes an instalment for each period
// by itself; announcing is to have one debited. What was not announced, Woovi
// announces four days before its day.
type debitor struct{ *gateway }

var _ payment.Debitor = (*debitor)(nil)

// autopayOption turns PIX Automático on.
var autopayOption = wire.Autopay(
	"yes when Woovi has opened it to this account; customers need a CPF or CNPJ and a whole address",
)

// subscription is one as Woovi returns it. Its pages call the part of PIX
// Automático pixRecurring, its document pixRecurringOptions.
type subscription struct {
	GlobalID      string    `json:"globalID"`
	CorrelationID string    `json:"correlationID"`
	Recurring     recurring `json:"pixRecurring"`
	Options       recurring `json:"pixRecurringOptions"`
}

type recurring struct {
	Code   string `json:"emv"`
	Status string `json:"status"`
}

func (s subscription) status() string { return wire.Pick(s.Recurring.Status, s.Options.Status) }

// authorisations are the states of an authorisation by what Woovi calls it. It has one
// word for a payer who refuses and for one who ends.
var authorisations = map[string]payment.Authorisation{
	"CREATED":  {State: payment.AuthorisationAsked},
	"APPROVED": {State: payment.AuthorisationActive},
	"REJECTED": {State: payment.AuthorisationEnded, EndedBy: payment.ByPayer},
	"CANCELED": {State: payment.AuthorisationEnded, EndedBy: payment.ByCompany},
	"EXPIRED":  {State: payment.AuthorisationRefused, EndedBy: payment.ByExpiry},
}

func (s subscription) public() (payment.Authorisation, error) {
	public := authorisations[s.status()]
	public.Ref = payment.Ref{ID: s.GlobalID, Reference: s.CorrelationID}
	if public.State == payment.AuthorisationAsked {
		public.PixCode = wire.Pick(s.Recurring.Code, s.Options.Code)
	}
	return public, nil
}

// check wants an answer that says what it is about.
func (s subscription) check(call string) error {
	switch {
	case s.GlobalID == "" || s.CorrelationID == "":
		return errors.New(call + ": the answer lacks a subscription")
	case authorisations[s.status()].State == "":
		return fmt.Errorf("%s: a subscription has the unknown status %.40q", call, s.status())
	case s.status() == "CREATED" && s.Recurring.Code == "" && s.Options.Code == "":
		return errors.New(call + ": the answer lacks a code")
	}
	return nil
}

const subscriptionsPath = "/api/v1/subscriptions"

type subscriptionRequest struct {
	Name          string        `json:"name"`
	Value         int64         `json:"value"`
	Customer      *customer     `json:"customer"`
	CorrelationID string        `json:"correlationID"`
	Comment       string        `json:"comment"`
	Frequency     string        `json:"frequency"`
	Type          string        `json:"type"`
	First         string        `json:"dayGenerateCharge"`
	DayDue        int           `json:"dayDue"` // days after which a debit is given up
	Options       autopayChoice `json:"pixRecurringOptions"`
}

type autopayChoice struct {
	Journey string `json:"journey"`
	Retries string `json:"retryPolicy"`
	Minimum int64  `json:"minimumValue,omitempty"`
}

// Journeys are those that the provider's API has, or that we can follow.
func (d *debitor) Journeys() []payment.Journey { return []payment.Journey{payment.JourneyCode} }

// Authorise asks by a code that pays nothing. Woovi has one that pays too, but
// makes a charge of its own for that, which is not found by a reference of ours.
func (d *debitor) Authorise(ctx context.Context, mandate payment.Mandate) (payment.Authorisation, error) {
	if err := refuseMandate(mandate); err != nil {
		return payment.Authorisation{}, err
	}
	return wire.Look(ctx, payment.Ref{Reference: mandate.Reference},
		func(ctx context.Context, ref payment.Ref) (subscription, error) {
			return wire.Make(func() (subscription, error) { return d.findSubscription(ctx, ref) },
				func() (subscription, error) { return d.subscribe(ctx, mandate) })
		}, subscription.public)
}

func refuseMandate(mandate payment.Mandate) error {
	payer := customerOf(mandate.Payer)
	switch {
	case mandate.Journey != payment.JourneyCode:
		return &payment.Refusal{Reason: "with Woovi an authorisation is asked for with a code that pays nothing"}
	case wire.Frequencies[mandate.Every] == "":
		return &payment.Refusal{Reason: "PIX Automático has no such period"}
	case payer == nil || payer.TaxID == "" || payer.Address == nil:
		return &payment.Refusal{Reason: "Woovi needs the customer's CPF or CNPJ and whole address for PIX Automático"}
	}
	return nil
}

func (d *debitor) subscribe(ctx context.Context, mandate payment.Mandate) (subscription, error) {
	body := subscriptionRequest{
		Name:          wire.Cut(mandate.Description, 99),
		Value:         int64(max(mandate.Amount, mandate.Minimum, 1)),
		Customer:      customerOf(mandate.Payer),
		CorrelationID: mandate.Reference,
		Comment:       wire.Cut(mandate.Description, 29),
		Frequency:     wire.Frequencies[mandate.Every],
		Type:          "PIX_RECURRING",
		First:         mandate.From.String() + "T00:00:00.000Z",
		DayDue:        3,
		// Woovi would choose the days of its retries, and none can be stopped: an
		// invoice that is paid meanwhile would be paid twice.
		Options: autopayChoice{Journey: "ONLY_RECURRENCY", Retries: "NON_PERMITED"},
	}
	if mandate.Amount == 0 {
		body.Options.Minimum = int64(max(mandate.Minimum, 1))
	}
	var answer struct {
		Subscription subscription `json:"subscription"`
	}
	err := d.api.Send(ctx, http.MethodPost, subscriptionsPath, body, &answer)
	if err == nil {
		err = answer.Subscription.check("POST " + subscriptionsPath)
	}
	return answer.Subscription, err
}

// findSubscription reads one by its id or our reference. Woovi turns an unknown id
// down like any other mistake, so after a refusal we ask for something that
// exists: only when that is answered is the subscription unknown.
func (d *debitor) findSubscription(ctx context.Context, ref payment.Ref) (subscription, error) {
	var answer struct {
		Subscription subscription `json:"subscription"`
	}
	path := subscriptionsPath + "/" + url.PathEscape(wire.Pick(ref.ID, ref.Reference))
	err := d.api.Get(ctx, path, nil, &answer)
	if wire.Changed(err) {
		return subscription{}, d.unknown(ctx)
	}
	if err == nil {
		err = answer.Subscription.check("GET " + path)
	}
	return answer.Subscription, err
}

// FetchAuthorisation reads it back.
func (d *debitor) FetchAuthorisation(ctx context.Context, ref payment.Ref) (payment.Authorisation, error) {
	return wire.Look(ctx, ref, d.findSubscription, subscription.public)
}

// EndAuthorisation cancels the subscription. Woovi's document does not say what it
// answers, so it is read back.
func (d *debitor) EndAuthorisation(ctx context.Context, ref payment.Ref) error {
	return wire.End(ctx, ref, d.findSubscription, subscription.live, d.end)
}

func (d *debitor) end(ctx context.Context, live subscription) error {
	path := subscriptionsPath + "/" + url.PathEscape(live.GlobalID) + "/cancel"
	if err := d.api.Send(ctx, http.MethodPut, path, nil, nil); err != nil {
		return err
	}
	after, err := d.findSubscription(ctx, payment.Ref{ID: live.GlobalID})
	return wire.Expect(err, !after.live(), "PUT %s: the subscription is %.40q", path, after.status())
}

// live reports whether something more may be debited by it.
func (s subscription) live() bool {
	state := authorisations[s.status()].State
	return state == payment.AuthorisationAsked || state == payment.AuthorisationActive
}

// instalment is one period of a subscription.
type instalment struct {
	GlobalID string `json:"globalID"`
	Day      string `json:"dateGenerateCharge"`
	Status   string `json:"status"`
	Parent   string `json:"paymentSubscriptionGlobalID"`
	Debit    *cobr  `json:"cobr"`
}

// cobr is the debit of an instalment, once it is announced.
type cobr struct {
	Status      string      `json:"status"`
	Value       json.Number `json:"value"`
	EndToEndID  string      `json:"endToEndId"`
	RejectCode  string      `json:"rejectCode"`
	PaymentDate string      `json:"paymentDate"`
	Tries       []try       `json:"tries"`
}

// try is one attempt.
type try struct {
	Status     string `json:"tryStatus"`
	RejectCode string `json:"rejectCode"`
	Day        string `json:"requestedExecutionDate"`
	UpdatedAt  string `json:"updatedAt"`
}

func (c *cobr) newest() try {
	var newest try
	for _, try := range c.Tries {
		if try.Day >= newest.Day {
			newest = try
		}
	}
	return newest
}

// paidAt is when it was paid, as precisely as Woovi says.
func (c *cobr) paidAt(now time.Time) time.Time {
	for _, text := range []string{c.PaymentDate, c.newest().UpdatedAt} {
		if at := wire.Time(text); !at.IsZero() && !at.After(now) {
			return at
		}
	}
	return now
}

// received is the payment of a debit. Refunds of it are not reported.
func (c *cobr) received(now time.Time) ([]payment.Received, error) {
	amount, err := wire.Whole(c.Value)
	if err != nil {
		return nil, err
	}
	if c.EndToEndID == "" {
		return nil, errors.New("it is paid, and its payment is not listed")
	}
	return []payment.Received{{ID: c.EndToEndID, Amount: amount, Currency: "BRL", At: c.paidAt(now)}}, nil
}
