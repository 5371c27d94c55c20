package mercadopago

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"carteira/internal/payment"
	"carteira/internal/payment/wire"
	"carteira/internal/platform/money"
)

// mpPayment is a payment, made or only asked for.
type mpPayment struct {
	ID                json.Number `json:"id"`
	Status            string      `json:"status"`
	StatusDetail      string      `json:"status_detail"`
	Amount            json.Number `json:"transaction_amount"`
	Refunded          json.Number `json:"transaction_amount_refunded"`
	Refunds           []refund    `json:"refunds"`
	Currency          string      `json:"currency_id"`
	ExternalReference string      `json:"external_reference"`
	ExpiresAt         string      `json:"date_of_expiration"`
	ApprovedAt        string      `json:"date_approved"`
	PointOfAction     struct {
		Data struct {
			Code string `json:"qr_code"`
		} `json:"transaction_data"`
	} `json:"point_of_interaction"`
}

// refund is money of a payment that went back.
type refund struct {
	CreatedAt string `json:"date_created"`
}

// refundedAt is when the last refund was; zero: Mercado Pago does not say.
func (p *mpPayment) refundedAt() (last time.Time) {
	for _, back := range p.Refunds {
		if at := wire.Time(back.CreatedAt); at.After(last) {
			last = at
		}
	}
	return last
}

// states are the states of a payment, by Mercado Pago's names. Money that was
// given back was received before.
var states = map[string]payment.State{
	"pending":      payment.StatePending,
	"authorized":   payment.StatePending,
	"in_process":   payment.StatePending,
	"approved":     payment.StatePaid,
	"in_mediation": payment.StatePaid,
	"refunded":     payment.StatePaid,
	"charged_back": payment.StatePaid,
	"rejected":     payment.StateCancelled,
	"cancelled":    payment.StateCancelled,
}

func (p *mpPayment) state() (payment.State, error) {
	state, known := states[p.Status]
	if !known || p.ID == "" {
		return "", fmt.Errorf("a payment of Mercado Pago has the unknown status %.40q", p.Status)
	}
	return state, nil
}

func (p *mpPayment) received() (payment.Received, error) {
	amount, err := wire.Cents(p.Amount)
	if err != nil {
		return payment.Received{}, err
	}
	var refunded money.Cents
	if p.Refunded != "" {
		if refunded, err = wire.Cents(p.Refunded); err != nil {
			return payment.Received{}, err
		}
	}
	if p.Status == "refunded" || p.Status == "charged_back" {
		refunded = amount
	}
	return payment.Received{
		ID:         p.ID.String(),
		Amount:     amount,
		Currency:   p.Currency,
		At:         wire.Time(p.ApprovedAt),
		Refunded:   refunded,
		RefundedAt: p.refundedAt(),
	}, nil
}

// byID reads one payment.
func (g *gateway) byID(ctx context.Context, id string) (mpPayment, error) {
	var paid mpPayment
	if !isNumber(id) {
		return paid, payment.ErrNoCharge
	}
	err := wire.Known(g.api.Get(ctx, "/v1/payments/"+id, nil, &paid))
	return paid, wire.Expect(err, paid.ID.String() == id, "asked for payment %s, got %s", id, paid.ID)
}

func isNumber(text string) bool {
	for _, r := range text {
		if r < '0' || r > '9' {
			return false
		}
	}
	return text != ""
}

// byReference finds every payment made for a charge of ours, newest first.
func (g *gateway) byReference(ctx context.Context, reference string) ([]mpPayment, error) {
	if reference == "" {
		return nil, nil // a search without one would find those of other programs
	}
	var page struct {
		Results []mpPayment `json:"results"`
	}
	query := url.Values{
		"external_reference": {reference}, "sort": {"date_created"}, "criteria": {"desc"},
		"limit": {"50"},
	}
	err := g.api.Get(ctx, "/v1/payments/search", query, &page)
	err = wire.Expect(err, page.Results != nil, "GET /v1/payments/search: answered without results")
	return slices.DeleteFunc(page.Results, func(paid mpPayment) bool {
		return paid.ExternalReference != reference
	}), err
}

// sum is the state of a charge by its payments: paid when one is, pending
// while one can be paid.
func sum(list []mpPayment) (payment.State, []payment.Received, error) {
	state := payment.StateCancelled
	var received []payment.Received
	for _, paid := range list {
		s, err := paid.state()
		if err != nil {
			return "", nil, err
		}
		state = furthest(state, s)
		if s != payment.StatePaid {
			continue
		}
		r, err := paid.received()
		if err != nil {
			return "", nil, err
		}
		received = append(received, r)
	}
	return state, received, nil
}

// furthest is the state of a charge that has parts in both states: paid when one is,
// pending while one can be paid.
func furthest(x, y payment.State) payment.State {
	for _, state := range []payment.State{payment.StatePaid, payment.StatePending} {
		if x == state || y == state {
			return state
		}
	}
	return payment.StateCancelled
}

// cancelPending makes payments that are only asked for impossible, unless one was made.
// One that is made meanwhile is turned down by Mercado Pago.
func (g *gateway) cancelPending(ctx context.Context, list []mpPayment) error {
	state, _, err := sum(list)
	if err == nil && state == payment.StatePaid {
		err = payment.ErrPaid
	}
	if err != nil {
		return err
	}
	for _, paid := range list {
		if states[paid.Status] != payment.StatePending {
			continue
		}
		var after mpPayment
		err := g.api.Send(ctx, http.MethodPut, "/v1/payments/"+paid.ID.String(), map[string]string{"status": "cancelled"}, &after)
		cancelled := after.Status == "cancelled"
		if err = wire.Expect(err, cancelled, "payment %s was to be cancelled and is %.40q", paid.ID, after.Status); err != nil {
			return err
		}
	}
	return nil
}
