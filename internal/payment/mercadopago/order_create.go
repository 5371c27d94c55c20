package mercadopago

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"carteira/internal/payment"
	"carteira/internal/payment/wire"
	"carteira/internal/platform/money"
)

// maxDescription is the limit that orders in shops have for a description. For those
// online Mercado Pago publishes none.
const maxDescription = 150

// orderRequest has amounts as texts. It is for a code, which is asked for by its
// payment, or for a page, where the payer chooses.
type orderRequest struct {
	Type              string            `json:"type"`
	ProcessingMode    string            `json:"processing_mode"`
	TotalAmount       string            `json:"total_amount"`
	ExternalReference string            `json:"external_reference"`
	Description       string            `json:"description,omitempty"`
	Payer             orderPayer        `json:"payer"`
	Transactions      orderTransactions `json:"transactions,omitzero"`
	page
}

type orderPayer struct {
	payer
	FirstName string `json:"first_name,omitempty"`
	LastName  string `json:"last_name,omitempty"`
}

type orderTransactions struct {
	Payments []paymentOfOrder `json:"payments"`
}

type paymentOfOrder struct {
	Amount  string      `json:"amount"`
	Method  orderMethod `json:"payment_method"`
	Expires string      `json:"expiration_time"`
}

type orderMethod struct {
	ID   string `json:"id"`
	Type string `json:"type"`
}

// createOrder makes an order. A key that was used before is answered with its order,
// or turned down when Mercado Pago takes the two requests for different ones, since
// the time that is left for paying has become shorter: that order is then searched
// for. A second one is never made.
func (g *gateway) createOrder(ctx context.Context, order payment.Order, email string) (payment.Charge, error) {
	var made mpOrder
	err := g.post(ctx, ordersPath, order.Reference, g.orderRequestOf(order, email), &made)
	if wire.Status(err) == http.StatusConflict {
		made, err = g.madeBefore(ctx, order.Reference, err)
	}
	if err != nil {
		return payment.Charge{}, wire.Outcome(err)
	}
	return g.createdOrder(made, order)
}

func (g *gateway) orderRequestOf(order payment.Order, email string) orderRequest {
	body := orderRequest{
		Type: "online", ProcessingMode: "automatic",
		TotalAmount:       order.Amount.String(),
		ExternalReference: order.Reference,
		Description:       wire.Cut(order.Description, maxDescription),
		Payer:             orderPayer{payer: payer{Email: email, Identification: identificationOf(order.Payer.TaxID)}},
	}
	body.Payer.FirstName, body.Payer.LastName = names(order.Payer.Name)
	if g.methods != "" {
		body.ProcessingMode, body.page = "manual", g.pageOf(order)
		return body
	}
	body.Transactions.Payments = []paymentOfOrder{{
		Amount:  order.Amount.String(),
		Method:  orderMethod{ID: "pix", Type: "bank_transfer"},
		Expires: g.timeToPay(order.ExpiresAt),
	}}
	return body
}

// timeToPay is how long a code or a page lives, as a duration of ISO 8601 in minutes.
func (g *gateway) timeToPay(until time.Time) string {
	left := g.expiry(until).Sub(g.env.Now())
	return fmt.Sprintf("PT%dM", int(left/time.Minute))
}

// madeBefore finds the order of a key that was turned down. While it is not found,
// refused stays the outcome, which leaves open whether there is one.
func (g *gateway) madeBefore(ctx context.Context, reference string, refused error) (mpOrder, error) {
	orders, err := g.ordersByReference(ctx, reference)
	switch {
	case err != nil:
		return mpOrder{}, errors.Join(refused, err)
	case len(orders) == 0:
		return mpOrder{}, refused
	}
	return orders[0], nil
}

// createdOrder wants an order that can be paid. One that was paid or has ended under
// the same key is found by the next look at the charge.
func (g *gateway) createdOrder(made mpOrder, order payment.Order) (payment.Charge, error) {
	charge := made.charge()
	payable := charge.PixCode
	if g.methods != "" {
		payable = charge.CheckoutURL
	}
	state, err := made.state()
	switch {
	case err != nil:
		return charge, fmt.Errorf("POST /v1/orders: %w", err)
	case made.Status == "failed":
		return charge, &payment.Refusal{Reason: "the order failed: " + wire.Cut(made.StatusDetail, 80)}
	case state != payment.StatePending:
		return charge, fmt.Errorf("POST /v1/orders: the order is %s already", made.Status)
	case payable == "" || made.ExternalReference != order.Reference:
		return charge, errors.New("POST /v1/orders: the answer lacks code, address or reference")
	case charge.ExpiresAt.IsZero():
		charge.ExpiresAt = order.ExpiresAt
	}
	return charge, nil
}

// settled is what the payments API says of an order's payment.
type settled struct {
	at         time.Time
	refunded   money.Cents
	refundedAt time.Time
}

// receivedBy is the money of an order that was paid. Its id is the one that orders
// have for it, which never changes.
func (g *gateway) receivedBy(ctx context.Context, order mpOrder) ([]payment.Received, error) {
	var made []orderPayment
	for _, paid := range order.Transactions.Payments {
		if orderStates[paid.Status] == payment.StatePaid {
			made = append(made, paid)
		}
	}
	changed := wire.Time(order.UpdatedAt)
	known := settled{at: changed, refundedAt: changed}
	if len(made) == 1 { // of several nothing says which is which in the payments API
		var err error
		if known, err = g.settledBy(ctx, order, known); err != nil {
			return nil, err
		}
	}
	var list []payment.Received
	for _, paid := range made {
		received, err := order.received(paid, known)
		if err != nil {
			return nil, err
		}
		list = append(list, received)
	}
	return list, nil
}

// settledBy asks the payments API for the instants, which orders do not have. Where
// it does not list the payment, the order's last change is the nearest to them.
func (g *gateway) settledBy(ctx context.Context, order mpOrder, known settled) (settled, error) {
	list, err := g.byReference(ctx, order.ExternalReference)
	if err != nil {
		return known, err
	}
	for _, paid := range list {
		if states[paid.Status] != payment.StatePaid {
			continue
		}
		received, err := paid.received()
		if err != nil {
			return known, err
		}
		return settled{at: received.At, refunded: received.Refunded, refundedAt: received.RefundedAt}, nil
	}
	return known, nil
}

func (o *mpOrder) received(paid orderPayment, known settled) (payment.Received, error) {
	amount, err := wire.Cents(json.Number(wire.Pick(paid.Paid.String(), paid.Amount.String())))
	if err != nil {
		return payment.Received{}, err
	}
	refunded, err := o.refundedOf(paid)
	if err != nil {
		return payment.Received{}, err
	}
	if o.isAllGone(paid) {
		refunded = amount
	}
	received := payment.Received{
		ID:       paid.ID,
		Amount:   amount,
		Currency: wire.Pick(o.Currency, "BRL"), // an account of Brazil is paid in reais
		At:       known.at,
		Refunded: max(refunded, known.refunded),
	}
	if received.Refunded > 0 {
		received.RefundedAt = known.refundedAt
	}
	return received, nil
}

// isAllGone reports whether nothing is left of a payment. A dispute that the company
// has won leaves all of it.
func (o *mpOrder) isAllGone(paid orderPayment) bool {
	for _, part := range [][2]string{{o.Status, o.StatusDetail}, {paid.Status, paid.StatusDetail}} {
		if part[0] == "refunded" || part[1] == "refunded" || part[0] == "charged_back" && part[1] != "reimbursed" {
			return true
		}
	}
	return false
}

// refundedOf is how much of a payment went back, in all, as its sum or else as the
// refunds that have arrived.
func (o *mpOrder) refundedOf(paid orderPayment) (money.Cents, error) {
	var total, arrived money.Cents
	var err error
	if paid.Refunded != "" {
		if total, err = wire.Cents(paid.Refunded); err != nil {
			return 0, err
		}
	}
	for _, back := range o.Transactions.Refunds {
		if back.PaymentID != paid.ID || back.Status != "processed" {
			continue
		}
		part, err := wire.Cents(back.Amount)
		if err != nil {
			return 0, err
		}
		arrived += part
	}
	return max(total, arrived), nil
}

var checkoutMethods = []string{"pix", "all"}

// page is what an order has for Mercado Pago's own page (Checkout Pro). Two terms keep
// codes that are shown there from being paid longer than the page.
type page struct {
	Expires string      `json:"expiration_time,omitempty"`
	Items   []item      `json:"items,omitempty"`
	Config  *pageConfig `json:"config,omitempty"`
}

type item struct {
	Title    string `json:"title"`
	Quantity int    `json:"quantity"`
	Price    string `json:"unit_price"`
}

type pageConfig struct {
	Expires string `json:"default_payment_due_date"`
	Online  online `json:"online,omitzero"`
	Methods struct {
		Excluded []string `json:"not_allowed_types"`
	} `json:"payment_method,omitzero"`
}

// online is where the page sends payers back to.
type online struct {
	Success    string `json:"success_url"`
	Pending    string `json:"pending_url"`
	Failure    string `json:"failure_url"`
	AutoReturn string `json:"auto_return"`
}

// allButPix are the types of payment that Mercado Pago names in its document, without
// PIX, which is a bank transfer. Its page has digital_currency for wallets too.
var allButPix = []string{
	"account_money",
	"atm",
	"credit_card",
	"crypto",
	"debit_card",
	"digital_currency",
	"prepaid_card",
	"ticket",
	"voucher_card",
}

func (g *gateway) pageOf(order payment.Order) page {
	lives := g.timeToPay(order.ExpiresAt)
	config := pageConfig{Expires: lives}
	if back := wire.Pick(g.env.ReturnURL, order.PayURL); strings.HasPrefix(back, "https://") {
		config.Online = online{Success: back, Pending: back, Failure: back, AutoReturn: "approved"}
	}
	if g.methods == "pix" {
		config.Methods.Excluded = allButPix
	}
	return page{
		Expires: lives,
		Items:   []item{{Title: wire.Cut(order.Description, maxDescription), Quantity: 1, Price: order.Amount.String()}},
		Config:  &config,
	}
}
