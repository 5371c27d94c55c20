package payment

import (
	"context"

	"carteira/internal/account"
	"carteira/internal/customer"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
)

// AutopayFilter chooses customers by their PIX Automático; the zero one chooses
// all who were ever asked.
type AutopayFilter struct {
	State  customer.Autopay // "": any
	Failed bool             // only those whose newest debits came to nothing
}

// ReadAutopayFilter reads a filter from the field state. Wrong values are left to
// in.Err.
func ReadAutopayFilter(in *input.Form) AutopayFilter {
	const failed = "failed"
	state, _ := in.Choice(
		"state",
		string(customer.AutopayActive),
		string(customer.AutopayAsked),
		failed,
		string(customer.AutopayEnded),
	).Get()
	if state == failed {
		return AutopayFilter{Failed: true}
	}
	return AutopayFilter{State: customer.Autopay(state)}
}

// AutopayOf is what is known of one customer's PIX Automático, in a list: it has no
// history.
type AutopayOf struct {
	CustomerID   int64
	CustomerName string // empty: the customer is deleted
	Autopay
}

// Autopays lists customers by their PIX Automático, who was asked last first, and
// returns how many there are. It calls no gateway.
func (s *Service) Autopays(
	ctx context.Context,
	actor account.Actor,
	filter AutopayFilter,
	page input.Page,
) ([]AutopayOf, int64, error) {
	query := authorisationQuery{actor.Company.ID, filter, page}
	total, err := countNewest(ctx, s.db, query)
	if err != nil || page.Offset() >= total {
		return []AutopayOf{}, total, err
	}
	newest, err := newestOfCustomers(ctx, s.db, query)
	if err != nil {
		return nil, 0, err
	}
	list, err := s.describeAll(ctx, actor, newest)
	return list, total, err
}

// describeAll adds to authorisations the names of their customers and what is to
// say of their debits.
func (s *Service) describeAll(ctx context.Context, actor account.Actor, newest []authorisation) ([]AutopayOf, error) {
	customers, ids := make([]int64, len(newest)), make([]int64, len(newest))
	for i, known := range newest {
		customers[i], ids[i] = known.customerID, known.id
	}
	names, err := customer.NamesIn(ctx, s.db, actor, customers)
	if err != nil {
		return nil, err
	}
	debits, err := debitsByAuthorisation(ctx, s.db, actor.Company.ID, ids)
	if err != nil {
		return nil, err
	}
	setup, err := s.active(ctx, s.db, actor.Company.ID)
	if err != nil && fault.KindOf(err) != fault.KindInvalid {
		return nil, err
	}
	list := make([]AutopayOf, len(newest))
	for i, known := range newest {
		list[i] = AutopayOf{
			CustomerID:   known.customerID,
			CustomerName: names[known.customerID],
			Autopay:      Autopay{State: known.state.shown(), Newest: known.request(), Left: known.left(setup)},
		}
		list[i].addDebits(debits[known.id])
	}
	return list, nil
}

// left reports whether the company uses another gateway than the one by which the
// payer has authorised.
func (a authorisation) left(setup Setup) bool {
	return a.state == authActive && a.gatewayID != setup.ID
}
