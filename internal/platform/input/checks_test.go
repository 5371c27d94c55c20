package input

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"carteira/internal/platform/fault"
)

// checks are all the checks, as the tables below use them.
var checks = map[string]func(form *Form) (any, bool){
	"text":    func(form *Form) (any, bool) { return boxed(form.Text("v", 5).Get()) },
	"line":    func(form *Form) (any, bool) { return boxed(form.Line("v", 5).Get()) },
	"email":   func(form *Form) (any, bool) { return boxed(form.Email("v").Get()) },
	"phone":   func(form *Form) (any, bool) { return boxed(form.Phone("v").Get()) },
	"int":     func(form *Form) (any, bool) { return boxed(form.Int("v", -1, 10).Get()) },
	"id":      func(form *Form) (any, bool) { return boxed(form.ID("v").Get()) },
	"bool":    func(form *Form) (any, bool) { return boxed(form.Bool("v").Get()) },
	"date":    func(form *Form) (any, bool) { return boxed(form.Date("v").Get()) },
	"day":     func(form *Form) (any, bool) { return boxed(form.Day("v").Get()) },
	"money":   func(form *Form) (any, bool) { return boxed(form.Money("v").Get()) },
	"percent": func(form *Form) (any, bool) { return boxed(form.Percent("v").Get()) },
	"choice": func(form *Form) (any, bool) {
		return boxed(form.Choice("v", "Ativo", "Vence hoje", "ultra_master").Get())
	},
}

func boxed[T any](v T, ok bool) (any, bool) { return v, ok }

func TestAbsentFieldIsNotUsed(t *testing.T) {
	for name, check := range checks {
		form := fromJSON(t, `{}`)
		if _, ok := check(form); ok || form.Err() != nil {
			t.Errorf("%s: used %v, %v", name, ok, form.Err())
		}
	}
}

func TestEmptyFieldIsUsedWithItsZeroValue(t *testing.T) {
	zeros := map[string]string{"int": "0", "id": "0", "bool": "false", "money": "0.00", "percent": "0.00"}
	for name, check := range checks {
		for _, empty := range []string{"null", `""`, `" \u00a0\n"`} {
			form := fromJSON(t, `{"v":`+empty+`}`)
			if v, ok := check(form); !ok || fmt.Sprint(v) != zeros[name] || form.Err() != nil {
				t.Errorf("%s of %s: %v, used %v, %v", name, empty, v, ok, form.Err())
			}
		}
	}
}

func TestWrongTypeIsRefused(t *testing.T) {
	for name, check := range checks {
		for _, wrong := range []string{"[]", "{}", `["a"]`} {
			form := fromJSON(t, `{"v":`+wrong+`}`)
			if v, ok := check(form); ok || !form.Failed() {
				t.Errorf("%s took %s for %v", name, wrong, v)
			}
		}
	}
}

func TestAccepted(t *testing.T) {
	tests := map[string]map[string]string{ // check → sent → read
		"text":  {`"ação"`: "ação", `" a\nb "`: "a\nb", `123`: "123", `1.5`: "1.5", `"12345"`: "12345", `"\r\n\ta"`: "a"},
		"line":  {`"a b"`: "a b", `" a\n"`: "a", `55`: "55"},
		"email": {`"ana@example.com"`: "ana@example.com", `" ana+x@sub.example.com.br "`: "ana+x@sub.example.com.br", `"joão@exemplo.com"`: "joão@exemplo.com"},
		"phone": {
			`"(11) 98765-4321"`: "5511987654321", `"11 3265.4321"`: "551132654321", `11987654321`: "5511987654321",
			`"+55 11 98765-4321"`: "5511987654321", `"5511987654321"`: "5511987654321",
			`"+351 912 345 678"`: "351912345678", `"+1 (212) 555-1234"`: "12125551234", `"0055 11 98765-4321"`: "5511987654321",
			`"11\u00a098765\u00a04321"`: "5511987654321",
		},
		"int":    {`3`: "3", `"3"`: "3", `" 3 "`: "3", `-1`: "-1", `10`: "10"},
		"id":     {`7`: "7", `"7"`: "7", `9223372036854775807`: "9223372036854775807"},
		"bool":   {`true`: "true", `false`: "false", `"true"`: "true", `"FALSE"`: "false", `1`: "true", `0`: "false", `"1"`: "true", `"0"`: "false"},
		"date":   {`"2024-02-29"`: "2024-02-29", `" 2026-12-31 "`: "2026-12-31"},
		"day":    {`"2024-02-29"`: "2024-02-29", `"2026-12-31T23:00:00-03:00"`: "2026-12-31", `"2026-12-31T23:00:00.5Z"`: "2026-12-31"},
		"money":  {`"35.00"`: "35.00", `35`: "35.00", `35.5`: "35.50", `"0.01"`: "0.01", `0`: "0.00"},
		"choice": {`"Ativo"`: "Ativo", `"ATIVO"`: "Ativo", `"vence_hoje"`: "Vence hoje", `"Vence Hoje"`: "Vence hoje", `"ultra master"`: "ultra_master"},
	}
	for name, values := range tests {
		for sent, want := range values {
			form := fromJSON(t, `{"v":`+sent+`}`)
			if v, ok := checks[name](form); !ok || fmt.Sprint(v) != want || form.Err() != nil {
				t.Errorf("%s of %s: %v, used %v, %v; want %s", name, sent, v, ok, form.Err(), want)
			}
		}
	}
}

func TestRefused(t *testing.T) {
	const (
		phoneShape = "must be a phone number: digits, with country and area code"
		phoneArea  = "must have an area code, as in (11) 98765-4321"
		phoneNinth = "lacks the ninth digit: a mobile number has nine digits after the area code and begins with 9"
		badEmail   = "must be a valid e-mail address"
		badNumber  = "must be a whole number"
		badID      = "must be the id of a record, a positive whole number"
		badDate    = "must be a date in the form YYYY-MM-DD"
		badChoice  = "must be one of: Ativo, Vence hoje, ultra_master"
		control    = "must not contain control characters"
		tooLong    = "must have at most 5 characters"
	)
	tests := map[string]map[string]string{ // check → sent → reason
		"text": {`true`: "must be a text", `"123456"`: tooLong, `"çççççç"`: tooLong, `"a\u0000b"`: control, `"a\u007fb"`: control, `"a\u0085b"`: control},
		"line": {`"a\nb"`: "must be on one line", `"a\tb"`: "must be on one line", `"123456"`: tooLong, `false`: "must be a text"},
		"email": {
			`"ana"`: badEmail, `"ana@"`: badEmail, `"@example.com"`: badEmail, `"ana@localhost"`: badEmail, `"ana@example.c"`: badEmail,
			`"ana@example..com"`: badEmail, `"ana@.com"`: badEmail, `"Ana <ana@example.com>"`: badEmail, `"<ana@example.com>"`: badEmail,
			`"ana@example.com, bia@example.com"`: badEmail, `"a na@example.com"`: badEmail, `"\"a b\"@example.com"`: badEmail,
			`"ana@[127.0.0.1]"`: badEmail, `"ana@example.com."`: badEmail, `"ana@example.é"`: badEmail, `"ana@bia@example.com"`: badEmail, `5`: badEmail,
			`"` + strings.Repeat("a", 250) + `@b.com"`: "must have at most 254 characters",
		},
		"phone": {
			`"987654321"`: phoneArea, `"11 8765.4321"`: phoneNinth, `"()"`: phoneShape,
			`"11 98765-4321 ramal 5"`: phoneShape, `"11987654321x"`: phoneShape, `"55+11987654321"`: phoneShape, `"++5511987654321"`: phoneShape,
			`"１１９８７６５４３２１"`: phoneShape, `1.1987654321e10`: phoneShape,
		},
		"int": {
			`1.5`: badNumber, `"x"`: badNumber, `true`: badNumber, `1e3`: badNumber, `"1_0"`: badNumber, `99999999999999999999`: badNumber,
			`-2`: "must be between -1 and 10", `"11"`: "must be between -1 and 10",
		},
		"id":     {`0`: badID, `-1`: badID, `"x"`: badID, `1.0`: badID, `9223372036854775808`: badID, `true`: badID},
		"bool":   {`"sim"`: "must be true or false", `2`: "must be true or false", `"yes"`: "must be true or false"},
		"date":   {`"31/12/2026"`: badDate, `"2026-02-30"`: badDate, `"2026-1-1"`: badDate, `"2026-01-01T00:00:00Z"`: badDate, `20260101`: badDate, `true`: badDate},
		"day":    {`"2026-02-30T00:00:00Z"`: badDate, `"2026-01-01T00:00:00"`: badDate, `"2026-01-01x"`: badDate, `20260101`: badDate},
		"money":  {`true`: "must be an amount such as 35.00"},
		"choice": {`"Ativos"`: badChoice, `"xyz"`: badChoice, `1`: badChoice, `true`: badChoice},
	}
	for name, values := range tests {
		for sent, reason := range values {
			form := fromJSON(t, `{"v":`+sent+`}`)
			if v, ok := checks[name](form); ok {
				t.Errorf("%s took %s for %v", name, sent, v)
			}
			wantRefused(t, form.Err(), map[string]string{"v": reason})
		}
	}
}

func TestListTakesOneTextForAListOfOne(t *testing.T) {
	accepted := map[string]string{
		`["a"," b "]`: "[a b]", `[]`: "[]", `"a"`: "[a]", `5`: "[5]", `["a",5]`: "[a 5]", `null`: "[]", `""`: "[]",
	}
	for sent, want := range accepted {
		form := fromJSON(t, `{"v":`+sent+`}`)
		if list, ok := form.List("v").Get(); !ok || fmt.Sprint(list) != want || form.Err() != nil {
			t.Errorf("%s: %v, used %v, %v; want %s", sent, list, ok, form.Err(), want)
		}
	}
	for _, sent := range []string{`{}`, `true`, `[null]`, `["a",["b"]]`} {
		form := fromJSON(t, `{"v":`+sent+`}`)
		form.List("v").Get()
		wantRefused(t, form.Err(), map[string]string{"v": "must be a list of texts"})
	}
}

func TestMoneySaysWhatIsWrongWithTheAmount(t *testing.T) {
	for _, sent := range []string{`"1.234"`, `"-1"`, `-1`, `"R$ 5"`, `1e9`, `"999999999999"`} {
		form := fromJSON(t, `{"v":`+sent+`}`)
		if amount, ok := form.Money("v").Get(); ok || len(fault.FieldsOf(form.Err()).Get("v")) != 1 {
			t.Errorf("%s: %v, %v", sent, amount, form.Err())
		}
	}
}

func TestTextOfAQueryMustBeUTF8(t *testing.T) {
	form := FromQuery(map[string][]string{"search": {"Jo\xe3o"}})
	form.Text("search", 10).Get()
	wantRefused(t, form.Err(), map[string]string{"search": "must be valid UTF-8"})
}

func FuzzPhone(f *testing.F) {
	for _, s := range []string{"(11) 98765-4321", "+55 11 98765-4321", "+1 212 555 1234", "x", "", "11987654321", "+", "55+1", "1\u00a01"} {
		f.Add(s)
	}
	digits := regexp.MustCompile(`^[0-9]{10,15}$`)
	f.Fuzz(func(t *testing.T, text string) {
		form := FromStrings(map[string]string{"v": text})
		phone, ok := form.Phone("v").Get()
		if ok == form.Failed() {
			t.Fatalf("%q: used %v, refused %v", text, ok, form.Failed())
		}
		if phone == "" {
			return
		}
		if !digits.MatchString(phone) {
			t.Errorf("%q became %q", text, phone)
		}
		again := FromStrings(map[string]string{"v": "+" + phone})
		if same, _ := again.Phone("v").Get(); same != phone {
			t.Errorf("%q became %q, and that %q", text, phone, same)
		}
	})
}

func FuzzEmail(f *testing.F) {
	for _, s := range []string{"ana@example.com", "Ana <ana@example.com>", "a@b", "\"a b\"@c.de", "a@[1.2.3.4]", "a@b.c.", "é@é.éé"} {
		f.Add(s)
	}
	shape := regexp.MustCompile(`^[^\s@<>"]+@[^\s@<>"]+\.[^\s@<>".]{2,}$`)
	f.Fuzz(func(t *testing.T, text string) {
		form := FromStrings(map[string]string{"v": text})
		email, ok := form.Email("v").Get()
		if ok == form.Failed() {
			t.Fatalf("%q: used %v, refused %v", text, ok, form.Failed())
		}
		if email != "" && !shape.MatchString(email) {
			t.Errorf("%q was taken for an address", email)
		}
	})
}
