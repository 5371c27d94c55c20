package asaas

import "strings"

// The rules of Asaas for the token of a webhook (docs.asaas.com, "Criar novo
// Webhook pela aplicação web").
const (
	minToken  = 32
	maxToken  = 255
	maxRun    = 4 // digits that go up or down by one; 12345 is refused
	maxEquals = 3 // equal letters in a row
)

// refusesToken says why Asaas would not accept a token; "" when it would.
func refusesToken(token, key string) string {
	switch {
	case len(token) < minToken || len(token) > maxToken:
		return "must be 32 to 255 characters"
	case token == key:
		return "must not be the API key"
	case longest(token, isStep(1)) > maxRun, longest(token, isStep(-1)) > maxRun:
		return "must not have digits in sequence, such as 12345"
	case longest(strings.ToLower(token), isSameLetter) > maxEquals:
		return "must not have four equal letters in a row"
	}
	return ""
}

// longest is how many characters in a row go on from each other.
func longest(text string, goesOn func(before, after byte) bool) int {
	most, run := 0, 0
	for i := range len(text) {
		if i > 0 && goesOn(text[i-1], text[i]) {
			run++
		} else {
			run = 1
		}
		most = max(most, run)
	}
	return most
}

func isStep(by int) func(before, after byte) bool {
	return func(before, after byte) bool {
		return isDigit(before) && isDigit(after) && int(after)-int(before) == by
	}
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isSameLetter(before, after byte) bool { return before == after && 'a' <= after && after <= 'z' }

// tokenOf spells a secret of hexadecimal digits with letters alone, none of them
// twice in a row: the first half of the alphabet takes turns with the second.
func tokenOf(secret string) string {
	const half = 13
	spelt := []byte(secret)
	for i, digit := range spelt {
		first := byte('a')
		if i%2 == 1 {
			first += half
		}
		spelt[i] = first + valueOf(digit)%half
	}
	return string(spelt)
}

func valueOf(digit byte) byte {
	if isDigit(digit) {
		return digit - '0'
	}
	return digit - 'a' + 10
}
