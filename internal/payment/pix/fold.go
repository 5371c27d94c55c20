package pix

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Fold reduces text to what every bank accepts in a code: letters without
// accents, digits, points and hyphens, words one space apart. Some banks refuse
// the whole code for one accent or ampersand.
func Fold(s string) string {
	plain := strings.Map(func(r rune) rune {
		switch {
		case isLetterOrDigit(r), r == '.', r == '-':
			return r
		case unicode.IsMark(r):
			return -1
		}
		return ' '
	}, norm.NFD.String(s))
	return strings.Join(strings.Fields(plain), " ")
}

func foldTo(s string, limit int, otherwise string) string {
	if s = cut(Fold(s), limit); s == "" {
		return otherwise
	}
	return s
}

// cut shortens folded text, in which a character is a byte.
func cut(s string, limit int) string {
	if limit <= 0 {
		return ""
	}
	return strings.TrimSpace(s[:min(len(s), limit)])
}
