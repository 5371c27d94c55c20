package billing

import (
	"fmt"
	"slices"
	"strings"

	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
)

// Status is the standing of an invoice. It is a code, which the database and the
// counters store; String is the word that the API, events and people read.
type Status string

// The statuses.
const (
	Open      Status = "open"
	Paid      Status = "paid"
	Cancelled Status = "cancelled"
)

// Statuses lists the statuses in the order in which people read them.
var Statuses = []Status{Open, Paid, Cancelled}

var statusWords = map[Status]string{Open: "Em aberto", Paid: "Pago", Cancelled: "Cancelado"}

// String is the word for the status in the API's contract.
func (s Status) String() string {
	if word, ok := statusWords[s]; ok {
		return word
	}
	return string(s)
}

// MarshalText writes the word, so that JSON has it.
func (s Status) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

func wordsOf(list []Status) []string {
	words := make([]string, len(list))
	for n, status := range list {
		words[n] = status.String()
	}
	return words
}

// readStatus reads the status that a form names by its word; none when it names
// none, or something else, which the form remembers.
func readStatus(in *input.Form) Status {
	return statusOf(in.Choice("status", wordsOf(Statuses)...).Value)
}

func statusOf(word string) Status {
	for status, known := range statusWords {
		if known == word {
			return status
		}
	}
	return ""
}

// transitions is the state machine of an invoice.
var transitions = map[Status][]Status{
	Open:      {Paid, Cancelled},
	Cancelled: {Open},
	Paid:      {Open}, // when persons reported the money: what came through a gateway does not go back by a click
}

// allowed refuses a change of status that the state machine does not have.
func allowed(invoice Invoice, to Status) error {
	next := transitions[invoice.Status]
	if invoice.Superseded && to == Open {
		return fault.Field(
			"status",
			"another invoice was issued for its due date; this one stays "+invoice.Status.String(),
		)
	}
	if slices.Contains(next, to) {
		return nil
	}
	return fault.Field(
		"status",
		fmt.Sprintf("an invoice that is %s can only become: %s", invoice.Status, strings.Join(wordsOf(next), ", ")),
	)
}

// errPaidThrough refuses to undo what a gateway reported.
func errPaidThrough(invoice Invoice) error {
	return fault.Field("status", fmt.Sprintf("this invoice was paid through %s and stays %s", invoice.PaidVia, Paid))
}
