package web

import (
	"encoding/json"
	"testing"
	"time"

	"carteira/internal/platform/civil"
)

func TestValuesAppendAsJSON(t *testing.T) {
	day, err := civil.Parse("2026-02-28")
	if err != nil {
		t.Fatal(err)
	}
	zone, err := civil.LoadZone("America/Sao_Paulo")
	if err != nil {
		t.Fatal(err)
	}
	noon := time.Date(2026, 2, 28, 12, 0, 0, 999_999_000, time.UTC)
	tests := map[string]struct {
		got  []byte
		want string
	}{
		"text":    {AppendText(nil, "a"), `"a"`},
		"no text": {AppendText(nil, ""), `null`},
		"string":  {AppendString(nil, ""), `""`},
		"date":    {AppendDate(nil, day), `"2026-02-28"`},
		"no date": {AppendDate(nil, civil.Date{}), `null`},
		"time":    {AppendTime(nil, noon, zone), `"2026-02-28T09:00:00-03:00"`},
		"in UTC":  {AppendTime(nil, noon, time.UTC), `"2026-02-28T12:00:00+00:00"`},
		"no time": {AppendTime(nil, time.Time{}, zone), `null`},
		"value":   {JSON(map[string]any{"a": []int{}, "b": nil})(nil), `{"a":[],"b":null}`},
		"after":   {AppendText([]byte(`"a":`), "b"), `"a":"b"`},
	}
	for name, tt := range tests {
		if string(tt.got) != tt.want {
			t.Errorf("%s: %s, want %s", name, tt.got, tt.want)
		}
	}
}

func TestEveryCharacterIsEscapedAsEncodingJSONDoes(t *testing.T) {
	for r := range rune(0x10000) { // beyond, nothing is special
		wantAsEncodingJSON(t, "a"+string(r)+"z")
	}
	for b := range 256 {
		wantAsEncodingJSON(t, "a"+string([]byte{byte(b)})+"z")
	}
}

func FuzzAppendString(f *testing.F) {
	for _, s := range []string{"", "João", "<b>&\"\\", "\x00\x1f\x7f\n\r\t\b\f", "\u2028\u2029", "\xff\xc3", "日本", "\U0001F600", "\xed\xa0\x80"} {
		f.Add(s)
	}
	f.Fuzz(wantAsEncodingJSON)
}

func wantAsEncodingJSON(t *testing.T, text string) {
	t.Helper()
	want, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	if got := AppendString(nil, text); string(got) != string(want) {
		t.Errorf("%q: %s, want %s", text, got, want)
	}
}
