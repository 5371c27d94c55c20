package pix

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Fold reduces text to what every bank accepts in a code: letters without
// accents, digits, points and hyphens, words one space apart. Some banks refuse
// the whole code for one accent or ampersand.
func Fold(text string) string {
	plain := strings.Map(func(r rune) rune {
		switch {
		case isLetterOrDigit(r), r == '.', r == '-':
			return r
		case unicode.IsMark(r):
			return -1
		}
		return ' '
	}, norm.NFD.String(text))
	return strings.Join(strings.Fields(plain), " ")
}

func foldTo(text string, limit int, otherwise string) string {
	if text = cut(Fold(text), limit); text == "" {
		return otherwise
	}
	return text
}

// cut shortens folded text, in which a character is a byte.
func cut(text string, limit int) string {
	if limit <= 0 {
		return ""
	}
	return strings.TrimSpace(text[:min(len(text), limit)])
}
