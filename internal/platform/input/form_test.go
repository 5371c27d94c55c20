package input

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"carteira/internal/platform/fault"
)

func fromJSON(t *testing.T, body string) *Form {
	t.Helper()
	form, err := FromJSON([]byte(body))
	if err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return form
}

// wantRefused compares the fields that err names, and the reasons.
func wantRefused(t *testing.T, err error, want map[string]string) {
	t.Helper()
	got := map[string]string{}
	for field, reasons := range fault.FieldsOf(err).All() {
		got[field] = strings.Join(reasons, "; ")
	}
	if !maps.Equal(got, want) {
		t.Errorf("refused %q, want %q", got, want)
	}
}

func TestMalformedJSONSaysWhere(t *testing.T) {
	tests := map[string]struct {
		body         string
		line, column int
	}{
		"cut off":              {`{"a":1`, 1, 6},
		"cut off in a text":    {`{"a":"b`, 1, 7},
		"cut off in a word":    {`{"a":tru`, 1, 8},
		"cut off at a newline": {"{\"a\":1,\n", 1, 8},
		"first line":           {`{"a":x}`, 1, 6},
		"third line":           {"{\n  \"a\": 1,\n  \"b\": x\n}", 3, 8},
		"Windows lines":        {"{\r\n\"a\":x}", 2, 5},
		"after an accent":      {`{"é":x}`, 1, 6},
		"comma too many":       {`{"a":1,}`, 1, 8},
		"single quotes":        {`{'a':1}`, 1, 2},
		"newline in a text":    {"{\"a\":\"b\nc\"}", 1, 8},
		"NUL":                  {"\x00", 1, 1},
		"NUL in a text":        {"{\"a\":\"\x00\"}", 1, 7},
		"NUL at the end":       {"{}\x00", 1, 3},
		"word at the end":      {`{"a":1} x`, 1, 9},
		"number at the end":    {`{} 12345`, 1, 4},
		"object at the end":    {"{}\n\n {}", 3, 2},
		"space that is none":   {"\v", 1, 1},
		"nested too deep":      {strings.Repeat("[", 10_001) + strings.Repeat("]", 10_001), 1, 10_001},
		"objects too deep":     {strings.Repeat(`{"a":`, 10_001), 1, 50_001},
	}
	for name, tt := range tests {
		_, err := FromJSON([]byte(tt.body))
		want := fmt.Sprintf("malformed JSON at line %d, column %d: ", tt.line, tt.column)
		if fault.KindOf(err) != fault.KindInvalid || !strings.HasPrefix(fault.Public(err), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}

func TestBodyMustBeAnObject(t *testing.T) {
	deep := strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000)
	for _, body := range []string{"[1]", `"s"`, "null", "3", "true", deep} {
		_, err := FromJSON([]byte(body))
		if fault.KindOf(err) != fault.KindInvalid || fault.Public(err) != "the body must be a JSON object" {
			t.Errorf("%.10s: %v", body, err)
		}
	}
}

func TestEmptyBodyIsAnEmptyObject(t *testing.T) {
	for _, body := range []string{"", " \r\n\t", "{}", " {} \n"} {
		form := fromJSON(t, body)
		if err := form.Err(); err != nil || form.Given("a") {
			t.Errorf("%q: %v", body, err)
		}
		form.Require("name")
		wantRefused(t, form.Err(), map[string]string{"name": "is required"})
	}
}

func TestEveryFailingFieldIsReportedAtOnceInOrder(t *testing.T) {
	form := fromJSON(t, `{"email":"ana","plan_id":"x","name":"","nmae":"Ana"}`)
	form.Require("name")
	form.Email("email").Get()
	form.ID("plan_id").Get()
	form.Refuse("plan_id", "is not yours")
	form.Refuse("plan_id", "is not yours") // as a transaction does that is run again
	err := form.Err()
	want := map[string]string{
		"name":    "is required",
		"email":   "must be a valid e-mail address",
		"plan_id": "must be the id of a record, a positive whole number; is not yours",
		"nmae":    "unknown field; did you mean name?",
	}
	wantRefused(t, err, want)
	var order []string
	for field := range fault.FieldsOf(err).All() {
		order = append(order, field)
	}
	if !slices.Equal(order, []string{"name", "email", "plan_id", "nmae"}) || fault.Public(err) != "name: is required" {
		t.Errorf("%q, in the order %v", fault.Public(err), order)
	}
}

func TestUnknownFieldIsRefusedWithASuggestion(t *testing.T) {
	tests := map[string]string{
		"nmae":      "unknown field; did you mean name?",
		"usename":   "unknown field; did you mean username?", // an alias
		"Name":      "unknown field; did you mean name?",
		"created":   "unknown field",
		"cretaed_a": "unknown field; did you mean created_at?", // a read-only one
	}
	for field, reason := range tests {
		form := fromJSON(t, fmt.Sprintf(`{%q:1}`, field))
		form.Alias("username", "usuario")
		form.Ignore("id", "created_at")
		form.Line("name", 10).Get()
		form.Line("usuario", 10).Get()
		wantRefused(t, form.Err(), map[string]string{field: reason})
	}
}

func TestUnknownFieldsAreReportedUpToABound(t *testing.T) {
	many := map[string]int{}
	for i := range 1000 {
		many[fmt.Sprintf("field%03d", i)] = i
	}
	body, err := json.Marshal(many)
	if err != nil {
		t.Fatal(err)
	}
	var reported []string
	for field := range fault.FieldsOf(fromJSON(t, string(body)).Err()).All() {
		reported = append(reported, field)
	}
	if len(reported) != maxUnknown || reported[0] != "field000" {
		t.Errorf("%d fields reported: %v", len(reported), reported)
	}
}

func TestReadOnlyFieldsAreIgnoredWhateverTheyHold(t *testing.T) {
	form := fromJSON(t, `{"id":"x","plan":{"id":1},"status":null,"name":"Ana"}`)
	form.Ignore("id", "plan", "status")
	if name, ok := form.Line("name", 10).Get(); !ok || name != "Ana" || form.Err() != nil {
		t.Errorf("%q, %v: %v", name, ok, form.Err())
	}
}

func TestAliasIsAnotherSpelling(t *testing.T) {
	tests := map[string]struct {
		body, want string
		refused    map[string]string
	}{
		"the field itself":       {`{"due_on":"short"}`, "short", nil},
		"the alias":              {`{"due_date":"short"}`, "short", nil},
		"both":                   {`{"due_date":"alias","due_on":"field"}`, "field", nil},
		"error under the field":  {`{"due_on":"too long"}`, "", map[string]string{"due_on": "must have at most 5 characters"}},
		"error under what came":  {`{"due_date":"too long"}`, "", map[string]string{"due_date": "must have at most 5 characters"}},
		"error of the one taken": {`{"due_date":"too long too","due_on":"too long"}`, "", map[string]string{"due_on": "must have at most 5 characters"}},
		"null in the alias":      {`{"due_date":null}`, "", nil},
	}
	for name, tt := range tests {
		form := fromJSON(t, tt.body)
		form.Alias("due_date", "due_on")
		if !form.Given("due_on") {
			t.Errorf("%s: not given", name)
		}
		if got, _ := form.Line("due_on", 5).Get(); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
		wantRefused(t, form.Err(), tt.refused)
	}
}

func TestRequireAndKeep(t *testing.T) {
	tests := map[string]struct{ require, keep map[string]string }{
		`{}`:             {map[string]string{"a": "is required"}, nil},
		`{"a":null}`:     {map[string]string{"a": "is required"}, map[string]string{"a": "must not be empty"}},
		`{"a":""}`:       {map[string]string{"a": "is required"}, map[string]string{"a": "must not be empty"}},
		`{"a":" \t\n "}`: {map[string]string{"a": "is required"}, map[string]string{"a": "must not be empty"}},
		`{"a":"x"}`:      {nil, nil},
		`{"a":0}`:        {nil, nil},
		`{"a":false}`:    {nil, nil},
	}
	for body, tt := range tests {
		form := fromJSON(t, body)
		form.Require("a")
		if form.Failed() != (tt.require != nil) {
			t.Errorf("%s: failed %v", body, form.Failed())
		}
		wantRefused(t, form.Err(), tt.require)
		form = fromJSON(t, body)
		form.MustNotClear("a")
		wantRefused(t, form.Err(), tt.keep)
	}
}

func TestQueriesAndFormsPassOverUnknownNames(t *testing.T) {
	forms := map[string]*Form{
		"query": FromQuery(map[string][]string{"a": {"first", "second"}, "utm_source": {"x"}, "none": {}}),
		"form":  FromStrings(map[string]string{"a": "first", "utm_source": "x"}),
	}
	for name, form := range forms {
		if a, ok := form.Line("a", 10).Get(); !ok || a != "first" || form.Given("none") {
			t.Errorf("%s: %q, %v", name, a, ok)
		}
		if err := form.Err(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzFromJSON(f *testing.F) {
	for _, body := range []string{"", "{}", `{"a":1}`, `{"a":"b"}x`, `[1]`, "{\n", "\v", `{"a":{"b":[null,true,1e9]}}`, "\xff", "{\"\xff\":\"\xff\"}"} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var object map[string]json.RawMessage
		valid := json.Unmarshal(body, &object) == nil && object != nil || len(bytes.Trim(body, " \t\r\n")) == 0
		form, err := FromJSON(body)
		if (err == nil) != valid {
			t.Fatalf("%q: %v, encoding/json says %v", body, err, valid)
		}
		if err != nil {
			if fault.KindOf(err) != fault.KindInvalid {
				t.Errorf("%q: %v", body, err)
			}
			return
		}
		for name := range object {
			if !form.Given(name) {
				t.Errorf("%q: %q is lost", body, name)
			}
			readEveryWay(form, name)
		}
	})
}

// readEveryWay must not panic, whatever the field holds.
func readEveryWay(form *Form, name string) {
	form.Require(name)
	form.MustNotClear(name)
	form.Line(name, 10).Get()
	form.Email(name).Get()
	form.Phone(name).Get()
	form.Int(name, 1, 10).Get()
	form.ID(name).Get()
	form.Bool(name).Get()
	form.Date(name).Get()
	form.Money(name).Get()
	form.Choice(name, "a", "b").Get()
	form.Page()
	_ = form.Err()
}

func TestPageFormTakesTheLastValueAndWholeLists(t *testing.T) {
	form := FromForm(map[string][]string{"active": {"false", "true"}, "events": {"", "a", "b"}, "name": {"Ana"}, "extra": {}}, "events", "none")
	if on, ok := form.Bool("active").Get(); !on || !ok {
		t.Errorf("active %v, %v", on, ok)
	}
	if list, ok := form.List("events").Get(); !ok || len(list) != 2 || list[0] != "a" {
		t.Errorf("events %v, %v", list, ok)
	}
	if list, ok := form.List("none").Get(); !ok || len(list) != 0 {
		t.Errorf("none %v, %v", list, ok)
	}
	if name, ok := form.Line("name", 10).Get(); name != "Ana" || !ok || form.Given("extra") {
		t.Errorf("name %q, %v", name, ok)
	}
}
