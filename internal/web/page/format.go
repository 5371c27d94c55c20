package page

import (
	"fmt"
	"html/template"
	"net/url"
	"strconv"
	"strings"
	"time"

	"rsc.io/qr"

	"carteira/internal/platform/civil"
	"carteira/internal/platform/money"
)

// FormatTime writes an instant as 31/12/2027 23:59 in a zone.
func FormatTime(at time.Time, zone *time.Location) string {
	return formatIn(at, zone, "02/01/2006 15:04")
}

func formatIn(at time.Time, zone *time.Location, layout string) string {
	if at.IsZero() {
		return ""
	}
	if zone == nil {
		zone = time.UTC
	}
	return at.In(zone).Format(layout)
}

// FormatDate writes a date as 31/12/2027.
func FormatDate(day civil.Date) string {
	if day.IsZero() {
		return ""
	}
	return fmt.Sprintf("%02d/%02d/%04d", day.Day(), day.Month(), day.Year())
}

// FormatInt writes a number with its thousands apart: 1.234.567.
func FormatInt(n int64) string {
	text := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, text = "-", text[1:]
	}
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "." + text[i:]
	}
	return sign + text
}

// FormatPhone writes a phone number with its country code as people do:
// +55 (11) 98765-4321. Numbers of other countries only get their plus.
func FormatPhone(digits string) string {
	rest, brazilian := strings.CutPrefix(digits, "55")
	if !brazilian || len(rest) < 10 || len(rest) > 11 {
		if digits == "" {
			return ""
		}
		return "+" + digits
	}
	local := rest[2:]
	return "+55 (" + rest[:2] + ") " + local[:len(local)-4] + "-" + local[len(local)-4:]
}

// Ago says how long before now an instant was, roughly.
func (l Lang) Ago(at, now time.Time) string {
	if at.IsZero() {
		return l.T("never")
	}
	switch span := now.Sub(at); {
	case span < time.Minute:
		return l.T("just now")
	case span < time.Hour:
		return l.T("%d min ago", int(span.Minutes()))
	case span < 24*time.Hour:
		return l.T("%d h ago", int(span.Hours()))
	default:
		return l.T("%d d ago", int(span.Hours()/24))
	}
}

// Period says a period in words: every month, every 3 months.
func (l Lang) Period(period civil.Period) string {
	count := period.Count
	texts := map[civil.Unit][2]string{
		civil.Day: {"every day", "every %d days"}, civil.Week: {"every week", "every %d weeks"},
		civil.Month: {"every month", "every %d months"},
		civil.Year:  {"every year", "every %d years"},
	}
	pair := texts[period.Unit]
	if count == 1 {
		return l.T(pair[0])
	}
	return l.T(pair[1], count)
}

// funcs are what templates can call besides the methods of the View.
func funcs(lang Lang) template.FuncMap {
	return template.FuncMap{
		"t":          lang.T,
		"reason":     lang.Reason,
		"money":      FormatMoney,
		"amount":     func(cents money.Cents) string { return strings.TrimPrefix(cents.BR(), "R$ ") },
		"rough":      lang.rough,
		"percent":    percent,
		"date":       FormatDate,
		"period":     lang.Period,
		"number":     func(n any) string { return FormatInt(toInt(n)) },
		"phone":      FormatPhone,
		"initial":    initial,
		"localphone": LocalPhone,
		"icon":       Icon,
		"asset":      Asset,
		"dict":       dict,
		"list":       func(items ...any) []any { return items },
		"field": func(form *Form, name, label string, kv ...any) (Field, error) {
			return newField(lang, form, name, label, kv)
		},
		"query": func(s string) string { return url.QueryEscape(s) },
		"langs": func() []Lang { return Langs },
		"join":  func(list []string, sep string) string { return strings.Join(list, sep) },
	}
}

func toInt(value any) int64 {
	switch value := value.(type) {
	case int:
		return int64(value)
	case int64:
		return value
	}
	panic(fmt.Sprintf("number of a %T", value))
}

// dict makes a map of names and values, to give a partial more than one thing.
func dict(kv ...any) (map[string]any, error) {
	if len(kv)%2 != 0 {
		return nil, fmt.Errorf("dict: %d arguments are no pairs", len(kv))
	}
	m := make(map[string]any, len(kv)/2)
	for i := 0; i < len(kv); i += 2 {
		name, ok := kv[i].(string)
		if !ok {
			return nil, fmt.Errorf("dict: %v is no name", kv[i])
		}
		m[name] = kv[i+1]
	}
	return m, nil
}

// initial is the first letter of a name, where there is no picture.
func initial(name string) string {
	for _, letter := range strings.ToUpper(strings.TrimSpace(name)) {
		return string(letter)
	}
	return ""
}

// quiet is the empty border that scanners want around a code, in modules.
const quiet = 4

// QR draws a code as SVG in the page itself: the policy allows no data:
// picture, and a picture with an address would keep a secret in caches.
func QR(text string) (template.HTML, error) {
	code, err := qr.Encode(text, qr.M)
	if err != nil {
		return "", err
	}
	var path strings.Builder
	for y := range code.Size {
		for x := 0; x < code.Size; x++ {
			begin := x
			for x < code.Size && code.Black(x, y) {
				x++
			}
			if run := x - begin; run > 0 {
				fmt.Fprintf(&path, "M%d %dh%dv1h-%dz", begin+quiet, y+quiet, run, run)
			}
		}
	}
	side := code.Size + 2*quiet
	return template.HTML(fmt.Sprintf( //nolint:gosec // numbers only
		`<svg class="qr" viewBox="0 0 %d %d" role="img" aria-label="QR code" shape-rendering="crispEdges">`+
			`<path d="%s"/></svg>`, side, side, path.String())), nil
}

// FormatMoney writes an amount that does not break at the end of a line.
func FormatMoney(cents money.Cents) string {
	return strings.Replace(cents.BR(), " ", "\u00a0", 1)
}

// LocalPhone writes a phone number without the country code of Brazil.
func LocalPhone(digits string) string { return strings.TrimPrefix(FormatPhone(digits), "+55 ") }
