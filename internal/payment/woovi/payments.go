package woovi

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"

	"carteira/internal/payment"
	"carteira/internal/payment/wire"
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

// is tells whether type or status is one of these.
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
	err := g.api.Do(ctx, wire.Request{Method: http.MethodGet, Path: "/api/v1/transaction", Query: url.Values{"charge": {reference}}}, &page)
	if err != nil {
		return nil, err
	}
	list, err := received(page.Transactions, reference)
	if err == nil && len(list) == 0 {
		err = errors.New("charge " + reference + " is paid, and its payment is not listed")
	}
	return list, err
}

func received(all []transaction, reference string) ([]payment.Received, error) {
	var list []payment.Received
	refunded := false
	for _, t := range all {
		switch {
		case !t.of(reference) || t.is("WITHDRAW", "FEE", "REJECTED", "CREATED", "IN_PROCESSING",
			"INTERNAL_TRANSFER", "BALANCE_BLOCK", "BALANCE_UNBLOCK"):
			continue
		case t.is("REFUND", "REVERSAL"):
			refunded = true
			continue
		}
		value, err := wire.Whole(t.Value)
		if err != nil {
			return nil, err
		}
		list = append(list, payment.Received{
			ID: wire.Pick(t.EndToEndID, t.GlobalID), Amount: value, Currency: "BRL", At: wire.Time(t.Time),
			Refunded: t.is("REFUNDED", "PARTIAL_REFUND"),
		})
	}
	for i := range list {
		list[i].Refunded = list[i].Refunded || refunded
	}
	return list, nil
}
