package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"carteira/internal/platform/sqldb"
	"carteira/openapi"
)

// sendable is a value that an operation takes, as the document describes it.
type sendable struct {
	method, path string
	in           string // path, query, header or body
	names        []string
	schema       map[string]any
	compiled     *jsonschema.Schema
}

func (in sendable) String() string {
	return fmt.Sprintf("%s %s %s %s", in.method, in.path, in.in, strings.Join(in.names, "."))
}

// reader walks the document.
type reader struct {
	t        *testing.T
	root     map[string]any
	compiler *jsonschema.Compiler
	found    []sendable
}

// allSendable is each text, number, choice and switch that a caller may send.
func allSendable(t *testing.T) []sendable {
	t.Helper()
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(openapi.JSON()))
	must(t, err)
	walk := &reader{t: t, root: value.(map[string]any), compiler: jsonschema.NewCompiler()}
	walk.compiler.AssertFormat()
	walk.compiler.RegisterFormat(&jsonschema.Format{Name: "int64", Validate: func(v any) error {
		number, is := v.(json.Number)
		if !is {
			return nil
		}
		_, err := number.Int64()
		return err
	}})
	must(t, walk.compiler.AddResource("openapi.json", value))
	paths := walk.root["paths"].(map[string]any)
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		at := "#/paths/" + strings.ReplaceAll(path, "/", "~1")
		for _, method := range slices.Sorted(maps.Keys(paths[path].(map[string]any))) {
			if method == "parameters" {
				continue
			}
			base := sendable{method: strings.ToUpper(method), path: path}
			walk.parameters(base, at+"/parameters")
			walk.parameters(base, at+"/"+method+"/parameters")
			if body, at := walk.at(at + "/" + method + "/requestBody"); body != nil {
				base.in = "body"
				walk.fields(base, at+"/content/application~1json/schema")
			}
		}
	}
	return walk.found
}

// at follows a pointer, and the references that it leads to; nil where there is nothing.
func (w *reader) at(pointer string) (any, string) {
	var value any = w.root
	for step := range strings.SplitSeq(strings.TrimPrefix(pointer, "#/"), "/") {
		switch node := value.(type) {
		case map[string]any:
			value = node[strings.ReplaceAll(step, "~1", "/")]
		case []any:
			var n int
			_, err := fmt.Sscan(step, &n)
			must(w.t, err)
			value = node[n]
		}
	}
	if object, is := value.(map[string]any); is && object["$ref"] != nil {
		return w.at(object["$ref"].(string))
	}
	return value, pointer
}

func (w *reader) parameters(base sendable, at string) {
	all, _ := w.at(at)
	list, _ := all.([]any)
	for n := range list {
		value, at := w.at(fmt.Sprintf("%s/%d", at, n))
		parameter := value.(map[string]any)
		base.in, base.names = parameter["in"].(string), []string{parameter["name"].(string)}
		w.fields(base, at+"/schema")
	}
}

func (w *reader) fields(base sendable, at string) {
	value, at := w.at(at)
	base.schema, _ = value.(map[string]any)
	properties, _ := base.schema["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		field := base
		field.names = append(slices.Clone(base.names), name)
		w.fields(field, at+"/properties/"+name)
	}
	if len(base.names) == 0 || properties != nil || base.schema["additionalProperties"] != nil {
		return
	}
	var err error
	base.compiled, err = w.compiler.Compile("openapi.json" + at)
	must(w.t, err)
	w.found = append(w.found, base)
}

func (in sendable) kind() string {
	if types, many := in.schema["type"].([]any); many {
		return types[0].(string)
	}
	if in.schema["anyOf"] != nil {
		return "string"
	}
	kind, _ := in.schema["type"].(string)
	return kind
}

func (in sendable) has(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return in.schema[name] != nil })
}

// bounded reports whether a pattern takes no text of any length.
func bounded(pattern string) bool {
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	return err == nil && strings.HasPrefix(pattern, "^") && strings.HasSuffix(pattern, "$") && !endless(parsed)
}

func endless(r *syntax.Regexp) bool {
	return r.Op == syntax.OpStar || r.Op == syntax.OpPlus || r.Op == syntax.OpRepeat && r.Max < 0 || slices.ContainsFunc(r.Sub, endless)
}

func TestEveryInputSaysItsLimits(t *testing.T) {
	for _, in := range allSendable(t) {
		pattern, _ := in.schema["pattern"].(string)
		switch in.kind() {
		case "string":
			if !in.has("maxLength", "enum", "anyOf") && in.schema["format"] != "date" && !bounded(pattern) {
				t.Errorf("%s is a text without an end: %v", in, in.schema)
			}
		case "integer", "number":
			if !in.has("minimum") || !in.has("maximum") && in.schema["format"] != "int64" {
				t.Errorf("%s is a number without bounds: %v", in, in.schema)
			}
		}
	}
}

// tries are texts, some of which each limit of the document takes.
var tries = []string{
	"", "x", "0", "-1", "1.5", "1.234", "1,50", "99999999.99", "100000000.00", "12345678", "123456789", "2026-01-31", "2026-1-31", "2026-01",
	"2026-01-31T09:00:00-03:00", "1month", "month", "trial", "ana@example.com", "(11) 98765-4321", "123.456.789-09", "01310-100", "SP",
	"https://example.com/hook", "latest", "crm-1", "pago", "1 day", strings.Repeat("a", 7), strings.Repeat("a", 8), strings.Repeat("a", 1001),
}

// values are what is sent as a value: within its limits, beyond them, and at each bound.
func (in sendable) values() (all []any) {
	if in.in == "body" {
		all = append(all, nil)
	}
	switch in.kind() {
	case "string":
		for _, text := range tries {
			all = append(all, text)
		}
		if most, is := in.schema["maxLength"].(json.Number); is {
			n, _ := most.Int64()
			all = append(all, in.filled(int(n)), strings.Repeat("a", int(n)+1))
		}
		if choices, is := in.schema["enum"].([]any); is {
			all = append(all, choices...)
		}
	case "integer":
		for _, number := range []string{"-9223372036854775808", "-1", "0", "1", "2", "9223372036854775807", "9223372036854775808"} {
			all = append(all, json.Number(number))
		}
		for _, bound := range []string{"minimum", "maximum"} {
			if limit, is := in.schema[bound].(json.Number); is {
				n, _ := limit.Int64()
				all = append(all, json.Number(fmt.Sprint(n-1)), limit, json.Number(fmt.Sprint(n+1)))
			}
		}
	case "boolean":
		all = append(all, true, false)
	case "":
		all = append(all, "x", map[string]any{"x": "y"}) // read-only: whatever it is
	}
	return all
}

// filled is a text of so many characters that means something where a value has to.
func (in sendable) filled(length int) string {
	pad := func(before, with, after string) string {
		return before + strings.Repeat(with, max(0, length-len(before)-len(after))) + after
	}
	switch in.names[len(in.names)-1] {
	case "email":
		return pad("", "a", "@example.com")
	case "whatsapp":
		return pad("(11)", " ", "98765-4321")
	case "url", "notification_url":
		return pad("https://example.com/", "a", "")
	}
	return pad("", "a", "")
}

func (in sendable) send(t *testing.T, caller *caller, value any) answer {
	t.Helper()
	path := strings.NewReplacer("/resellers/{id}", "/resellers/2", "{id}", "1", "{external_id}", "crm-1").Replace(in.path)
	if in.in == "query" {
		return caller.call(t, in.method, path+"?"+url.Values{in.names[0]: {fmt.Sprint(value)}, "zzzz": {"1"}}.Encode(), "")
	}
	for _, name := range slices.Backward(in.names) {
		value = map[string]any{name: value}
	}
	object := value.(map[string]any)
	object["zzzz"] = 1
	maps.Copy(object, companions[in.names[0]])
	body, err := json.Marshal(object)
	must(t, err)
	return caller.call(t, in.method, path, string(body))
}

// meant are values that have to mean something besides: a limit of the document takes more of them than the service does.
var meant = []string{
	"email", "whatsapp", "cpf_cnpj", "address.cep", "address.state", "period", "status", "advance", "to", "url", "notification_url",
	"discount", "password",
}

// adjusted are parameters that are moved to the nearest bound, as the document says.
var adjusted = []string{"page", "per_page", "limit", "wait"}

// unpunctuated are those of which the service takes the digits alone.
var unpunctuated = []string{"ispb", "branch", "account"}

// companions are sent with a value that is refused by itself.
var companions = map[string]map[string]any{
	"cancel_reason": {"cancelled": true},
	"ispb":          {"journey": "request"},
	"branch":        {"journey": "request"},
	"account":       {"journey": "request"},
	"period_count":  {"period_unit": "month"},
}

// meaning reports whether a reason is about what a value means, which no limit can say.
func meaning(reason string) bool {
	return reason == "does not exist" || reason == "must be more than zero" || strings.HasPrefix(reason, "is required")
}

// agrees reports whether the service does what the document says of a value. The document says for all fields and
// parameters that an empty text is null, or no filter; null leaves a field as if it were not there.
func (in sendable) agrees(value any, refused []string) bool {
	name, documented := strings.Join(in.names, "."), in.compiled.Validate(value) == nil
	switch {
	case documented == (refused == nil):
		return true
	case documented:
		return slices.Contains(meant, name) || slices.ContainsFunc(refused, meaning) || name == "external_id" && in.path == externalPath
	}
	return value == "" || value == nil || slices.Contains(unpunctuated, name) || in.in == "query" && slices.Contains(adjusted, name)
}

// newRecords is a service with a record of each kind, to which everything sendable can be sent.
func newRecords(t *testing.T) (*service, *caller) {
	t.Helper()
	service := newService(t, sqldb.SQLite)
	caller := service.newCaller(t)
	caller.create(t, `{"name":"Ana","plan_id":1}`)
	caller.create(t, `{"name":"Bia","plan_id":1}`)
	caller.subscribe(t, "https://example.com/a", "customer.created")
	data[any](t, caller.call(t, http.MethodPost, "/plans", `{"name":"Revenda","value":"49.90","credits":1}`))
	data[any](t, caller.call(t, http.MethodPost, "/resellers", `{"name":"Beto","email":"beto@example.com"}`))
	data[any](t, caller.call(t, http.MethodPost, "/invoices/2/status", `{"status":"Pago"}`))
	service.http = http.DefaultClient // every answer is a refusal, which others hold against the document
	return service, caller
}

// An unknown name is sent with each value, so that nothing is carried out, and the answer names all that is refused.
func TestLimitsOfTheDocumentAreThoseOfTheService(t *testing.T) {
	service, caller := newRecords(t)
	for _, in := range allSendable(t) {
		if in.in != "query" && in.in != "body" {
			continue
		}
		service.clock.Advance(time.Minute) // for the rate limit
		taken := false
		for _, value := range in.values() {
			var got struct{ Errors map[string][]string }
			answer := in.send(t, caller, value)
			must(t, json.Unmarshal([]byte(answer.body), &got))
			refused := got.Errors[strings.Join(in.names, ".")]
			if got.Errors["zzzz"] == nil && !slices.ContainsFunc(refused, meaning) {
				t.Fatalf("%s = %.60v: %d %s", in, value, answer.status, answer.body)
			}
			if !in.agrees(value, refused) {
				t.Errorf("%s = %.60v: the document says %v, the service %v", in, value, in.compiled.Validate(value), refused)
			}
			taken = taken || refused == nil && value != ""
		}
		if !taken && in.kind() != "array" {
			t.Errorf("%s: the service takes no value that was tried", in)
		}
	}
}

// digits are texts of digits, some of which each text takes that may be one.
var digits = []string{"7", "35", "1000", "1310100", "11987654321", "52998224725"}

// What generators pass over is in x-also: docs/clients.md says so. Callers that have no types send numbers for texts.
func TestTextsForWhichANumberIsAsGoodSaySo(t *testing.T) {
	service, caller := newRecords(t)
	for _, in := range allSendable(t) {
		if in.in != "body" || in.kind() != "string" {
			continue
		}
		service.clock.Advance(time.Minute) // for the rate limit
		also, _ := in.schema["x-also"].([]any)
		for _, text := range digits {
			name := strings.Join(in.names, ".")
			var asText, asNumber struct{ Errors map[string][]string }
			must(t, json.Unmarshal([]byte(in.send(t, caller, text).body), &asText))
			must(t, json.Unmarshal([]byte(in.send(t, caller, json.Number(text)).body), &asNumber))
			if asText.Errors[name] != nil {
				continue
			}
			if taken := asNumber.Errors[name] == nil; taken != slices.Contains(also, any("number")) {
				t.Errorf("%s = %s: the service takes the number: %v, and x-also is %v", in, text, taken, also)
			}
			break
		}
	}
}
