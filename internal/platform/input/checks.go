package input

import (
	"encoding/json"
	"fmt"
	"net/mail"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"carteira/internal/platform/civil"
	"carteira/internal/platform/money"
	"carteira/internal/platform/phone"
	"carteira/internal/platform/text"
)

// Each check returns the field: not given when it is absent, and when it is
// wrong, which the Form remembers; null when it is null or empty.

// Text reads up to limit characters on one or several lines. A number is
// taken as its digits, since automation platforms send phones and keys so.
func (f *Form) Text(name string, limit int) Opt[string] {
	return check(f, name, func(v any) (string, string) {
		value, ok := plain(v)
		switch {
		case !ok:
			return "", "must be a text"
		case !utf8.ValidString(value):
			return "", "must be valid UTF-8"
		case strings.ContainsFunc(value, forbidden):
			return "", "must not contain control characters"
		case utf8.RuneCountInString(value) > limit:
			return "", fmt.Sprintf("must have at most %d characters", limit)
		}
		return value, ""
	})
}

// Line is Text without line breaks.
func (f *Form) Line(name string, limit int) Opt[string] {
	line := f.Text(name, limit)
	if strings.ContainsAny(line.Value, "\n\r\t") {
		f.Refuse(name, "must be on one line")
		return Opt[string]{}
	}
	return line
}

// Email reads an address such as ana@example.com.
func (f *Form) Email(name string) Opt[string] {
	address := f.Line(name, 254)
	if address.HasValue() && !isEmail(address.Value) {
		f.Refuse(name, "must be a valid e-mail address")
		return Opt[string]{}
	}
	return address
}

// Phone reads a phone number however it is punctuated and returns its digits
// with the country code; package phone has the rules.
func (f *Form) Phone(name string) Opt[string] {
	number, unread := f.StoredPhone(name)
	if unread.Reason != "" {
		f.Refuse(name, unread.Reason)
	}
	return number
}

// Unread is a number that the rules refuse. A record may have it all the same: what was
// read can be sent back.
type Unread struct {
	Digits string
	Reason string // why it is refused; "": it is not
}

// StoredPhone is Phone for a record that may have the number already: a foreign one is
// answered without its plus, and refused by the rules of Brazil. That is left to the use
// case, which knows what is stored.
func (f *Form) StoredPhone(name string) (Opt[string], Unread) {
	line := f.Line(name, 40)
	if !line.HasValue() {
		return line, Unread{}
	}
	digits, err := phone.Parse(line.Value)
	if err != nil {
		return Opt[string]{}, Unread{text.Digits(line.Value), err.Error()}
	}
	return Some(digits), Unread{}
}

// Int reads a whole number from low to high, as a number or in quotes.
func (f *Form) Int(name string, low, high int64) Opt[int64] {
	return check(f, name, func(v any) (int64, string) {
		s, ok := plain(v)
		number, err := strconv.ParseInt(s, 10, 64)
		switch {
		case !ok || err != nil:
			return 0, "must be a whole number"
		case number < low || number > high:
			return 0, fmt.Sprintf("must be between %d and %d", low, high)
		}
		return number, ""
	})
}

// ID reads the id of another record; 0 means none.
func (f *Form) ID(name string) Opt[int64] {
	return check(f, name, func(v any) (int64, string) {
		s, ok := plain(v)
		number, err := strconv.ParseInt(s, 10, 64)
		if !ok || err != nil || number <= 0 {
			return 0, "must be the id of a record, a positive whole number"
		}
		return number, ""
	})
}

// Bool reads true or false, also as 1, 0 and in quotes.
func (f *Form) Bool(name string) Opt[bool] {
	return check(f, name, func(value any) (bool, string) {
		if b, ok := value.(bool); ok {
			return b, ""
		}
		s, _ := plain(value)
		switch strings.ToLower(s) {
		case "true", "1":
			return true, ""
		case "false", "0":
			return false, ""
		}
		return false, "must be true or false"
	})
}

// Date reads YYYY-MM-DD; the zero Date means none.
func (f *Form) Date(name string) Opt[civil.Date] {
	return check(f, name, func(v any) (civil.Date, string) {
		s, _ := v.(string)
		day, err := civil.Parse(s)
		if err != nil {
			return day, "must be a date in the form YYYY-MM-DD"
		}
		return day, ""
	})
}

// Day is Date that reads a date-time too, of which it takes the day as it is
// written: the time of a record can be sent back.
func (f *Form) Day(name string) Opt[civil.Date] {
	if text, _ := f.values[name].(string); len(text) > len(time.DateOnly) {
		if _, err := time.Parse(time.RFC3339, text); err == nil {
			f.values[name] = text[:len(time.DateOnly)]
		}
	}
	return f.Date(name)
}

// Moment reads an RFC 3339 date-time, or a date, which is the beginning of that
// day in the zone. A plus sign that a query string turned into a space is read
// as the plus that it was.
func (f *Form) Moment(name string, zone *time.Location) Opt[time.Time] {
	return check(f, name, func(v any) (time.Time, string) {
		s, _ := v.(string)
		if day, err := civil.Parse(s); err == nil {
			return day.Start(zone), ""
		}
		at, err := time.Parse(time.RFC3339, strings.Replace(s, " ", "+", 1))
		if err != nil || at.Year() < 1900 || at.Year() > 9999 {
			return at, "must be a date-time such as 2026-01-31T09:00:00-03:00, or a date in the form YYYY-MM-DD"
		}
		return at, ""
	})
}

// Money reads an amount such as "35.00", as text or number.
func (f *Form) Money(name string) Opt[money.Cents] {
	return check(f, name, func(v any) (money.Cents, string) {
		value, ok := plain(v)
		if !ok {
			return 0, "must be an amount such as 35.00"
		}
		amount, err := money.Parse(value)
		if err != nil {
			return 0, err.Error()
		}
		return amount, ""
	})
}

// Percent reads a percentage such as "2.50", as text or number.
func (f *Form) Percent(name string) Opt[money.Percent] {
	return check(f, name, func(v any) (money.Percent, string) {
		value, ok := plain(v)
		if !ok {
			return 0, money.ErrPercentSyntax.Error()
		}
		percent, err := money.ParsePercent(value)
		if err != nil {
			return 0, err.Error()
		}
		return percent, ""
	})
}

// Choice reads one of the allowed words, without regard to case, with an
// underscore as good as a space.
func (f *Form) Choice(name string, allowed ...string) Opt[string] {
	return check(f, name, func(v any) (string, string) {
		value, _ := v.(string)
		value = strings.ToLower(strings.ReplaceAll(value, "_", " "))
		i := slices.IndexFunc(allowed, func(a string) bool {
			return strings.ToLower(strings.ReplaceAll(a, "_", " ")) == value
		})
		if i < 0 {
			return "", "must be one of: " + strings.Join(allowed, ", ")
		}
		return allowed[i], ""
	})
}

// OneOf is Choice for words of a type of their own.
func OneOf[T ~string](f *Form, name string, allowed ...T) Opt[T] {
	words := make([]string, len(allowed))
	for n, word := range allowed {
		words[n] = string(word)
	}
	chosen := f.Choice(name, words...)
	return Opt[T]{Value: T(chosen.Value), state: chosen.state}
}

// List reads a list of texts; one text is a list of one.
func (f *Form) List(name string) Opt[[]string] {
	return check(f, name, func(value any) ([]string, string) {
		if s, ok := plain(value); ok {
			return []string{s}, ""
		}
		items, ok := value.([]any)
		if !ok {
			return nil, "must be a list of texts"
		}
		list := make([]string, 0, len(items))
		for _, item := range items {
			s, ok := plain(item)
			if !ok {
				return nil, "must be a list of texts"
			}
			list = append(list, clean(s))
		}
		return list, ""
	})
}

// Texts reads an object of texts. Where there are no objects, in a file or a
// page's form, it is made of the values with names that begin with name and a
// dot, or of the lines of one text, each "name: text".
func (f *Form) Texts(name string) Opt[map[string]string] {
	if f.lenient {
		if parts := f.parts(name); parts.Given() {
			return parts
		}
	}
	return check(f, name, func(value any) (map[string]string, string) {
		if s, ok := value.(string); ok && f.lenient {
			return textLines(s)
		}
		object, ok := value.(map[string]any)
		if !ok {
			return nil, "must be an object of texts"
		}
		texts := make(map[string]string, len(object))
		for key, item := range object {
			s, ok := plain(item)
			if !ok && item != nil {
				return nil, "must be an object of texts"
			}
			texts[clean(key)] = clean(s)
		}
		return texts, ""
	})
}

// parts gathers the values name.x; all of them empty is null.
func (f *Form) parts(name string) Opt[map[string]string] {
	texts, empty := map[string]string{}, true
	for key, value := range f.values {
		if part, ok := strings.CutPrefix(key, name+"."); ok {
			s, _ := value.(string)
			texts[part] = clean(s)
			empty = empty && texts[part] == ""
		}
	}
	switch {
	case len(texts) == 0:
		return Opt[map[string]string]{}
	case empty:
		return Null[map[string]string]()
	}
	return Some(texts)
}

func textLines(s string) (map[string]string, string) {
	texts := map[string]string{}
	for line := range strings.Lines(s) {
		if line = clean(line); line == "" {
			continue
		}
		key, text, ok := strings.Cut(line, ":")
		if !ok {
			return nil, "must have one field per line, as in MAC: 00-1A-2B-3C-4D-5E"
		}
		texts[clean(key)] = clean(text)
	}
	return texts, ""
}

// check runs parse on a value that is there. parse returns a reason when it
// refuses the value.
func check[T any](form *Form, name string, parse func(any) (T, string)) Opt[T] {
	value, given := form.take(name)
	switch {
	case !given:
		return Opt[T]{}
	case value == nil:
		return Null[T]()
	}
	out, reason := parse(value)
	if reason != "" {
		form.Refuse(name, reason)
		return Opt[T]{}
	}
	return Some(out)
}

func plain(v any) (string, bool) {
	switch value := v.(type) {
	case string:
		return value, true
	case json.Number:
		return value.String(), true
	}
	return "", false
}

func clean(s string) string { return strings.TrimSpace(s) }

func forbidden(r rune) bool {
	return unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t'
}

func isEmail(value string) bool {
	address, err := mail.ParseAddress(value)
	if err != nil || address.Address != value {
		return false
	}
	_, domain, _ := strings.Cut(value, "@")
	name, tld, dotted := cutLast(domain, ".")
	return dotted &&
		name != "" &&
		utf8.RuneCountInString(tld) > 1 &&
		!strings.ContainsAny(value, " \"<>[]")
}

func cutLast(value, sep string) (before, after string, found bool) {
	i := strings.LastIndex(value, sep)
	if i < 0 {
		return value, "", false
	}
	return value[:i], value[i+len(sep):], true
}
