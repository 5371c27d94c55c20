package web

import (
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"

	"carteira/internal/platform/civil"
)

// JSON makes Data of a value that encoding/json can encode, for answers that
// are not on a hot path.
func JSON(v any) Data {
	return func(b []byte) []byte {
		encoded, err := json.Marshal(v)
		if err != nil {
			panic(err) // a record type of ours that cannot be encoded is a bug
		}
		return append(b, encoded...)
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
func AppendString(b []byte, s string) []byte {
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); {
		for i < len(s) && plain[s[i]] {
			i++
		}
		if i == len(s) {
			break
		}
		if c := s[i]; c < utf8.RuneSelf {
			b = append(b, s[start:i]...)
			b = appendEscaped(b, c)
			i++
			start = i
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			b = append(append(b, s[start:i]...), `\ufffd`...)
			start = i + size
		case r == '\u2028' || r == '\u2029':
			b = append(append(b, s[start:i]...), `\u202`...)
			b = append(b, hexDigits[r&0xf])
			start = i + size
		}
		i += size
	}
	return append(append(b, s[start:]...), '"')
}

func appendEscaped(b []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(b, '\\', c)
	case '\n':
		return append(b, '\\', 'n')
	case '\r':
		return append(b, '\\', 'r')
	case '\t':
		return append(b, '\\', 't')
	case '\b':
		return append(b, '\\', 'b')
	case '\f':
		return append(b, '\\', 'f')
	}
	return append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&0xf])
}

// AppendText appends a JSON string, or null when there is none.
func AppendText(b []byte, s string) []byte {
	if s == "" {
		return append(b, "null"...)
	}
	return AppendString(b, s)
}

// AppendDate appends "YYYY-MM-DD", or null when there is none.
func AppendDate(b []byte, d civil.Date) []byte {
	if d.IsZero() {
		return append(b, "null"...)
	}
	return append(d.Append(append(b, '"')), '"')
}

// AppendTime appends a date-time in the company's zone, or null when there is
// none.
func AppendTime(b []byte, t time.Time, zone *time.Location) []byte {
	if t.IsZero() {
		return append(b, "null"...)
	}
	return append(civil.AppendTimestamp(append(b, '"'), t, zone), '"')
}
