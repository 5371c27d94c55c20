//go:build linux

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// books are what the program has at the end of a trial.
type books struct {
	customers map[string]map[int64]bool // ids by name
	due       map[string]string         // by the customer's name
	payments  map[string]int            // by the customer's name
	events    map[string]int            // by the event and the customer's name
	imported  int                       // customers that a file brought
	charges   int                       // at the bank
}

// importedName begins the names of customers that a file brings.
const importedName = "Cliente "

// books asks the program for all of it. What a caller who was stopped had asked
// for may still come in, and move others to another page: an id counts once.
func (l *lab) books() (b books, err error) {
	b = books{customers: map[string]map[int64]bool{}, due: map[string]string{}, payments: map[string]int{}, events: map[string]int{}}
	err = l.pages("/customers?", func(text json.RawMessage) error {
		var customer struct {
			ID   int64
			Name string
			Due  string `json:"data_de_vencimento"`
		}
		err := json.Unmarshal(text, &customer)
		if b.customers[customer.Name] == nil {
			b.customers[customer.Name] = map[int64]bool{}
			b.due[customer.Name] = customer.Due
			if strings.HasPrefix(customer.Name, importedName) {
				b.imported++
			}
		}
		b.customers[customer.Name][customer.ID] = true
		return err
	})
	if err == nil {
		seen := map[int64]bool{}
		err = l.pages("/payments?", func(text json.RawMessage) error {
			var payment struct{ ID int64 }
			err := json.Unmarshal(text, &payment)
			if _, customer := nameOf(text); !seen[payment.ID] {
				b.payments[customer]++
			}
			seen[payment.ID] = true
			return err
		})
	}
	b.charges, _ = l.bank.counts()
	return b, errors.Join(err, l.feed(b.events))
}

// pages reads a list to its end.
func (l *lab) pages(path string, take func(json.RawMessage) error) error {
	for page := 1; ; page++ {
		var list struct {
			Data []json.RawMessage
			Meta struct {
				LastPage int `json:"last_page"`
			}
		}
		status, err := l.api(http.MethodGet, fmt.Sprintf("%sper_page=200&page=%d", path, page), nil, &list)
		if err != nil || status != http.StatusOK {
			return errors.Join(err, fmt.Errorf("list %s: %d", path, status))
		}
		for _, text := range list.Data {
			if err := take(text); err != nil {
				return err
			}
		}
		if page >= list.Meta.LastPage {
			return nil
		}
	}
}

// feed counts the events that there are.
func (l *lab) feed(events map[string]int) error {
	for after, more := "", true; more; {
		var list struct {
			Data []json.RawMessage
			Meta struct {
				LastID  string `json:"last_id"`
				HasMore bool   `json:"has_more"`
			}
		}
		status, err := l.api(http.MethodGet, "/events?limit=200&types="+strings.Join(counted, ",")+"&after="+after, nil, &list)
		if err != nil || status != http.StatusOK {
			return errors.Join(err, fmt.Errorf("read events: %d", status))
		}
		for _, text := range list.Data {
			event, customer := nameOf(text)
			events[event+" "+customer]++
		}
		after, more = list.Meta.LastID, list.Meta.HasMore
	}
	return nil
}

// compare holds what was acknowledged against the books: customers, payments,
// renewals, the events of each, and the charges at the bank.
func (r *row) compare(writes []write, payments []payment, b books) {
	for _, write := range writes {
		acked := !write.acked.IsZero()
		r.hold(write.name, "customer", len(b.customers[write.name]), acked)
		r.hold(write.name, created, b.events[created+" "+write.name], acked)
	}
	for _, p := range payments {
		settled := !p.settled.IsZero()
		r.hold(p.name, "payment", b.payments[p.name], settled)
		r.hold(p.name, paid, b.events[paid+" "+p.name], settled)
		r.hold(p.name, renewed, b.events[renewed+" "+p.name], settled)
		switch now := b.due[p.name]; { // a month after the first one, of 28 to 31 days
		case settled && now <= p.due:
			r.lose(p.name + " has paid, and is due on " + now)
		case now > dueIn(3+40):
			r.double(p.name + " has paid once, and is due on " + now)
		}
	}
}

// hold wants one of something that was acknowledged, and at most one of what was
// not.
func (r *row) hold(name, what string, n int, acked bool) {
	switch {
	case n > 1:
		r.double(fmt.Sprintf("%s has %d of %s", name, n, what))
	case n == 0 && acked:
		r.lose(name + " has no " + what)
	}
}

func (r *row) double(what string) {
	r.doubled++
	r.wrong = append(r.wrong, what)
}

func (r *row) lose(what string) {
	r.lost++
	r.wrong = append(r.wrong, what)
}
