package openapi

import (
	"reflect"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

func TestJSONSaysWhatTheYAMLSays(t *testing.T) {
	var want, got any
	if err := yaml.Unmarshal(YAML, &want); err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(JSON(), &got); err != nil { // JSON is YAML
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Error("the two differ; an unquoted date in the YAML does that")
	}
}

func TestJSONKeepsOrderAndTypes(t *testing.T) {
	const source = `
z: &shared {b: 1, a: "1"}
"200": [true, null, 1.5, 2026-01-31, "<é>"]
again: *shared
`
	const want = `{"z":{"b":1,"a":"1"},"200":[true,null,1.5,"2026-01-31","<é>"],"again":{"b":1,"a":"1"}}`
	got, err := convert([]byte(source))
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestConvertRefusesWhatIsNotYAML(t *testing.T) {
	if _, err := convert([]byte("a: [")); err == nil || !strings.Contains(err.Error(), "line") {
		t.Errorf("got %v, want an error with the line", err)
	}
}
