package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// IsStorable reports whether every database can store and compare a text: it is
// UTF-8 and has no NUL.
func IsStorable(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsRune(s, 0)
}

// Storable is a text that a stranger's program has sent beside what a person
// typed, such as the name of a browser or a file, as far as it can be kept: up
// to limit bytes, cut between characters and without control characters. What is
// no UTF-8 is read as Latin-1, which old programs send.
func Storable(text string, limit int) string {
	text = text[:min(len(text), 4*limit)]
	if !utf8.ValidString(text) && !utf8.ValidString(trimPartial(text)) {
		text = fromLatin1(text)
	}
	text = strings.Map(func(c rune) rune {
		if unicode.IsControl(c) || c == utf8.RuneError {
			return -1
		}
		return c
	}, text)
	if len(text) > limit {
		text = trimPartial(text[:limit])
	}
	return text
}

// trimPartial removes the beginning of a character that was cut off.
func trimPartial(text string) string {
	for cut := 1; cut < utf8.UTFMax && cut <= len(text); cut++ {
		start := len(text) - cut
		if utf8.RuneStart(text[start]) {
			if !utf8.FullRuneInString(text[start:]) {
				return text[:start]
			}
			break
		}
	}
	return text
}

func fromLatin1(text string) string {
	runes := make([]rune, len(text))
	for i := range len(text) {
		runes[i] = rune(text[i])
	}
	return string(runes)
}
