// Package phone owns which phone numbers exist, as far as their digits can say: Brazil's numbering plan in full, the
// country codes of the others, and the one form in which numbers are stored: digits that begin with the country code.
//
// It does not own whether a number answers, whether WhatsApp knows it, or how search finds it.
package phone

import (
	"errors"
	"strings"

	"carteira/internal/platform/text"
)

// The reasons for which a number is refused, each fit to stand beside a field.
var (
	ErrSyntax   = errors.New("must be a phone number: digits, with country and area code")
	ErrNoArea   = errors.New("must have an area code, as in (11) 98765-4321")
	ErrLength   = errors.New("must have 10 or 11 digits with its area code; a number of another country begins with +")
	ErrArea     = errors.New("must have an area code that exists in Brazil; a number of another country begins with +")
	ErrNumber   = errors.New("must have nine digits that begin with 9, or eight that begin with 2 to 5, after the area code")
	ErrNinth    = errors.New("lacks the ninth digit: a mobile number has nine digits after the area code and begins with 9")
	ErrCountry  = errors.New("must have a country code that exists after the +")
	ErrForeign  = errors.New("must have 10 to 15 digits after the +, with the country code")
	ErrAmerican = errors.New("must have ten digits after +1, of which the first is 2 to 9")
)

// brazil is the country code of numbers that are written without one.
const brazil = "55"

// Parse reads a number however it is punctuated and returns its digits, country code first.
//
// A number with a + or 00 before it belongs to the country whose code follows. Any other is Brazilian, with or
// without 55: area code and number have 10 or 11 digits, so that a 55 before so many is the country's, and a 55
// within so many is the area code of Santa Maria.
func Parse(s string) (string, error) {
	digits, international, ok := scan(s)
	if !ok {
		return "", ErrSyntax
	}
	if rest, cut := strings.CutPrefix(digits, "00"); cut && !international {
		digits, international = rest, true
	}
	if international {
		return parseInternational(digits)
	}
	return parseBrazilian(digits)
}

// Repair is what a number should be that was stored when any 10 to 15 digits were good enough. A number that is
// well formed is its own repair. certain is false, and the number unchanged, when its digits can be read in no way
// or in more than one: a person has to say which number was meant.
//
// The digits alone cannot tell whether a + was typed. They are read as a number with its country code first, since
// that is how they were stored, and as typed in Brazil only when no such number can exist.
func Repair(stored string) (fixed string, certain bool) {
	if text.Digits(stored) != stored {
		return stored, false
	}
	if same, err := parseInternational(stored); err == nil {
		return same, true
	}
	if fixed, err := Parse(stored); err == nil && !lacksArea(stored) {
		return fixed, true
	}
	return stored, false
}

// lacksArea finds numbers that were typed as +55 98765-4321. Without the + they look like Santa Maria's, but a number
// of so few digits got a 55 more when it was stored, unless it had a +.
func lacksArea(stored string) bool {
	return strings.HasPrefix(stored, brazil) && len(stored) <= nationalLength
}

// punctuation is what people put between digits, after text.Fold has made plain dashes and spaces of the others.
const punctuation = "-.()/ "

// nonBreaking replaces hyphens that WhatsApp and office programs write, and that Fold leaves as they are.
var nonBreaking = strings.NewReplacer("\u2010", "-", "\u2011", "-", "\u2012", "-", "\u2212", "-")

// scan takes a number apart: its digits, and whether a + stands before them.
func scan(value string) (digits string, international, ok bool) {
	value = strings.TrimLeft(nonBreaking.Replace(text.Fold(value)), "( ")
	value, international = strings.CutPrefix(value, "+")
	digits = text.Digits(value)
	return digits, international, digits != "" &&
		strings.Trim(value, "0123456789"+punctuation) == ""
}

func parseInternational(digits string) (string, error) {
	if national, ok := strings.CutPrefix(digits, brazil); ok {
		return parseNational(national)
	}
	switch {
	case !hasCountry(digits):
		return "", ErrCountry
	case digits[0] == '1' && (len(digits) != 11 || digits[1] < '2'):
		return "", ErrAmerican
	case len(digits) < 10 || len(digits) > 15:
		return "", ErrForeign
	}
	return digits, nil
}

// nationalLength is the most digits that a number without country code has, when no trunk 0 stands before it.
const nationalLength = 11

// parseBrazilian reads a number without + or 00.
func parseBrazilian(digits string) (string, error) {
	if national, ok := strings.CutPrefix(digits, brazil); ok && len(digits) > nationalLength {
		return parseNational(national)
	}
	return parseNational(digits)
}

// parseNational reads area code and number, with what people dial before them.
func parseNational(digits string) (string, error) {
	if rest, trunk := strings.CutPrefix(digits, "0"); trunk {
		digits = withoutCarrier(rest)
	}
	switch {
	case len(digits) == 8 || len(digits) == 9:
		return "", ErrNoArea
	case len(digits) != 10 && len(digits) != nationalLength:
		return "", ErrLength
	case !areaCodes[digits[:2]]:
		return "", ErrArea
	}
	if err := checkSubscriber(digits[2:]); err != nil {
		return "", err
	}
	return brazil + digits, nil
}

// withoutCarrier drops the two digits that choose who carries a long-distance call, dialled between the 0 and the
// area code. Only the length tells that they are there: many carriers' codes are area codes too.
func withoutCarrier(digits string) string {
	if len(digits) == nationalLength+1 || len(digits) == nationalLength+2 {
		return digits[2:]
	}
	return digits
}

// IsArea reports whether an area code exists in Brazil.
func IsArea(code string) bool { return areaCodes[code] }

// WithNinth reads a mobile number that lacks the ninth digit (ErrNinth), with a 9
// before its eight. Whoever calls it has asked a person.
func WithNinth(s string) (string, error) {
	digits, _, _ := scan(s)
	if len(digits) < 8 {
		return "", ErrSyntax
	}
	at := len(digits) - 8
	return Parse(digits[:at] + "9" + digits[at:])
}

// checkSubscriber checks what follows the area code. Eight digits that begin with 6 to 9 are a mobile number from
// before the ninth digit came. That was done by 2016, and some of those numbers were given up on the way: putting a
// 9 before one is a guess, by which a message would go to somebody else.
func checkSubscriber(number string) error {
	switch {
	case len(number) == 9 && number[0] == '9':
		return nil
	case len(number) == 8 && number[0] >= '2' && number[0] <= '5':
		return nil
	case len(number) == 8 && number[0] >= '6':
		return ErrNinth
	}
	return ErrNumber
}
