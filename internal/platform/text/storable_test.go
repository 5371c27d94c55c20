package text

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestStorableKeepsWhatCanBeKept(t *testing.T) {
	for given, want := range map[string]string{
		"":                            "",
		"Firefox/140.0":               "Firefox/140.0",
		"João":                        "João",
		"Jo\xe3o.csv":                 "João.csv",
		"a\x00b\nc\x7f":               "abc",
		"cut\xe2\x80":                 "cut",
		strings.Repeat("a", 19) + "ã": strings.Repeat("a", 19),
		strings.Repeat("ã", 30):       strings.Repeat("ã", 10),
	} {
		if got := Storable(given, 20); got != want || !IsStorable(got) {
			t.Errorf("Storable(%q) = %q, want %q", given, got, want)
		}
	}
}

func FuzzStorableIsStorable(f *testing.F) {
	f.Add("Jo\xe3o\x00")
	f.Add("ends\xe2\x80")
	f.Fuzz(func(t *testing.T, text string) {
		got := Storable(text, 20)
		if !IsStorable(got) || len(got) > 20 {
			t.Errorf("%q became %q", text, got)
		}
		if utf8.ValidString(text) && len(text) <= 20 && !strings.ContainsFunc(text, func(c rune) bool { return c < ' ' || c >= 0x7f }) && got != text {
			t.Errorf("%q became %q", text, got)
		}
	})
}
