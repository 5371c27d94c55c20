package page

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/web"
)

// Form is what a form shows: values, kept when they were refused, and the
// reasons next to their fields.
type Form struct {
	values map[string][]string
	faults fault.Fields
	shown  map[string]bool
	led    bool // the reader has been led to a field that is wrong
	notice string
}

// NewForm makes a form that shows names and values in turn.
func NewForm(pairs ...string) *Form {
	form := &Form{values: map[string][]string{}, shown: map[string]bool{}}
	for i := 0; i+1 < len(pairs); i += 2 {
		form.values[pairs[i]] = append(form.values[pairs[i]], pairs[i+1])
	}
	return form
}

// Set has a field show a value.
func (f *Form) Set(name, value string) { f.values[name] = []string{value} }

// Add has a field of several values show one more.
func (f *Form) Add(name, value string) { f.values[name] = append(f.values[name], value) }

// Sent is the form as it came, with why it was refused.
func Sent(r *http.Request, err error) *Form {
	form := NewForm()
	maps.Copy(form.values, r.PostForm)
	form.Fail(err)
	return form
}

// Fail adds the reasons of a refusal.
func (f *Form) Fail(err error) {
	if err == nil {
		return
	}
	f.faults = fault.FieldsOf(err)
	f.notice = fault.Public(web.Explain(err))
	if !f.faults.Empty() {
		f.notice = "Nothing was saved. Please correct what is marked below."
	}
}

// Value is what a field shows: the last that was sent, since a checkbox is
// sent after the hidden field that means unchecked.
func (f *Form) Value(name string) string {
	if all := f.values[name]; len(all) > 0 {
		return all[len(all)-1]
	}
	return ""
}

// Has reports whether a field of several values has this one.
func (f *Form) Has(name, value string) bool {
	return slices.Contains(f.values[name], value)
}

// Notice is what is said above the form: "" when nothing is wrong.
func (f *Form) Notice() string { return f.notice }

// Errors returns the reasons against a field, and marks them as shown.
func (f *Form) Errors(name string) []string {
	f.shown[name] = true
	return f.faults.Get(name)
}

// leads reports whether a field has the cursor when the page opens: the first that
// is wrong, else the one that the page wants.
func (f *Form) leads(field *Field) bool {
	if f.faults.Empty() {
		return field.Autofocus
	}
	first := len(field.Errors) > 0 && !f.led
	f.led = f.led || first
	return first
}

// Rest are the reasons against fields that the form did not show, for its end.
func (f *Form) Rest() []string {
	var rest []string
	for name, reasons := range f.faults.All() {
		if !f.shown[name] {
			rest = append(rest, reasons...)
		}
	}
	return rest
}

// Option is a choice of a field.
type Option struct{ Value, Label string }

// Field is what the partials field and check show.
type Field struct {
	ID, Name, Label, Hint, Type, Value                      string
	Placeholder, Autocomplete, InputMode, Min, Max, Pattern string
	Mask                                                    string // how a script writes it: phone, taxid, cep, digits, account or money
	Rows                                                    int
	Required, Autofocus, Readonly, Secret                   bool
	Options                                                 []Option
	Errors                                                  []string
	Lang                                                    Lang
}

// Describes lists the ids of what is said about the field.
func (f Field) Describes() string {
	text := ""
	if f.Hint != "" {
		text = f.ID + "-hint"
	}
	if len(f.Errors) > 0 {
		text += " " + f.ID + "-error"
	}
	return text
}

func newField(lang Lang, form *Form, name, label string, kv []any) (Field, error) {
	field := Field{
		ID: "f-" + name, Name: name, Label: label, Type: "text", Value: form.Value(name), Errors: form.Errors(name),
		Lang: lang,
	}
	options, err := dict(kv...)
	if err != nil {
		return field, err
	}
	texts := map[string]*string{
		"id": &field.ID, "hint": &field.Hint, "type": &field.Type, "value": &field.Value,
		"placeholder":  &field.Placeholder,
		"autocomplete": &field.Autocomplete, "inputmode": &field.InputMode, "min": &field.Min,
		"max": &field.Max, "pattern": &field.Pattern, "mask": &field.Mask,
	}
	flags := map[string]*bool{"required": &field.Required, "autofocus": &field.Autofocus, "readonly": &field.Readonly}
	for name, option := range options {
		switch value := option.(type) {
		case string:
			if texts[name] == nil {
				return field, fmt.Errorf("field %s: no option %s", field.Name, name)
			}
			*texts[name] = value
		case bool:
			if flags[name] == nil {
				return field, fmt.Errorf("field %s: no option %s", field.Name, name)
			}
			*flags[name] = value
		case int:
			field.Rows = value
		case []Option:
			field.Options = value
		default:
			return field, fmt.Errorf("field %s: option %s is a %T", field.Name, name, value)
		}
	}
	if field.Type == "password" || field.Autocomplete == "one-time-code" { // never sent back
		field.Value = ""
	}
	field.Autofocus = form.leads(&field)
	return field, nil
}

// Pager is the position of a page in a list, with the addresses of its
// neighbours.
type Pager struct {
	Total, Number, Last, From, To int64
	Prev, Next                    string // "": there is none
}

// At is the number in the whole list of the record at a place of the page.
func (p Pager) At(place int) int64 { return p.From + int64(place) }

// Shown is how many records the page has.
func (p Pager) Shown() int64 { return p.To - p.From + 1 }

// NewPager makes the pager of a list at an address.
func NewPager(address *url.URL, page input.Page, total int64) Pager {
	pager := Pager{
		Total: total, Number: page.Number, Last: page.Last(total), From: page.Offset() + 1,
		To: min(page.Offset()+page.Size, total),
	}
	if page.Number > 1 {
		pager.Prev = pageURL(address, min(page.Number-1, pager.Last))
	}
	if page.Number < pager.Last {
		pager.Next = pageURL(address, page.Number+1)
	}
	return pager
}

// Beyond reports whether the list has more records than the page.
func (p Pager) Beyond() bool { return p.Total > p.Shown() }

func pageURL(address *url.URL, number int64) string {
	values := address.Query()
	values.Set("page", strconv.FormatInt(number, 10))
	return address.Path + "?" + values.Encode()
}

// Confirm is what the page confirm asks before something that cannot be taken
// back. The same page opens as a dialog where there are scripts.
type Confirm struct {
	Question string   // in English, shown translated, with Args
	Args     []any    // of Question
	Effects  []string // what will happen, in English
	Action   string   // where the form is sent
	Button   string   // in English
	Back     string   // where Cancel leads
	Danger   bool
	Box      string            // the name of a box that can be ticked; empty: there is none
	BoxLabel string            // in English
	Hidden   map[string]string // what is sent along
}
