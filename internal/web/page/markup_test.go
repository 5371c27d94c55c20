package page

import (
	"html/template"
	"math/rand/v2"
	"strings"
	"testing"
)

// Whatever the value, it is escaped as html/template does it: in text, in an
// attribute and in the query of an address.
func TestMarkupEscapesAsTemplatesDo(t *testing.T) {
	reference := template.Must(template.New("").Parse(
		`<p>{{.}}</p><p title="{{.}}"></p><a href="/x?a={{.}}&amp;b=1"></a>`))
	for _, value := range hostile() {
		var want strings.Builder
		if err := reference.Execute(&want, value); err != nil {
			t.Fatal(err)
		}
		var got Markup
		got.Raw(`<p>`)
		got.Value(value)
		got.Raw(`</p><p title="`)
		got.Value(value)
		got.Raw(`"></p><a href="/x?a=`)
		got.Query(value)
		got.Raw(`&amp;b=1"></a>`)
		if string(got.HTML()) != want.String() {
			t.Errorf("%q\ngot  %q\nwant %q", value, got.HTML(), want.String())
		}
	}
}

// hostile are values that would leave their place if they were not escaped, every
// byte by itself, and bytes at random.
func hostile() []string {
	values := []string{
		"", `"><script>alert(1)</script>`, `' onmouseover='x`, "a&b=c#d", "&lt;", "&amp;amp;", "javascript:alert(1)", "</td></table>",
		"<!--", "]]>", "\u2028\u2029", "\ufdd0\ufffe\uffff", "\xff\xfe<", "\xc3", "%22%3e", "José & Ângela + \"Zé\"", "\x00\x0b\r\n\t", "`=/?",
	}
	for at := range 256 {
		values = append(values, string([]byte{byte(at)}), "a"+string(rune(at))+"b")
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		bytes := make([]byte, random.IntN(20))
		for i := range bytes {
			bytes[i] = byte(random.IntN(256))
		}
		values = append(values, string(bytes))
	}
	return values
}
