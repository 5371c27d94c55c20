package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// IsStorable reports whether every database can store and compare a text: it is
// UTF-8 and has no NUL.
func IsStorable(s string) bool { return utf8.ValidString(s) && !strings.ContainsRune(s, 0) }

// Storable is a text that a stranger's program has sent beside what a person
// typed, such as the name of a browser or a file, as far as it can be kept: up
// to limit bytes, cut between characters and without control characters. What is
// no UTF-8 is read as Latin-1, which old programs send.
func Storable(s string, limit int) string {
	s = s[:min(len(s), 4*limit)]
	if !utf8.ValidString(s) && !utf8.ValidString(trimPartial(s)) {
		s = fromLatin1(s)
	}
	s = strings.Map(func(c rune) rune {
		if unicode.IsControl(c) || c == utf8.RuneError {
			return -1
		}
		return c
	}, s)
	if len(s) > limit {
		s = trimPartial(s[:limit])
	}
	return s
}

// trimPartial removes the beginning of a character that was cut off.
func trimPartial(s string) string {
	for cut := 1; cut < utf8.UTFMax && cut <= len(s); cut++ {
		start := len(s) - cut
		if utf8.RuneStart(s[start]) {
			if !utf8.FullRuneInString(s[start:]) {
				return s[:start]
			}
			break
		}
	}
	return s
}

func fromLatin1(s string) string {
	runes := make([]rune, len(s))
	for i := range len(s) {
		runes[i] = rune(s[i])
	}
	return string(runes)
}
