package account

import (
	_ "embed"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"carteira/internal/platform/fault"
	"carteira/internal/platform/text"
)

//go:embed common.txt
var commonFile string

// commonWords are what the most used passwords are made of.
var commonWords = sync.OnceValue(func() map[string]bool {
	words := map[string]bool{}
	for line := range strings.Lines(commonFile) {
		if word := strings.TrimSpace(line); word != "" && word[0] != '#' {
			words[word] = true
		}
	}
	return words
})

// letters are what digits and signs stand for in words.
var letters = strings.NewReplacer("0", "o", "1", "i", "3", "e", "4", "a", "5", "s", "7", "t", "8", "b", "@", "a", "$", "s", "!", "i")

// weakness says why a password is among the first that anybody would try; ""
// when it is not.
func weakness(password string) string {
	plain := text.Fold(password)
	switch {
	case utf8.RuneCountInString(password) < MinPassword:
		return "must have at least 8 characters"
	case isCommon(plain), isPattern(plain):
		return "is among the passwords that are tried first; choose another, such as a few words that do not belong together"
	}
	return ""
}

// isCommon takes off what people add to a word, and looks the word up.
func isCommon(plain string) bool {
	for end := len(plain); end > 0; end-- { // what stands at the end may be part of the word, as in s3nh4123
		word := onlyLetters(letters.Replace(plain[:end]))
		if commonWords()[word] || commonWords()[onlyLetters(plain[:end])] {
			return true
		}
		if unicode.IsLetter(rune(plain[end-1])) {
			break
		}
	}
	start := strings.TrimLeftFunc(plain, func(c rune) bool { return !unicode.IsLetter(c) })
	return start != plain && start != "" && isCommon(start)
}

func onlyLetters(value string) string {
	return strings.Map(func(c rune) rune {
		if !unicode.IsLetter(c) {
			return -1
		}
		return c
	}, value)
}

// rows are what fingers find in order.
var rows = []string{
	"01234567890", "qwertyuiop", "asdfghjkl", "zxcvbnm", "abcdefghijklmnopqrstuvwxyz",
	"1q2w3e4r5t6y7u8i9o0p", "q1w2e3r4t5y6u7i8o9p0", "1qaz2wsx3edc4rfv5tgb", "147258369", "159357",
}

// isPattern reports whether a password is a repetition of a few characters, or
// runs along a row of keys.
func isPattern(plain string) bool {
	for size := 1; size <= 4; size++ {
		if len(plain) >= 2*size && strings.Repeat(plain[:size], len(plain)/size+1)[:len(plain)] == plain {
			return true
		}
	}
	for _, row := range rows {
		for _, run := range []string{row, reversed(row)} {
			if strings.Contains(run+run, plain) {
				return true
			}
		}
	}
	return false
}

func reversed(s string) string {
	data := []byte(s)
	for i, j := 0, len(data)-1; i < j; i, j = i+1, j-1 {
		data[i], data[j] = data[j], data[i]
	}
	return string(data)
}

// RefusePassword refuses a password that is made of a name that everybody knows
// of its user, such as the company's or the address, with little added. "" is no password, and
// not refused.
func RefusePassword(password string, names ...string) error {
	plain := onlyLetters(letters.Replace(text.Fold(password)))
	spelled := onlyLetters(text.Fold(password))
	for _, name := range names {
		known := onlyLetters(text.Fold(mailbox(name)))
		if len(known) < 3 || password == "" {
			continue
		}
		for _, word := range []string{plain, spelled} {
			if strings.Contains(word, known) && len(word)-len(known) <= 3 {
				return fault.Field("password", "must not be the name of the company or the address")
			}
		}
	}
	return nil
}

// mailbox is the part of an address that names its owner; of a name, all of it.
func mailbox(email string) string {
	name, _, _ := strings.Cut(email, "@")
	return name
}
