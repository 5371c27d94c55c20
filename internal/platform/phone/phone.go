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

// The reasons to refuse a number, worded for display next to a field.
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
// A number with a + or 00 before it belongs to the country of the code that follows. Any other is Brazilian,
// with or without 55: area code and number have 10 or 11 digits, so that a 55 before so many is the country's,
// and a 55 within so many is the area code of Santa Maria.
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

// scan takes a number apart: its digits, and whether a + comes before them.
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

// nationalLength is the most digits that a number without country code has, without a trunk 0 before it.
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
// area code. Only the length shows that they are there: many carriers' codes are area codes too.
func withoutCarrier(digits string) string {
	if len(digits) == nationalLength+1 || len(digits) == nationalLength+2 {
		return digits[2:]
	}
	return digits
}

// IsArea reports whether an area code exists in Brazil.
func IsArea(code string) bool { return areaCodes[code] }

// WithNinth reads a mobile number that lacks the ninth digit (ErrNinth), with a 9
// before its eight. The caller must have asked a person.
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
// 9 before one is a guess, and the message could go to another person.
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

// areaCodes are the 67 of Brazil, by state: Anatel's Plano Geral de Códigos Nacionais.
var areaCodes = set(
	"11 12 13 14 15 16 17 18 19", // SP
	"21 22 24 27 28",             // RJ, ES
	"31 32 33 34 35 37 38",       // MG
	"41 42 43 44 45 46 47 48 49", // PR, SC
	"51 53 54 55",                // RS
	"61 62 63 64 65 66 67 68 69", // DF, GO, TO, MT, MS, AC, RO
	"71 73 74 75 77 79",          // BA, SE
	"81 82 83 84 85 86 87 88 89", // PE, AL, PB, RN, CE, PI
	"91 92 93 94 95 96 97 98 99", // PA, AM, RR, AP, MA
)

// countryCodes are those that the ITU has assigned (E.164), satellites and international services included, without
// Brazil's. No code is the beginning of another, so one to three digits decide.
var countryCodes = set(
	"1 7",
	"20 211 212 213 216 218 220 221 222 223 224 225 226 227 228 229 230 231 232 233 234 235 236 237 238 239",
	"240 241 242 243 244 245 246 247 248 249 250 251 252 253 254 255 256 257 258 260 261 262 263 264 265 266 267 268 269",
	"27 290 291 297 298 299",
	"30 31 32 33 34 350 351 352 353 354 355 356 357 358 359 36 370 371 372 373 374 375 376 377 378 379",
	"380 381 382 383 385 386 387 389 39",
	"40 41 420 421 423 43 44 45 46 47 48 49",
	"500 501 502 503 504 505 506 507 508 509 51 52 53 54 56 57 58 590 591 592 593 594 595 596 597 598 599",
	"60 61 62 63 64 65 66 670 672 673 674 675 676 677 678 679 680 681 682 683 685 686 687 688 689 690 691 692",
	"800 808 81 82 84 850 852 853 855 856 86 870 878 880 881 882 883 886 888",
	"90 91 92 93 94 95 960 961 962 963 964 965 966 967 968 970 971 972 973 974 975 976 977 979 98 992 993 994 995 996 998",
)

func hasCountry(digits string) bool {
	for length := 1; length <= 3 && length <= len(digits); length++ {
		if countryCodes[digits[:length]] {
			return true
		}
	}
	return false
}

func set(lines ...string) map[string]bool {
	codes := map[string]bool{}
	for _, line := range lines {
		for code := range strings.FieldsSeq(line) {
			codes[code] = true
		}
	}
	return codes
}
