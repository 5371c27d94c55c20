package reminder

import (
	"fmt"
	"strings"
	"unicode"

	"carteira/internal/customer"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/money"
	"carteira/internal/platform/text"
)

// Variable is what a template may ask for.
type Variable struct {
	Name   string // in braces: {name}
	Local  string // the same in Portuguese: {nome}
	Sample string
	fill   func(filling) string
	Help   string
}

// pays reports whether it is made of an open invoice, through a gateway.
func (v Variable) pays() bool { return v.Name == paymentLink || v.Name == pixCode }

// Variables lists them.
var Variables = []Variable{
	{"name", "nome", "Ana Souza", func(f filling) string { return f.customer.Name }, "the customer's name"},
	{
		"first_name", "primeiro_nome", "Ana", func(f filling) string { return firstWord(f.customer.Name) },
		"the first word of it",
	},
	{"plan", "plano", "Mensal", func(f filling) string { return f.customer.Plan.Name }, "the plan's name"},
	{
		"value", "valor", "R$ 35,00", func(f filling) string { return f.amount.BR() },
		"what is to pay on the day of the message, or was paid; without an invoice, the customer's price",
	},
	{
		"original_value", "valor_original", "R$ 35,00", func(f filling) string { return f.face.BR() },
		"the invoice's amount, before late charges and discount",
	},
	{
		"late_charges", "encargos", "R$ 0,82", func(f filling) string { return f.charges.BR() },
		"late fee and interest that are part of what is to pay",
	},
	{
		"discount", "desconto", "R$ 1,75", func(f filling) string { return f.discount.BR() },
		"the discount until the due date that is taken off what is to pay",
	},
	{"due_date", "vencimento", "31/01/2027", func(f filling) string { return f.dueOn.BR() }, "the due date"},
	{"login", "usuario", "ana.souza", func(f filling) string { return f.customer.Usuario }, "the customer's login"},
	{"company", "empresa", "Ana Internet", func(f filling) string { return f.company }, "the company's name"},
	{
		"payment_link", "link_pagamento", "https://example.com/pay/abc", func(f filling) string { return f.link },
		"the page where the invoice is paid; once it is, its receipt",
	},
	{"pix_code", "pix", "00020126…6304ABCD", func(f filling) string { return f.pix }, "the PIX code to copy and paste"},
}

const (
	paymentLink = "payment_link"
	pixCode     = "pix_code"
)

// filling is what variables are filled with.
type filling struct {
	customer customer.Customer
	company  string
	dueOn    civil.Date
	amount   money.Cents // to pay
	face     money.Cents // before late charges and discount
	charges  money.Cents
	discount money.Cents
	link     string
	pix      string
}

func firstWord(name string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(name), " ")
	return first
}

// part is a piece of a parsed text: words, or a variable.
type part struct {
	words    string
	variable *Variable
}

// parseText takes a text apart. {{ and }} mean braces. Its refusals are worded
// for display next to a field.
func parseText(s string) (parts []part, err error) {
	var words strings.Builder
	for rest := s; rest != ""; {
		i := strings.IndexAny(rest, "{}")
		if i < 0 {
			words.WriteString(rest)
			break
		}
		words.WriteString(rest[:i])
		brace := rest[i : i+1]
		rest = rest[i+1:]
		if strings.HasPrefix(rest, brace) {
			words.WriteString(brace)
			rest = rest[1:]
			continue
		}
		name, after, closed := strings.Cut(rest, "}")
		if brace == "}" || !closed {
			return nil, fmt.Errorf("has a %s that belongs to no variable; write %s%s for the character itself", brace,
				brace, brace)
		}
		variable, err := variableOf(name)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part{words: words.String()}, part{variable: variable})
		words.Reset()
		rest = after
	}
	return append(parts, part{words: words.String()}), nil
}

func variableOf(name string) (*Variable, error) {
	name = strings.TrimSpace(name)
	var known []string
	for i := range Variables {
		variable := &Variables[i]
		if name == variable.Name || name == variable.Local {
			return variable, nil
		}
		known = append(known, variable.Name, variable.Local)
	}
	if near := text.Near(name, known); near != "" {
		return nil, fmt.Errorf("{%s} is no variable; did you mean {%s}?", clip(name, 40), near)
	}
	var names []string
	for _, variable := range Variables {
		names = append(names, "{"+variable.Name+"}")
	}
	return nil, fmt.Errorf("{%s} is no variable; there are %s", clip(name, 40), strings.Join(names, ", "))
}

// clip shortens s to n characters.
func clip(value string, n int) string {
	if runes := []rune(value); len(runes) > n {
		return string(runes[:n-1]) + "…"
	}
	return value
}

// render fills a text that parseText has accepted when it was saved. What
// cannot be read any more is left unchanged.
func render(value string, filling filling) string {
	parts, err := parseText(value)
	if err != nil {
		return value
	}
	var out strings.Builder
	for _, part := range parts {
		out.WriteString(part.words)
		if part.variable != nil {
			out.WriteString(part.variable.fill(filling))
		}
	}
	return out.String()
}

// oneLine is a text without line breaks and long gaps, which Meta takes in no
// parameter and mail in no subject.
func oneLine(s string) string {
	return strings.Join(
		strings.FieldsFunc(s, func(r rune) bool {
			return unicode.IsSpace(r) || unicode.IsControl(r)
		}),
		" ",
	)
}

// asks returns which variables in the texts need a payment.
func asks(texts ...string) (link, pix bool) {
	for _, value := range texts {
		parts, _ := parseText(value)
		for _, part := range parts {
			link = link || part.variable != nil && part.variable.Name == paymentLink
			pix = pix || part.variable != nil && part.variable.Name == pixCode
		}
	}
	return link, pix
}
