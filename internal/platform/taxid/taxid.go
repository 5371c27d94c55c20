// Package taxid owns the numbers by which Brazil's revenue service knows people (CPF) and companies (CNPJ): their
// check digits, the form in which they are stored and the one in which they are shown.
//
// It does not own whether a number was ever issued: only the revenue service knows.
package taxid

import (
	"errors"
	"strings"
)

// The reasons to refuse a number, worded for display next to a field.
var (
	ErrSyntax = errors.New("must be a CPF with 11 digits or a CNPJ with 14 characters")
	ErrCPF    = errors.New("must be a valid CPF; check its digits")
	ErrCNPJ   = errors.New("must be a valid CNPJ; check its characters")
)

const (
	cpfLength  = 11
	cnpjLength = 14

	// The weights of the check digits go up from 2 at the right end, and begin again after the last.
	lastWeightCPF  = 11
	lastWeightCNPJ = 9
)

// Parse reads a CPF or a CNPJ with or without punctuation and returns it without: 11 digits, or 14 characters of which
// the first 12 may be capital letters too, as in the CNPJs that are given out since July 2026.
func Parse(s string) (string, error) {
	number, ok := strip(s)
	switch {
	case !ok:
		return "", ErrSyntax
	case len(number) == cpfLength && isDigits(number):
		if !valid(number) {
			return "", ErrCPF
		}
	case len(number) == cnpjLength && isDigits(number[cnpjLength-2:]):
		if !valid(number) {
			return "", ErrCNPJ
		}
	default:
		return "", ErrSyntax
	}
	return number, nil
}

// IsCNPJ reports whether a number that Parse returned is a company's, not a person's.
func IsCNPJ(number string) bool { return len(number) == cnpjLength }

// Format writes a number that Parse returned as 123.456.789-09 or 12.345.678/0001-95, and any other text as it is.
func Format(number string) string {
	switch len(number) {
	case cpfLength:
		return number[:3] + "." + number[3:6] + "." + number[6:9] + "-" + number[9:]
	case cnpjLength:
		return number[:2] + "." + number[2:5] + "." + number[5:8] + "/" + number[8:12] + "-" + number[12:]
	}
	return number
}

// strip drops punctuation and makes capitals of letters; ok is false when there is anything else.
func strip(text string) (number string, ok bool) {
	ok = true
	number = strings.Map(func(r rune) rune {
		switch {
		case '0' <= r && r <= '9', 'A' <= r && r <= 'Z':
			return r
		case 'a' <= r && r <= 'z':
			return r - 'a' + 'A'
		case !strings.ContainsRune(".-/ \u00a0–", r):
			ok = false
		}
		return -1
	}, text)
	return number, ok
}

func isDigits(s string) bool { return strings.Trim(s, "0123456789") == "" }

// valid checks both check digits. A number of one repeated character passes that sum but is never issued: people
// without a number type it.
func valid(number string) bool {
	if strings.Count(number, number[:1]) == len(number) {
		return false
	}
	body := len(number) - 2
	return number[body:] == CheckDigits(number[:body])
}

// CheckDigits are the two digits that follow the body of a CPF (9 digits) or of a CNPJ (12 characters).
func CheckDigits(body string) string {
	lastWeight := lastWeightCPF
	if len(body) == cnpjLength-2 {
		lastWeight = lastWeightCNPJ
	}
	first := string(checkDigit(body, lastWeight))
	return first + string(checkDigit(body+first, lastWeight))
}

// checkDigit is the digit that follows body: its characters' distances from '0' in ASCII, which for a digit is its
// value, summed with their weights, modulo 11.
func checkDigit(body string, lastWeight int) byte {
	sum, weight := 0, 2
	for i := len(body) - 1; i >= 0; i-- {
		sum += int(body[i]-'0') * weight
		if weight++; weight > lastWeight {
			weight = 2
		}
	}
	if rest := sum % 11; rest > 1 {
		return '0' + byte(11-rest)
	}
	return '0'
}
