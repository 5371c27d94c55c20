package mercadopago

import (
	"context"
	"encoding/json"
	"time"

	"carteira/internal/payment"
	"carteira/internal/payment/wire"
	"carteira/internal/platform/money"
)

// settled is what the payments API says of an order's payment.
type settled struct {
	at         time.Time
	refunded   money.Cents
	refundedAt time.Time
}

// receivedBy is the money of an order that was paid. Its id is the one that orders
// have for it, which never changes.
func (g *pixGateway) receivedBy(ctx context.Context, order mpOrder) ([]payment.Received, error) {
	known, err := g.settledBy(ctx, order)
	if err != nil {
		return nil, err
	}
	var list []payment.Received
	for _, paid := range order.Transactions.Payments {
		if orderStates[paid.Status] != payment.StatePaid {
			continue
		}
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
func (g *pixGateway) settledBy(ctx context.Context, order mpOrder) (settled, error) {
	changed := wire.Time(order.UpdatedAt)
	known := settled{at: changed, refundedAt: changed}
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
		Currency: wire.Pick(o.Currency, "BRL"), // PIX is in reais
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
