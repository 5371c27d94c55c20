package mercadopago

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"time"

	"carteira/internal/payment"
	"carteira/internal/payment/wire"
)

// mpOrder is an order: what is asked for, with the payment that it is asked by.
type mpOrder struct {
	ID                string `json:"id"`
	Status            string `json:"status"`
	StatusDetail      string `json:"status_detail"`
	ExternalReference string `json:"external_reference"`
	Currency          string `json:"currency"`
	UpdatedAt         string `json:"last_updated_date"`
	CheckoutURL       string `json:"checkout_url"` // of a page
	Transactions      struct {
		Payments []orderPayment `json:"payments"`
		Refunds  []orderRefund  `json:"refunds"`
	} `json:"transactions"`
}

// orderPayment is the payment of an order. It has an id of its own, which the
// payments API does not know, and no instant of the money.
type orderPayment struct {
	ID           string      `json:"id"`
	Status       string      `json:"status"`
	StatusDetail string      `json:"status_detail"`
	Amount       json.Number `json:"amount"`
	Paid         json.Number `json:"paid_amount"`
	Refunded     json.Number `json:"refunded_amount"`
	ExpiresAt    string      `json:"date_of_expiration"`
	Method       struct {
		Code string `json:"qr_code"` // gone once it is paid
	} `json:"payment_method"`
}

// orderRefund is money of an order's payment that went back.
type orderRefund struct {
	PaymentID string      `json:"transaction_id"`
	Amount    json.Number `json:"amount"`
	Status    string      `json:"status"`
}

// orderStates are the states of orders and of their payments. Money that was given
// back was received before.
var orderStates = map[string]payment.State{
	"created":         payment.StatePending,
	"processing":      payment.StatePending,
	"action_required": payment.StatePending,
	"processed":       payment.StatePaid,
	"refunded":        payment.StatePaid,
	"charged_back":    payment.StatePaid,
	"canceled":        payment.StateCancelled,
	"cancelled":       payment.StateCancelled, // in samples of the SDKs
	"expired":         payment.StateCancelled,
	"failed":          payment.StateCancelled,
}

func (o *mpOrder) state() (payment.State, error) {
	state, known := orderStates[o.Status]
	if !known || o.ID == "" {
		return "", fmt.Errorf("an order of Mercado Pago has the unknown status %.40q", o.Status)
	}
	return state, nil
}

func (o *mpOrder) charge() payment.Charge {
	charge := payment.Charge{ID: o.ID, CheckoutURL: o.CheckoutURL}
	if o.CheckoutURL == "" && len(o.Transactions.Payments) > 0 {
		asked := o.Transactions.Payments[0]
		charge.PixCode, charge.ExpiresAt = asked.Method.Code, wire.Time(asked.ExpiresAt)
	}
	return charge
}

const ordersPath = "/v1/orders"

// isOrderID reports whether an id is an order's: those of payments are numbers.
func isOrderID(id string) bool {
	for _, r := range id {
		if (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') {
			return false
		}
	}
	return id != "" && !isNumber(id)
}

// orderByID reads one order.
func (g *gateway) orderByID(ctx context.Context, id string) (mpOrder, error) {
	var order mpOrder
	err := wire.Known(g.api.Get(ctx, ordersPath+"/"+id, nil, &order))
	return order, wire.Expect(err, order.ID == id, "asked for order %s, got %.40q", id, order.ID)
}

const (
	// searchBack and searchAhead are the window of a search, by the day on which an
	// order was made. Mercado Pago wants one of a month at the most, and the shortest
	// has 28 days. A charge without an id is searched for within minutes of its making.
	searchBack  = 27 * 24 * time.Hour
	searchAhead = time.Hour // its clock may be ahead of ours

	// noReference is a reference that no charge has.
	noReference = "carteira-check"
)

// searchOrders lists the orders of a reference. A list with orders of other
// references was not searched by ours: it does not prove that there is none.
func (g *gateway) searchOrders(ctx context.Context, reference string) ([]mpOrder, error) {
	var page struct {
		Data []mpOrder `json:"data"`
	}
	now := g.env.Now().UTC()
	query := url.Values{
		"external_reference": {reference},
		"begin_date":         {now.Add(-searchBack).Format(time.RFC3339)},
		"end_date":           {now.Add(searchAhead).Format(time.RFC3339)},
	}
	err := g.api.Get(ctx, ordersPath, query, &page)
	isOther := func(order mpOrder) bool { return order.ExternalReference != reference }
	err = wire.Expect(err, page.Data != nil, "GET %s: answered without data", ordersPath)
	return page.Data, wire.Expect(err, !slices.ContainsFunc(page.Data, isOther),
		"GET %s: answered with orders of other references", ordersPath)
}

// ordersByReference reads the orders of a reference. What a search lists need not be
// whole, so each is read after it.
func (g *gateway) ordersByReference(ctx context.Context, reference string) ([]mpOrder, error) {
	found, err := g.searchOrders(ctx, reference)
	if err != nil {
		return nil, err
	}
	orders := make([]mpOrder, 0, len(found))
	for _, listed := range found {
		if !isOrderID(listed.ID) {
			return nil, fmt.Errorf("GET /v1/orders: listed the id %.40q", listed.ID)
		}
		order, err := g.orderByID(ctx, listed.ID)
		if err != nil {
			return nil, err
		}
		orders = append(orders, order)
	}
	return orders, nil
}

// findOrders reads the orders that a charge has; none when it was made by the
// payments API. While that one makes charges, only a payment that a callback names
// and that we do not know may be an order's, made before.
func (g *gateway) findOrders(ctx context.Context, ref payment.Ref) ([]mpOrder, error) {
	switch {
	case isOrderID(ref.ID):
		order, err := g.orderByID(ctx, ref.ID)
		return []mpOrder{order}, err
	case !g.makesOrders && (ref.ID == "" || ref.Reference != ""):
		return nil, nil
	case ref.ID != "":
		return g.ordersOfPayment(ctx, ref)
	}
	orders, err := g.ordersByReference(ctx, ref.Reference)
	if err == nil && len(orders) == 0 {
		err = payment.ErrNoCharge
	}
	return orders, err
}

// ordersOfPayment reads the order that a payment belongs to. Callbacks name an
// order's payment by the id that the payments API has for it, and money that was
// reported under two ids would count as paid twice.
func (g *gateway) ordersOfPayment(ctx context.Context, ref payment.Ref) ([]mpOrder, error) {
	reference := ref.Reference
	if reference == "" {
		paid, err := g.byID(ctx, ref.ID)
		if err != nil {
			return nil, err
		}
		reference = paid.ExternalReference
	}
	if reference == "" {
		return nil, nil // of another program
	}
	orders, err := g.ordersByReference(ctx, reference)
	if !g.makesOrders && errors.Is(wire.Outcome(err), payment.ErrRefused) {
		return nil, nil // an application that may not use orders has none
	}
	return orders, err
}

// stateOf is the state of a charge by its orders.
func stateOf(orders []mpOrder) (payment.State, error) {
	state := payment.StateCancelled
	for _, order := range orders {
		next, err := order.state()
		if err != nil {
			return "", err
		}
		state = furthest(state, next)
	}
	return state, nil
}

func (g *gateway) reportOrders(ctx context.Context, orders []mpOrder) (payment.Report, error) {
	state, err := stateOf(orders)
	if err != nil {
		return payment.Report{}, err
	}
	report := payment.Report{Charge: orders[0].charge(), Reference: orders[0].ExternalReference, State: state}
	for _, order := range orders {
		if orderStates[order.Status] != payment.StatePaid {
			continue
		}
		received, err := g.receivedBy(ctx, order)
		if err != nil {
			return payment.Report{}, err
		}
		report.Payments = append(report.Payments, received...)
	}
	return report, nil
}

// cancelOrders makes orders impossible to pay, and then what was begun by them: a code
// that a page has shown could be paid after the order, or its end. One that was paid
// meanwhile is turned down by Mercado Pago.
func (g *gateway) cancelOrders(ctx context.Context, orders []mpOrder) error {
	state, err := stateOf(orders)
	if err == nil && state == payment.StatePaid {
		err = payment.ErrPaid
	}
	if err != nil {
		return err
	}
	for _, order := range orders {
		if orderStates[order.Status] != payment.StatePending {
			continue
		}
		if err := g.cancelOrder(ctx, order.ID); err != nil {
			return err
		}
	}
	begun, err := g.byReference(ctx, orders[0].ExternalReference)
	if err != nil {
		return err
	}
	return g.cancelPending(ctx, begun)
}

// cancelOrder has another key each time: a try that was turned down must not answer
// for the next one.
func (g *gateway) cancelOrder(ctx context.Context, id string) error {
	var after mpOrder
	key := "cancel " + id + " " + g.env.Now().Format(time.RFC3339Nano)
	err := g.post(ctx, ordersPath+"/"+id+"/cancel", key, nil, &after)
	cancelled := orderStates[after.Status] == payment.StateCancelled
	return wire.Expect(err, cancelled, "order %s was to be cancelled and is %.40q", id, after.Status)
}
