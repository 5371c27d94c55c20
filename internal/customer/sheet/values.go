package sheet

import (
	"errors"
	"strings"

	"carteira/internal/platform/civil"
	"carteira/internal/platform/money"
)

// spellers turn what people in Brazil write into what the API takes.
var spellers = map[string]func(string) (string, error){
	"data_de_vencimento": spellDate,
	"value":              spellAmount,
}

// spellDate reads 31/12/2027, 1/2/2027 and 2027-12-31. A time of day behind it
// is what databases and spreadsheets write for a bare day, and is dropped.
func spellDate(s string) (string, error) {
	if day, clock, cut := cutTime(s); cut && strings.Trim(clock, "0123456789:.") == "" {
		s = day
	}
	if parts := strings.Split(s, "/"); len(parts) == 3 {
		s = twoDigits(parts[0]) + "/" + twoDigits(parts[1]) + "/" + parts[2]
	}
	d, err := civil.ParseBR(s)
	if errors.Is(err, civil.ErrSyntax) {
		return "", errors.New("must be a date such as 31/12/2027 or 2027-12-31")
	}
	return d.String(), err
}

func cutTime(s string) (day, clock string, cut bool) {
	i := strings.IndexAny(s, " T")
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+1:], true
}

func twoDigits(s string) string {
	if len(s) == 1 {
		return "0" + s
	}
	return s
}

// spellAmount reads R$ 1.234,56, 1234,56 and 1234.56.
func spellAmount(s string) (string, error) {
	c, err := money.ParseBR(s)
	if errors.Is(err, money.ErrSyntax) {
		return "", errors.New("must be an amount such as 1.234,56")
	}
	return c.String(), err
}
