package billing

import (
	"fmt"
	"slices"
	"strings"

	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
)

// Status is how an invoice stands, as records show it.
type Status string

// The statuses.
const (
	Open      Status = "Em aberto"
	Paid      Status = "Pago"
	Cancelled Status = "Cancelado"
)

// readStatus reads the status that a form names; none when it names none, or
// something else, which the form remembers.
func readStatus(in *input.Form) Status {
	return Status(in.Choice("status", string(Open), string(Paid), string(Cancelled)).Value)
}

// transitions is the state machine of an invoice.
var transitions = map[Status][]Status{
	Open:      {Paid, Cancelled},
	Cancelled: {Open},
	Paid:      {Open}, // when a person marked it as paid: money that came through a gateway does not go back by a click
}

// allowed refuses a change of status that the state machine does not have.
func allowed(i Invoice, to Status) error {
	next := transitions[i.Status]
	if i.Status == Paid && i.PaidVia != Manual {
		return fault.Field("status", fmt.Sprintf("this invoice was paid through %s and stays %s", i.PaidVia, Paid))
	}
	if slices.Contains(next, to) {
		return nil
	}
	names := make([]string, len(next))
	for n, status := range next {
		names[n] = string(status)
	}
	return fault.Field("status", fmt.Sprintf("an invoice that is %s can only become: %s", i.Status, strings.Join(names, ", ")))
}
