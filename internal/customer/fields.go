package customer

import (
	"fmt"
	"strconv"

	"carteira/internal/account"
	"carteira/internal/platform/input"
	"carteira/internal/platform/rows"
)

// field is a field of the record that requests can set. The table below is
// what the columns, the audit log and the list of changed fields are made of;
// of a plain text also the reading of drafts, the pages and exported files.
type field struct {
	name   string              // as requests name it
	column string              // that holds it as it is; "": sql.go writes it
	at     func(*Customer) any // where the record has it
	audit  string              // what the audit log calls it, if not by name
	shown  func(*Customer) any // what the audit log shows, if not the value
	text   *Text               // of a field that is a plain text
}

// Text is a field that is a plain text: it means nothing to the program, which
// stores and shows it as it was given. Its column has its name.
type Text struct {
	Name    string // as requests and records name it
	Label   string // on pages
	Hint    string // below it, in forms
	Heading string // of its column in exported files; an import understands it
	Limit   int    // in characters
	Lines   bool   // it may have several lines

	record func(*Customer) *string
	draft  func(*Draft) *input.Opt[string]
}

// Of is what a customer has in the field.
func (t Text) Of(customer *Customer) string { return *t.record(customer) }

func (t Text) read(in *input.Form, draft *Draft) {
	if t.Lines {
		*t.draft(draft) = in.Text(t.Name, t.Limit)
		return
	}
	*t.draft(draft) = in.Line(t.Name, t.Limit)
}

// plain is the line of the table for a plain text.
func plain(text Text) field {
	return field{
		name:   text.Name,
		column: text.Name,
		at:     func(customer *Customer) any { return text.record(customer) },
		text:   &text,
	}
}

// Texts lists the fields that are plain texts.
func Texts() (list []Text) {
	for _, field := range fields {
		if field.text != nil {
			list = append(list, *field.text)
		}
	}
	return list
}

var texts = Texts()

var fields = []field{
	{name: "name", column: "name", at: func(customer *Customer) any { return &customer.Name }},
	{name: "whatsapp", column: "whatsapp", at: func(customer *Customer) any { return &customer.Whatsapp }},
	{name: "email", column: "email", at: func(customer *Customer) any { return &customer.Email }},
	{name: "usuario", column: "usuario", at: func(customer *Customer) any { return &customer.Usuario }},
	{name: "data_de_vencimento", column: "due_on", at: func(customer *Customer) any { return &customer.DueOn }},
	{
		name: "plan_id", at: func(customer *Customer) any { return &customer.Plan.ID },
		audit: "plan", shown: func(customer *Customer) any { return &customer.Plan.Name },
	},
	{
		name: "product_id", at: func(customer *Customer) any { return &customer.Product.ID },
		audit: "product", shown: func(customer *Customer) any { return &customer.Product.Name },
	},
	plain(Text{
		Name: "notes", Label: "Notes", Heading: "observações", Limit: maxNotes, Lines: true,
		record: func(customer *Customer) *string { return &customer.Notes },
		draft:  func(draft *Draft) *input.Opt[string] { return &draft.Notes },
	}),
	plain(Text{
		Name:    "external_id",
		Label:   "Your own code",
		Hint:    "The customer's key in another system of yours.",
		Heading: "código",
		Limit:   maxName,
		record:  func(customer *Customer) *string { return &customer.ExternalID },
		draft:   func(draft *Draft) *input.Opt[string] { return &draft.ExternalID },
	}),
	{name: "cpf_cnpj", column: "cpf_cnpj", at: func(customer *Customer) any { return &customer.CpfCnpj }},
	{name: "address", column: "address", at: func(customer *Customer) any { return &customer.Address }},
	{name: "price", column: "price_cents", at: func(customer *Customer) any { return &customer.OwnPrice }},
	{name: "custom", column: "custom", at: func(customer *Customer) any { return (*string)(&customer.Custom) }},
	{name: "cancelled", at: func(customer *Customer) any { cancelled := customer.IsCancelled(); return &cancelled }},
	{name: "cancel_reason", column: "cancel_reason", at: func(customer *Customer) any { return &customer.CancelReason }},
}

// changedFields names the fields that differ, as requests name them.
func changedFields(before, after Customer) []string {
	var names []string
	for _, field := range fields {
		if rows.ValueAt(field.at(&before)) != rows.ValueAt(field.at(&after)) {
			names = append(names, field.name)
		}
	}
	return names
}

// auditFields is the record as the audit log shows it.
func auditFields(customer Customer) account.AuditFields {
	shown := make(account.AuditFields, len(fields))
	for _, field := range fields {
		name, place := field.name, field.at
		if field.audit != "" {
			name, place = field.audit, field.shown
		}
		shown[name] = auditText(place(&customer))
	}
	shown[AuditOwnDay] = ""
	if customer.OwnDay != customer.DueOn.Day() && !customer.DueOn.IsZero() {
		shown[AuditOwnDay] = strconv.Itoa(customer.OwnDay)
	}
	return shown
}

// AuditOwnDay is what the audit log calls the day of the month on which a customer is
// due, where a short month moved the due date to another: an undo gives it back.
const AuditOwnDay = "own_day"

func auditText(place any) string {
	if text, ok := place.(*string); ok {
		return *text
	}
	return fmt.Sprint(rows.ValueAt(place))
}

// noAuditFields are those of a customer who does not exist yet. They are never
// changed.
var noAuditFields = auditFields(Customer{})

// stored are the fields that a column holds as they are.
var stored = func() (list rows.Fields[Customer]) {
	for _, field := range fields {
		if field.column != "" {
			list = append(list, rows.Field[Customer]{Column: field.column, At: field.at})
		}
	}
	return list
}()
