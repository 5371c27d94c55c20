package web

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"carteira/internal/platform/civil"
	"carteira/internal/platform/money"
)

// JSON makes Data of a value that encoding/json can encode, for answers that
// are not on a hot path.
func JSON(v any) Data {
	return func(buf []byte) []byte {
		encoded, err := json.Marshal(v)
		if err != nil {
			panic(err) // a record type of ours that cannot be encoded is a bug
		}
		return append(buf, encoded...)
	}
}

const hexDigits = "0123456789abcdef"

// plain are the bytes that stand for themselves in a JSON string of
// encoding/json.
var plain = func() (table [256]bool) {
	for c := range utf8.RuneSelf {
		table[c] = c >= 0x20 && !strings.ContainsRune(`"\<>&`, rune(c))
	}
	return table
}()

// AppendString appends a JSON string, byte for byte as encoding/json would.
func AppendString(buf []byte, text string) []byte {
	buf = append(buf, '"')
	start := 0
	for i := 0; i < len(text); {
		for i < len(text) && plain[text[i]] {
			i++
		}
		if i == len(text) {
			break
		}
		if c := text[i]; c < utf8.RuneSelf {
			buf = append(buf, text[start:i]...)
			buf = appendEscaped(buf, c)
			i++
			start = i
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			buf = append(append(buf, text[start:i]...), `\ufffd`...)
			start = i + size
		case r == '\u2028' || r == '\u2029':
			buf = append(append(buf, text[start:i]...), `\u202`...)
			buf = append(buf, hexDigits[r&0xf])
			start = i + size
		}
		i += size
	}
	return append(append(buf, text[start:]...), '"')
}

func appendEscaped(buf []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(buf, '\\', c)
	case '\n':
		return append(buf, '\\', 'n')
	case '\r':
		return append(buf, '\\', 'r')
	case '\t':
		return append(buf, '\\', 't')
	case '\b':
		return append(buf, '\\', 'b')
	case '\f':
		return append(buf, '\\', 'f')
	}
	return append(buf, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&0xf])
}

// AppendText appends a JSON string, or null when there is none.
func AppendText(buf []byte, text string) []byte {
	if text == "" {
		return append(buf, "null"...)
	}
	return AppendString(buf, text)
}

// AppendDate appends "YYYY-MM-DD", or null when there is none.
func AppendDate(buf []byte, day civil.Date) []byte {
	if day.IsZero() {
		return append(buf, "null"...)
	}
	return append(day.Append(append(buf, '"')), '"')
}

// AppendTime appends a date-time in the company's zone, or null when there is
// none.
func AppendTime(buf []byte, at time.Time, zone *time.Location) []byte {
	if at.IsZero() {
		return append(buf, "null"...)
	}
	return append(civil.AppendTimestamp(append(buf, '"'), at, zone), '"')
}

// Object writes the fields of a JSON object straight into the answer, without
// reflection or allocation: it puts braces, commas and names, so that the
// code of a record only names fields and values. It writes what encoding/json
// would. Names are not escaped: they are the program's own.
type Object struct{ b []byte }

// AppendObject appends an object with the fields that write writes.
func AppendObject(b []byte, write func(*Object)) []byte {
	object := Object{append(b, '{')}
	write(&object)
	return append(object.b, '}')
}

// One makes Data of one object.
func One(write func(*Object)) Data {
	return func(b []byte) []byte { return AppendObject(b, write) }
}

// List makes Data of records with the function that writes the fields of one.
func List[T any](records []T, write func(*Object, *T)) Data {
	return func(b []byte) []byte {
		object := Object{b}
		appendList(&object, records, write)
		return object.b
	}
}

func appendList[T any](object *Object, records []T, write func(*Object, *T)) {
	object.b = append(object.b, '[')
	for i := range records {
		if i > 0 {
			object.b = append(object.b, ',')
		}
		object.b = append(object.b, '{')
		write(object, &records[i])
		object.b = append(object.b, '}')
	}
	object.b = append(object.b, ']')
}

// name begins a field.
func (o *Object) name(name string) []byte {
	b := o.b
	if b[len(b)-1] == '{' {
		b = append(b, '"')
	} else {
		b = append(b, ',', '"')
	}
	return append(append(b, name...), '"', ':')
}

// String writes a text, which may be empty.
func (o *Object) String(name, value string) {
	o.b = AppendString(o.name(name), value)
}

// Text writes a text, or null when there is none.
func (o *Object) Text(name, value string) {
	o.b = AppendText(o.name(name), value)
}

// Int writes a whole number.
func (o *Object) Int(name string, n int64) {
	o.b = strconv.AppendInt(o.name(name), n, 10)
}

// Bool writes true or false.
func (o *Object) Bool(name string, v bool) {
	o.b = strconv.AppendBool(o.name(name), v)
}

// Money writes an amount as a text with two decimals.
func (o *Object) Money(name string, amount money.Cents) {
	o.b = append(amount.Append(append(o.name(name), '"')), '"')
}

// Date writes "YYYY-MM-DD", or null when there is none.
func (o *Object) Date(name string, day civil.Date) {
	o.b = AppendDate(o.name(name), day)
}

// Time writes a date-time in the company's zone, or null when there is none.
func (o *Object) Time(name string, at time.Time, zone *time.Location) {
	o.b = AppendTime(o.name(name), at, zone)
}

// Null writes null.
func (o *Object) Null(name string) { o.b = append(o.name(name), "null"...) }

// Object writes an object in a field.
func (o *Object) Object(name string, write func(*Object)) {
	o.b = append(o.name(name), '{')
	write(o)
	o.b = append(o.b, '}')
}

// Data writes what makes a value by itself; null when there is none.
func (o *Object) Data(name string, value Data) {
	if value == nil {
		o.Null(name)
		return
	}
	o.b = value(o.name(name))
}

// Objects writes a list of objects in a field of o.
func Objects[T any](object *Object, name string, records []T, write func(*Object, *T)) {
	object.b = object.name(name)
	appendList(object, records, write)
}
