package wire

import (
	"net/http"
	"slices"
	"strings"

	"carteira/internal/payment"
	"carteira/internal/platform/fault"
)

// Options reads what a company told of a gateway and collects what is wrong
// with it.
type Options struct {
	Given  map[string]string
	fields fault.Fields
}

// Need is an option that must be given, on one line and without spaces: it
// becomes part of a header.
func (o *Options) Need(name string) string {
	value := o.Opt(name)
	if value == "" && len(o.fields.Get(name)) == 0 {
		o.Refuse(name, "is required")
	}
	return value
}

// Opt is one that may be left out.
func (o *Options) Opt(name string) string {
	value := o.Text(name)
	for _, r := range value {
		if r <= ' ' || r > '~' {
			o.Refuse(name, "must be plain characters without spaces")
			return ""
		}
	}
	return value
}

// Text is one that may be anything.
func (o *Options) Text(name string) string {
	return strings.TrimSpace(o.Given[name])
}

// Choice is one of several; the first when it is left out.
func (o *Options) Choice(name string, choices []string) string {
	value := o.Text(name)
	switch {
	case value == "":
		return choices[0]
	case !slices.Contains(choices, value):
		o.Refuse(name, "must be one of "+strings.Join(choices, ", "))
	}
	return value
}

// Refuse says what is wrong with an option.
func (o *Options) Refuse(name, reason string) { o.fields.Add(name, reason) }

// Err is the fault of all that is wrong, or nil.
func (o *Options) Err() error { return o.fields.Err() }

// Environments are the choices of providers that have a place for trials.
var Environments = []string{"production", "sandbox"}

// Environment is the option that chooses among them.
var Environment = payment.Option{
	Name:    "environment",
	Title:   "Ambiente",
	Choices: Environments,
	Help:    "production (real money, the default) or sandbox (the provider's place for trials, with an account of its own)",
}

// Autopay is the option that turns PIX Automático on, which is off unless a company
// says that its contract has it.
func Autopay(help string) payment.Option {
	return payment.Option{Name: "autopay", Title: "PIX Automático", Choices: []string{"no", "yes"}, Help: help}
}

// Frequencies are how often a debit comes, as providers call it in English.
var Frequencies = map[payment.Every]string{
	payment.EveryWeek:     "WEEKLY",
	payment.EveryMonth:    "MONTHLY",
	payment.EveryQuarter:  "QUARTERLY",
	payment.EveryHalfYear: "SEMIANNUALLY",
	payment.EveryYear:     "ANNUALLY",
}

// Changed tells that a call was turned down because of what the charge has
// become, or may have been: it is worth looking at it again.
func Changed(err error) bool {
	switch Status(err) {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusConflict,
		http.StatusGone, http.StatusUnprocessableEntity:
		return true
	}
	return false
}
