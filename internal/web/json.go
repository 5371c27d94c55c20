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
