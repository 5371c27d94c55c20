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

// Words are the folded words of a text one space apart, without punctuation.
func Words(text string) string {
	punctuation := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	return strings.Join(strings.FieldsFunc(Fold(text), punctuation), " ")
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

// Near finds the known word that word was probably meant to be: at most two slips away (a letter more, less, other, or two
// swapped) and fewer than half its letters wrong. It returns "" when none is.
func Near(word string, known []string) string {
	typed := []rune(Fold(word))
	best, nearest := "", min(2, (len(typed)-1)/2)+1
	for _, candidate := range known {
		meant := []rune(Fold(candidate))
		if max(len(typed)-len(meant), len(meant)-len(typed)) >= nearest {
			continue // no closer than what is known, and never worth a table the size of a hostile word
		}
		if slips := distance(typed, meant); slips < nearest {
			best, nearest = candidate, slips
		}
	}
	return best
}

// distance is the Damerau–Levenshtein distance in its restricted form: no letter is edited twice.
func distance(a, b []rune) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		before, last, row = last, row, before
		row[0] = i + 1
		for j := range b {
			replace := last[j]
			if a[i] != b[j] {
				replace++
			}
			row[j+1] = min(replace, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
	}
	return row[len(b)]
}

// IsStorable reports whether every database can store and compare a text: it is
// UTF-8 and has no NUL.
func IsStorable(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsRune(s, 0)
}

// Storable is a text that a client program has sent, such as the name of a
// browser or a file, in a form that can be stored: up to limit bytes, cut
// between characters and without control characters. What is no UTF-8 is read as
// Latin-1, which old programs send.
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
