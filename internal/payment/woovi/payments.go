package woovi

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"time"

	"carteira/internal/payment"
	"carteira/internal/payment/wire"
	"carteira/internal/platform/money"
)

// transaction is money that moved. Woovi's description of its API has type and
// status the wrong way round, so both are looked at together.
type transaction struct {
	Value      json.Number `json:"value"`
	Time       string      `json:"time"`
	EndToEndID string      `json:"endToEndId"`
	GlobalID   string      `json:"globalID"`
	Type       string      `json:"type"`
	Status     string      `json:"status"`
	Charge     struct {
		CorrelationID string `json:"correlationID"`
	} `json:"charge"`
}

// is reports whether type or status is one of these.
func (t *transaction) is(words ...string) bool {
	return slices.Contains(words, t.Type) || slices.Contains(words, t.Status)
}

func (t *transaction) of(reference string) bool {
	return t.Charge.CorrelationID == "" || t.Charge.CorrelationID == reference
}

// payments are what a charge was paid with. A charge that is paid without any
// is asked for again: its amount is what was wanted, not what came.
func (g *gateway) payments(ctx context.Context, reference string) ([]payment.Received, error) {
	var page struct {
		Transactions []transaction `json:"transactions"`
	}
	if err := g.api.Get(ctx, "/api/v1/transaction", url.Values{"charge": {reference}}, &page); err != nil {
		return nil, err
	}
	list, err := received(page.Transactions, reference)
	return list, wire.Expect(err, len(list) > 0, "charge %s is paid, and its payment is not listed", reference)
}

func received(all []transaction, reference string) ([]payment.Received, error) {
	var list []payment.Received
	var back refunds
	for _, transaction := range all {
		switch {
		case !transaction.of(reference) || transaction.is("WITHDRAW", "FEE", "REJECTED", "CREATED", "IN_PROCESSING",
			"INTERNAL_TRANSFER", "BALANCE_BLOCK", "BALANCE_UNBLOCK"):
			continue
		}
		value, err := wire.Whole(transaction.Value)
		if err != nil {
			return nil, err
		}
		if transaction.is("REFUND", "REVERSAL") {
			back.add(max(value, -value), wire.Time(transaction.Time))
			continue
		}
		list = append(list, payment.Received{
			ID:       wire.Pick(transaction.EndToEndID, transaction.GlobalID),
			Amount:   value,
			Currency: "BRL",
			At:       wire.Time(transaction.Time),
			Refunded: transaction.refunded(value),
		})
	}
	return withRefunds(list, back), nil
}

// refunded is what the payment itself says went back: all, or nothing that it
// could put a number to.
func (t *transaction) refunded(value money.Cents) money.Cents {
	if t.is("REFUNDED") {
		return value
	}
	return 0
}

// withRefunds takes what went back off the payments, oldest first: refunds do not
// say which of several payments of a charge they are of.
func withRefunds(list []payment.Received, back refunds) []payment.Received {
	for i := range list {
		part := min(back.sum, list[i].Amount)
		list[i].Refunded, list[i].RefundedAt = max(list[i].Refunded, part), back.last
		back.sum -= part
	}
	return list
}

// refunds are what went back of a charge, and when the last of it did.
type refunds struct {
	sum  money.Cents
	last time.Time
}

func (r *refunds) add(amount money.Cents, at time.Time) {
	r.sum += amount
	if at.After(r.last) {
		r.last = at
	}
}
