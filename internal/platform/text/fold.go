// Package text owns how words are compared: folding for search, lower case for uniqueness, nearness for
// suggestions.
//
// It does not own what is searched or which names must be unique, nor any wording or translation.
package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// letters spells what Unicode does not decompose as people type it without a fitting keyboard. Apostrophes and
// dashes stand here because phones and word processors put them in uninvited (Sant’Ana, D´Ávila).
var letters = map[rune]string{
	'ø': "o", 'ł': "l", 'ß': "ss", 'æ': "ae", 'œ': "oe", 'đ': "d", 'ð': "d", 'þ': "th", 'ħ': "h",
	'ı': "i",
	'ŧ': "t", 'ŋ': "n", 'ĸ': "k", 'ŀ': "l", 'ŉ': "n", 'ſ': "s", 'ς': "σ", 'ª': "a", 'º': "o",
	'’': "'", '‘': "'", '´': "'", '“': `"`, '”': `"`, '–': "-", '—': "-",
}

// Fold reduces s to what search compares: lower case, without accents and invisible characters, its words one
// space apart. The result is valid UTF-8 for any bytes, has no control character (newline and NUL included), and
// folds to itself. Characters without case or accents, such as ideographs, stay as they are.
func Fold(text string) string {
	var out strings.Builder
	out.Grow(len(text))
	gap := false
	for _, r := range norm.NFD.String(text) {
		switch {
		case isGap(r):
			gap = true
			continue
		case isInvisible(r):
			continue
		}
		if gap && out.Len() > 0 {
			out.WriteByte(' ')
		}
		gap = false
		writeFolded(&out, r)
	}
	return out.String()
}

// Lower makes spellings equal that differ only in case, or in how an accent was typed (one character or two).
func Lower(s string) string { return norm.NFC.String(strings.ToLower(s)) }

// Digits keeps the digits 0 to 9 of s.
func Digits(text string) string {
	return strings.Map(func(r rune) rune {
		if '0' <= r && r <= '9' {
			return r
		}
		return -1
	}, text)
}

func writeFolded(out *strings.Builder, r rune) {
	r = unicode.ToLower(r)
	if r >= utf8.RuneSelf {
		if spelled, ok := letters[r]; ok {
			out.WriteString(spelled)
			return
		}
	}
	out.WriteRune(r)
}

func isGap(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }

// isInvisible finds accents and format characters (zero-width spaces, joiners, soft hyphens). Every kind of mark
// goes, not only accents: were one left, dropping its neighbour could change the order in which marks are normalized,
// and folding twice would differ from folding once.
func isInvisible(r rune) bool {
	return r >= utf8.RuneSelf && (unicode.IsMark(r) || unicode.Is(unicode.Cf, r))
}

// Searchable is the folded text without characters of the private-use area. The
// texts that are stored have none, so a term with one would find nothing.
func Searchable(folded string) string {
	return strings.Map(func(r rune) rune {
		if r >= 0xE000 && r <= 0xF8FF {
			return -1
		}
		return r
	}, folded)
}
