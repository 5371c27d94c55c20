package statement

import (
	"strings"

	"carteira/internal/platform/civil"
	"carteira/internal/platform/money"
)

// parseDate reads the dates that banks write: 20260305, 2026-03-05, 05/03/2026,
// 05-03-2026, 05.03.2026 and 05/03/26, each of them perhaps with a time behind it.
func parseDate(value string) (civil.Date, bool) {
	value = strings.TrimSpace(value)
	if day, _, found := strings.Cut(value, " "); found {
		value = day
	}
	if day, _, found := strings.Cut(value, "T"); found {
		value = day
	}
	value = strings.NewReplacer(".", "/", "-", "/").Replace(value)
	parts := strings.Split(value, "/")
	switch {
	case len(parts) == 1 && len(value) == 8:
		parts = []string{value[6:], value[4:6], value[:4]}
	case len(parts) == 3 && len(parts[0]) == 4:
		parts[0], parts[2] = parts[2], parts[0]
	case len(parts) == 3 && len(parts[2]) == 2:
		parts[2] = "20" + parts[2]
	case len(parts) != 3:
		return civil.Date{}, false
	}
	for at := range 2 {
		if len(parts[at]) == 1 {
			parts[at] = "0" + parts[at]
		}
	}
	on, err := civil.Parse(parts[2] + "-" + parts[1] + "-" + parts[0])
	return on, err == nil
}

// parseAmount reads the amounts that banks write: 35.00, -35,00, 1.234,56,
// 1,234.56, R$ 35,00, "35,00 D", 35,00- and (35,00).
func parseAmount(value string) (money.Cents, bool) {
	value, negative := unsigned(value)
	whole, cents, ok := splitCents(value)
	if !ok {
		return 0, false
	}
	amount, err := money.Parse(whole + "." + cents)
	if err != nil {
		return 0, false
	}
	if negative {
		amount = -amount
	}
	return amount, true
}

// unsigned takes the currency and everything that makes an amount negative away.
func unsigned(value string) (plain string, negative bool) {
	value = strings.ToUpper(strings.Join(strings.Fields(strings.ReplaceAll(value, "\u00a0", " ")), ""))
	for _, mark := range []string{"-", "−", "D", "("} {
		if strings.HasPrefix(value, mark) || strings.HasSuffix(value, mark) {
			negative = true
		}
	}
	value = strings.Trim(value, "+-−()CD")
	value = strings.TrimPrefix(strings.TrimPrefix(value, "R$"), "BRL")
	if inner, found := strings.CutPrefix(value, "-"); found { // R$ -35,00
		value, negative = inner, true
	}
	return value, negative
}

// splitCents cuts the cents off, which are one or two digits behind the last comma
// or point. One that three digits follow may be either, and is refused.
func splitCents(value string) (whole, cents string, ok bool) {
	at := strings.LastIndexAny(value, ".,")
	if at < 0 {
		return value, "00", digits(value)
	}
	whole, cents = value[:at], value[at+1:]
	if len(cents) == 1 {
		cents += "0"
	}
	if len(cents) != 2 || !digits(cents) {
		return "", "", false
	}
	groups := strings.FieldsFunc(whole, func(r rune) bool { return r == '.' || r == ',' })
	for n, group := range groups {
		if !digits(group) || n > 0 && len(group) != 3 {
			return "", "", false
		}
	}
	whole = strings.TrimLeft(strings.Join(groups, ""), "0")
	if whole == "" {
		whole = "0"
	}
	return whole, cents, true
}

func digits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
