package mercadopago

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"carteira/internal/payment"
	"carteira/internal/payment/wire"
)

// How long Mercado Pago lets a code live, and a page, whose codes are the same.
const (
	shortest = 31 * time.Minute // half an hour, and time for the call
	longest  = 30 * 24 * time.Hour
)

type paymentRequest struct {
	Amount            json.Number `json:"transaction_amount"`
	Description       string      `json:"description"`
	Method            string      `json:"payment_method_id"`
	ExternalReference string      `json:"external_reference"`
	NotificationURL   string      `json:"notification_url,omitempty"`
	ExpiresAt         string      `json:"date_of_expiration"`
	Payer             payer       `json:"payer"`
	About             about       `json:"additional_info,omitzero"`
}

// payer is who pays a payment. Its name is sent separately.
type payer struct {
	Email          string          `json:"email,omitempty"`
	Identification *identification `json:"identification,omitempty"`
}

type about struct {
	Payer struct {
		FirstName string `json:"first_name,omitempty"`
		LastName  string `json:"last_name,omitempty"`
	} `json:"payer"`
}

type identification struct {
	Type   string `json:"type"`
	Number string `json:"number"`
}

func identificationOf(taxID string) *identification {
	switch len(taxID) {
	case 11:
		return &identification{"CPF", taxID}
	case 14:
		return &identification{"CNPJ", taxID}
	}
	return nil
}

// names are the first name and the others.
func names(name string) (first, last string) {
	first, last, _ = strings.Cut(strings.TrimSpace(name), " ")
	return first, strings.TrimSpace(last)
}

// Create makes the charge that the code or the page is for. Mercado Pago answers a
// repeated key with the charge of the first.
func (g *gateway) Create(ctx context.Context, order payment.Order) (payment.Charge, error) {
	email := wire.Pick(order.Payer.Email, g.payerEmail)
	if email == "" {
		return payment.Charge{}, &payment.Refusal{Reason: "Mercado Pago needs the customer's e-mail address; enter one, or " +
			"the option payer_email for all who have none"}
	}
	if g.makesOrders {
		return g.createOrder(ctx, order, email)
	}
	return g.createPayment(ctx, order, email)
}

func (g *gateway) createPayment(ctx context.Context, order payment.Order, email string) (payment.Charge, error) {
	body := paymentRequest{
		Amount: wire.Number(order.Amount), Description: order.Description, Method: "pix",
		ExternalReference: order.Reference, NotificationURL: g.notificationURL(),
		ExpiresAt: timestamp(g.expiry(order.ExpiresAt)),
		Payer:     payer{Email: email, Identification: identificationOf(order.Payer.TaxID)},
	}
	body.About.Payer.FirstName, body.About.Payer.LastName = names(order.Payer.Name)
	var paid mpPayment
	if err := g.post(ctx, "/v1/payments", order.Reference, body, &paid); err != nil {
		return payment.Charge{}, wire.Outcome(err)
	}
	return created(paid, order)
}

func (g *gateway) expiry(at time.Time) time.Time {
	now := g.env.Now()
	if first := now.Add(shortest); at.Before(first) {
		return first
	}
	if last := now.Add(longest); at.After(last) {
		return last
	}
	return at
}

// notificationURL is where this charge is reported; nowhere while the house has
// no address that Mercado Pago would accept.
func (g *gateway) notificationURL() string {
	if !wire.Reachable(g.env.CallbackURL) {
		return ""
	}
	return g.env.CallbackURL + "?source_news=webhooks" // without it, an older kind comes too
}

func timestamp(at time.Time) string {
	return at.In(wire.Brasilia).Format("2006-01-02T15:04:05.000-07:00")
}

func created(paid mpPayment, order payment.Order) (payment.Charge, error) {
	charge := chargeOf(paid)
	switch {
	case paid.Status == "rejected":
		return charge, &payment.Refusal{Reason: "the payment was rejected: " + wire.Cut(paid.StatusDetail, 80)}
	case charge.ID == "" || charge.PixCode == "" || paid.ExternalReference != order.Reference:
		return charge, errors.New("POST /v1/payments: the answer lacks id, code or reference")
	case charge.ExpiresAt.IsZero():
		charge.ExpiresAt = order.ExpiresAt
	}
	return charge, nil
}

func chargeOf(paid mpPayment) payment.Charge {
	return payment.Charge{
		ID:        paid.ID.String(),
		PixCode:   paid.PointOfAction.Data.Code,
		ExpiresAt: wire.Time(paid.ExpiresAt),
	}
}

func (g *gateway) find(ctx context.Context, ref payment.Ref) ([]mpPayment, error) {
	if ref.ID != "" {
		paid, err := g.byID(ctx, ref.ID)
		return []mpPayment{paid}, err
	}
	list, err := g.byReference(ctx, ref.Reference)
	if err == nil && len(list) == 0 {
		err = payment.ErrNoCharge
	}
	return list, err
}

// Fetch reads the order or the payment back.
func (g *gateway) Fetch(ctx context.Context, ref payment.Ref) (payment.Report, error) {
	orders, err := g.findOrders(ctx, ref)
	switch {
	case err != nil:
		return payment.Report{}, wire.Outcome(err)
	case len(orders) > 0:
		report, err := g.reportOrders(ctx, orders)
		return report, wire.Outcome(err)
	}
	return g.fetchPayment(ctx, ref)
}

func (g *gateway) fetchPayment(ctx context.Context, ref payment.Ref) (payment.Report, error) {
	list, err := g.find(ctx, ref)
	if err != nil {
		return payment.Report{}, wire.Outcome(err)
	}
	state, received, err := sum(list)
	if err != nil {
		return payment.Report{}, fmt.Errorf("look at charge %s: %w", wire.Pick(ref.ID, ref.Reference), err)
	}
	return payment.Report{
		Charge:    chargeOf(list[0]),
		Reference: list[0].ExternalReference,
		State:     state,
		Payments:  received,
	}, nil
}

// Cancel makes the code useless.
func (g *gateway) Cancel(ctx context.Context, ref payment.Ref) error {
	return wire.Twice(func() error { return g.cancel(ctx, ref) })
}

func (g *gateway) cancel(ctx context.Context, ref payment.Ref) error {
	orders, err := g.findOrders(ctx, ref)
	if err == nil && len(orders) > 0 {
		return g.cancelOrders(ctx, orders)
	}
	var list []mpPayment
	if err == nil {
		list, err = g.find(ctx, ref)
	}
	if errors.Is(err, payment.ErrNoCharge) {
		return nil
	}
	if err != nil {
		return err
	}
	return g.cancelPending(ctx, list)
}
