package pix

import "strings"

// ValidCPF tells whether s is eleven digits of which the last two fit.
func ValidCPF(s string) bool {
	return len(s) == 11 && isNumber(s) && varied(s) && s[9:] == checkDigits(s[:9], 11)
}

// ValidCNPJ tells whether s is twelve digits or capital letters and two digits
// that fit. Letters are in the numbers given out since 2026.
func ValidCNPJ(s string) bool {
	return len(s) == 14 && strings.ToUpper(s) == s && alphanumeric(s) && varied(s) && s[12:] == checkDigits(s[:12], 9)
}

// varied tells that not all characters are equal: such numbers fit, and are
// nobody's.
func varied(s string) bool { return strings.Trim(s, s[:1]) != "" }

// checkDigits computes the two digits. Weights rise from 2 at the right, and
// begin again after the greatest.
func checkDigits(s string, greatest int) string {
	s += checkDigit(s, greatest)
	s += checkDigit(s, greatest)
	return s[len(s)-2:]
}

func checkDigit(s string, greatest int) string {
	sum, weight := 0, 2
	for i := len(s) - 1; i >= 0; i-- {
		sum += int(s[i]-'0') * weight // A is 17: its place in ASCII less that of 0
		if weight++; weight > greatest {
			weight = 2
		}
	}
	rest := sum % 11
	if rest < 2 {
		return "0"
	}
	return string(rune('0' + 11 - rest))
}
