package input

import (
	"encoding/json"
	"fmt"
	"net/mail"
	"slices"
	"strconv"
	"strings"
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
		s, ok := plain(v)
		switch {
		case !ok:
			return "", "must be a text"
		case !utf8.ValidString(s):
			return "", "must be valid UTF-8"
		case strings.ContainsFunc(s, forbidden):
			return "", "must not contain control characters"
		case utf8.RuneCountInString(s) > limit:
			return "", fmt.Sprintf("must have at most %d characters", limit)
		}
		return s, ""
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

// Unread is a number that the rules refuse. The record may have it all the
// same, since before the rules were made: what was read can be sent back.
type Unread struct {
	Digits string
	Reason string // why it is refused; "": it is not
}

// StoredPhone is Phone for a record that may have a number from before the
// rules. What they refuse is left to the use case, which knows what is stored.
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
		n, err := strconv.ParseInt(s, 10, 64)
		switch {
		case !ok || err != nil:
			return 0, "must be a whole number"
		case n < low || n > high:
			return 0, fmt.Sprintf("must be between %d and %d", low, high)
		}
		return n, ""
	})
}

// ID reads the id of another record; 0 stands for none.
func (f *Form) ID(name string) Opt[int64] {
	return check(f, name, func(v any) (int64, string) {
		s, ok := plain(v)
		n, err := strconv.ParseInt(s, 10, 64)
		if !ok || err != nil || n <= 0 {
			return 0, "must be the id of a record, a positive whole number"
		}
		return n, ""
	})
}

// Bool reads true or false, also as 1, 0 and in quotes.
func (f *Form) Bool(name string) Opt[bool] {
	return check(f, name, func(v any) (bool, string) {
		if b, ok := v.(bool); ok {
			return b, ""
		}
		s, _ := plain(v)
		switch strings.ToLower(s) {
		case "true", "1":
			return true, ""
		case "false", "0":
			return false, ""
		}
		return false, "must be true or false"
	})
}

// Date reads YYYY-MM-DD; the zero Date stands for none.
func (f *Form) Date(name string) Opt[civil.Date] {
	return check(f, name, func(v any) (civil.Date, string) {
		s, _ := v.(string)
		d, err := civil.Parse(s)
		if err != nil {
			return d, "must be a date in the form YYYY-MM-DD"
		}
		return d, ""
	})
}

// Money reads an amount such as "35.00", as text or number.
func (f *Form) Money(name string) Opt[money.Cents] {
	return check(f, name, func(v any) (money.Cents, string) {
		s, ok := plain(v)
		if !ok {
			return 0, "must be an amount such as 35.00"
		}
		c, err := money.Parse(s)
		if err != nil {
			return 0, err.Error()
		}
		return c, ""
	})
}

// Percent reads a percentage such as "2.50", as text or number.
func (f *Form) Percent(name string) Opt[money.Percent] {
	return check(f, name, func(v any) (money.Percent, string) {
		s, ok := plain(v)
		if !ok {
			return 0, money.ErrPercentSyntax.Error()
		}
		p, err := money.ParsePercent(s)
		if err != nil {
			return 0, err.Error()
		}
		return p, ""
	})
}

// Choice reads one of the allowed words, without regard to case, with an
// underscore as good as a space.
func (f *Form) Choice(name string, allowed ...string) Opt[string] {
	return check(f, name, func(v any) (string, string) {
		s, _ := v.(string)
		s = strings.ToLower(strings.ReplaceAll(s, "_", " "))
		i := slices.IndexFunc(allowed, func(a string) bool {
			return strings.ToLower(strings.ReplaceAll(a, "_", " ")) == s
		})
		if i < 0 {
			return "", "must be one of: " + strings.Join(allowed, ", ")
		}
		return allowed[i], ""
	})
}

// List reads a list of texts; one text is a list of one.
func (f *Form) List(name string) Opt[[]string] {
	return check(f, name, func(v any) ([]string, string) {
		if s, ok := plain(v); ok {
			return []string{s}, ""
		}
		items, ok := v.([]any)
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
// page's form, it is made of the values whose names begin with name and a dot,
// or of the lines of one text, each "name: text".
func (f *Form) Texts(name string) Opt[map[string]string] {
	if f.lenient {
		if parts := f.parts(name); parts.Given() {
			return parts
		}
	}
	return check(f, name, func(v any) (map[string]string, string) {
		if s, ok := v.(string); ok && f.lenient {
			return textLines(s)
		}
		object, ok := v.(map[string]any)
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
	for key, v := range f.values {
		if part, ok := strings.CutPrefix(key, name+"."); ok {
			s, _ := v.(string)
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
func check[T any](f *Form, name string, parse func(any) (T, string)) Opt[T] {
	v, given := f.take(name)
	switch {
	case !given:
		return Opt[T]{}
	case v == nil:
		return Null[T]()
	}
	out, reason := parse(v)
	if reason != "" {
		f.Refuse(name, reason)
		return Opt[T]{}
	}
	return Some(out)
}

func plain(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case json.Number:
		return v.String(), true
	}
	return "", false
}

func clean(s string) string { return strings.TrimSpace(s) }

func forbidden(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t' }

func isEmail(s string) bool {
	a, err := mail.ParseAddress(s)
	if err != nil || a.Address != s {
		return false
	}
	_, domain, _ := strings.Cut(s, "@")
	name, tld, dotted := cutLast(domain, ".")
	return dotted && name != "" && utf8.RuneCountInString(tld) > 1 && !strings.ContainsAny(s, " \"<>[]")
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}
