package panel

import (
	"errors"
	"net/url"
	"strconv"

	"carteira/internal/billing"
	"carteira/internal/customer"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/reminder"
)

// maxPicked is how many records one piece of work may change.
const maxPicked = 1000

// picks is what a list's form chose: records that are ticked, or all of a filter.
type picks struct {
	IDs   []int64
	All   bool   // of the filter
	Query string // the filter, as the list's address has it
}

func readPicks(req *request) (picks, error) {
	chosen := picks{All: req.PostFormValue("all") != "", Query: req.PostFormValue("of")}
	if chosen.All {
		return chosen, nil
	}
	for _, text := range req.PostForm["id"] {
		id, err := strconv.ParseInt(text, 10, 64)
		if err != nil || id <= 0 {
			return chosen, fault.NotFound("customer")
		}
		chosen.IDs = append(chosen.IDs, id)
	}
	if len(chosen.IDs) == 0 {
		return chosen, fault.New(fault.KindInvalid, "pick at least one customer")
	}
	return chosen, nil
}

// filterForm is the filter of picks, as a query.
func (p picks) filterForm() (*input.Form, error) {
	values, err := url.ParseQuery(p.Query)
	if err != nil {
		return nil, fault.New(fault.KindInvalid, "the form could not be read")
	}
	values.Del("page")
	return input.FromQuery(values), nil
}

var (
	errEnough  = errors.New("enough records")
	errTooMany = fault.New(fault.KindInvalid, "pick fewer customers at once")
)

// limitOf is how many records an action may be for.
func limitOf(action string) int {
	if action == "remind" {
		return reminder.MaxRound
	}
	return maxPicked
}

// customersOf reads the customers of picks, as long as they are not too many.
func (s *Server) customersOf(req *request, chosen picks, limit int) ([]customer.Customer, error) {
	var list []customer.Customer
	if !chosen.All {
		if len(chosen.IDs) > limit {
			return nil, errTooMany
		}
		for _, id := range chosen.IDs {
			record, err := s.Customers.Find(req.Context(), req.Actor, id)
			if err != nil {
				return nil, err
			}
			list = append(list, record)
		}
		return list, nil
	}
	in, err := chosen.filterForm()
	if err != nil {
		return nil, err
	}
	filter := readCustomers(in)
	if err := in.Err(); err != nil {
		return nil, err
	}
	err = s.Customers.Walk(req.Context(), req.Actor, filter, func(record customer.Customer) error {
		if list = append(list, record); len(list) > limit {
			return errEnough
		}
		return nil
	})
	return list, enough(err, len(list))
}

// invoicesOf is customersOf for invoices.
func (s *Server) invoicesOf(req *request, chosen picks, limit int) ([]billing.Invoice, error) {
	var list []billing.Invoice
	if !chosen.All {
		if len(chosen.IDs) > limit {
			return nil, errTooMany
		}
		for _, id := range chosen.IDs {
			invoice, err := s.Billing.Find(req.Context(), req.Actor, id)
			if err != nil {
				return nil, err
			}
			list = append(list, invoice)
		}
		return list, nil
	}
	in, err := chosen.filterForm()
	if err != nil {
		return nil, err
	}
	filter := billing.ReadFilter(in)
	if err := in.Err(); err != nil {
		return nil, err
	}
	err = s.Billing.Walk(req.Context(), req.Actor, filter, func(invoice billing.Invoice) error {
		if list = append(list, invoice); len(list) > limit {
			return errEnough
		}
		return nil
	})
	return list, enough(err, len(list))
}

// enough turns the end of a walk into what a person is told.
func enough(err error, found int) error {
	switch {
	case errors.Is(err, errEnough):
		return errTooMany
	case err == nil && found == 0:
		return fault.New(fault.KindInvalid, "pick at least one customer")
	}
	return err
}
