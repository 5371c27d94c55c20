package page

import (
	"html/template"
	"strconv"
	"strings"

	"carteira/internal/platform/money"
)

// Markup writes HTML where a template would take most of a page's time: the rows
// of long lists. Raw takes what the program has as a constant, and the compiler
// refuses all else, since no other package can make a text of its type. Every
// value is escaped for where it is, as html/template does it; a test compares
// the two.
type Markup struct{ out []byte }

// constant is HTML that stands in the source.
type constant string

// Raw adds HTML that stands in the source.
func (m *Markup) Raw(html constant) { m.out = append(m.out, html...) }

// Value adds a value in text or in an attribute with double quotes.
func (m *Markup) Value(value string) {
	written := 0
	for i := range len(value) {
		escaped := escapes[value[i]]
		if escaped == "" {
			continue
		}
		m.out = append(m.out, value[written:i]...)
		m.out = append(m.out, escaped...)
		written = i + 1
	}
	m.out = append(m.out, value[written:]...)
}

// escapes are what html/template writes for the characters that it does not
// leave as they are.
var escapes = [256]string{
	0: "\uFFFD", '"': "&#34;", '&': "&amp;", '\'': "&#39;", '+': "&#43;", '<': "&lt;", '>': "&gt;",
}

// Query adds a value of the query of an address, in an attribute with double
// quotes.
func (m *Markup) Query(value string) {
	const hex = "0123456789abcdef"
	for i := range len(value) {
		if at := value[i]; unreserved(at) {
			m.out = append(m.out, at)
		} else {
			m.out = append(m.out, '%', hex[at>>4], hex[at&15])
		}
	}
}

func unreserved(at byte) bool {
	letter := at|0x20 >= 'a' && at|0x20 <= 'z'
	return letter || at >= '0' && at <= '9' || at == '-' || at == '.' || at == '_' || at == '~'
}

// Int adds a number.
func (m *Markup) Int(number int64) { m.out = strconv.AppendInt(m.out, number, 10) }

// Money adds an amount that does not break at the end of a line.
func (m *Markup) Money(cents money.Cents) { m.Value(FormatMoney(cents)) }

// Add adds other markup.
func (m *Markup) Add(other *Markup) { m.out = append(m.out, other.out...) }

// Reset takes back all that was written.
func (m *Markup) Reset() { m.out = m.out[:0] }

// Empty reports whether nothing was written.
func (m *Markup) Empty() bool { return len(m.out) == 0 }

// Icon adds a picture.
func (m *Markup) Icon(name string) {
	picture, err := Icon(name)
	if err != nil {
		panic(err) // of our own files
	}
	m.out = append(m.out, picture...)
}

// HTML is what was written, for a template.
func (m *Markup) HTML() template.HTML {
	return template.HTML(m.out) //nolint:gosec // constants, and values that are escaped
}

// FormatMoney writes an amount that does not break at the end of a line.
func FormatMoney(cents money.Cents) string {
	return strings.Replace(cents.BR(), " ", "\u00a0", 1)
}

// LocalPhone writes a phone number without the country code of Brazil.
func LocalPhone(digits string) string { return strings.TrimPrefix(FormatPhone(digits), "+55 ") }
