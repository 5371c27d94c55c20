package openapitest

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"carteira/openapi"
)

func document(t *testing.T) *spec {
	t.Helper()
	spec, err := load() // loading validates the document itself
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

func TestEveryBodyHasAnExampleThatIsTrue(t *testing.T) {
	spec := document(t)
	for at, media := range spec.bodies() {
		count := 0
		for name, value := range mediaExamples(media) {
			count++
			body, err := json.Marshal(value)
			if err != nil {
				t.Fatal(err)
			}
			if err := validate(spec.schemas[media.Schema.Ref], body); err != nil {
				t.Errorf("%s: example %q: %v", at, name, err)
			}
		}
		if count == 0 {
			t.Errorf("%s: no example", at)
		}
	}
}

// Filters and Idempotency-Key have no example on purpose: the page at /docs would put them into every first call.
func TestEveryParameterAndHeaderExampleIsTrue(t *testing.T) {
	spec := document(t)
	check := func(at string, schema *openapi3.SchemaRef, example any) {
		if example == nil {
			t.Errorf("%s: no example", at)
		} else if err := schema.Value.VisitJSON(example, openapi3.EnableJSONSchema2020()); err != nil {
			t.Errorf("%s: %v", at, err)
		}
	}
	for op := range spec.operations() {
		for _, parameter := range op.parameters() {
			if parameter.Value.Required {
				check(op.ID()+" "+parameter.Value.Name, parameter.Value.Schema, parameter.Value.Example)
			}
		}
	}
	for _, item := range spec.doc.Webhooks {
		for _, parameter := range item.Post.Parameters {
			check(parameter.Value.Name, parameter.Value.Schema, parameter.Value.Example)
		}
	}
	for name, header := range spec.doc.Components.Headers {
		check(name, header.Value.Schema, header.Value.Example)
	}
}

func TestEveryEventSampleBearsItsName(t *testing.T) {
	for name, item := range document(t).doc.Webhooks {
		sample, _ := item.Post.RequestBody.Value.Content[mediaJSON].Example.(map[string]any)
		if sample["event"] != name {
			t.Errorf("%s: the sample's event is %v", name, sample["event"])
		}
	}
}

// Without this a new schema could be left open by mistake, and an undocumented field would pass.
func TestEverySchemaIsClosed(t *testing.T) {
	open := map[string]string{
		"CustomerRecord":     "closed by the schemas made of it, with unevaluatedProperties",
		"InvoiceRecord":      "closed by the schemas made of it, with unevaluatedProperties",
		"WholeInvoiceRecord": "closed by the schemas made of it, with unevaluatedProperties",
		"ResellerRecord":     "closed by the schemas made of it, with unevaluatedProperties",
		"CreditsSpent":       "closed by the schemas made of it, with unevaluatedProperties",
		"WebhookRecord":      "closed by the schemas made of it, with unevaluatedProperties",
	}
	var doc struct {
		Components struct{ Schemas map[string]map[string]any }
	}
	if err := json.Unmarshal(openapi.JSON(), &doc); err != nil {
		t.Fatal(err)
	}
	for name, schema := range doc.Components.Schemas {
		if open[name] == "" {
			checkClosed(t, name, schema)
		}
	}
}

func checkClosed(t *testing.T, at string, schema map[string]any) {
	t.Helper()
	_, additional := schema["additionalProperties"]
	_, unevaluated := schema["unevaluatedProperties"]
	if _, object := schema["properties"]; object && !additional && !unevaluated {
		t.Errorf("%s: has properties and is open", at)
	}
	properties, _ := schema["properties"].(map[string]any)
	for name, property := range properties {
		checkClosed(t, at+"."+name, property.(map[string]any))
	}
	if items, ok := schema["items"].(map[string]any); ok {
		checkClosed(t, at+"[]", items)
	}
}

// In {description: A plan, or none} the comma begins a key without a value, and the reader misses half the sentence.
func TestNoSentenceIsCutByAComma(t *testing.T) {
	var doc any
	if err := json.Unmarshal(openapi.JSON(), &doc); err != nil {
		t.Fatal(err)
	}
	checkNoNull(t, "", doc)
}

func checkNoNull(t *testing.T, at string, node any) {
	t.Helper()
	switch node := node.(type) {
	case nil:
		t.Errorf("%s has no value", at)
	case []any:
		for _, v := range node {
			checkNoNull(t, at+"[]", v)
		}
	case map[string]any:
		for k, v := range node {
			if k != "example" && k != "value" && k != "enum" { // there a null is a null
				checkNoNull(t, at+"."+k, v)
			}
		}
	}
}

func TestEveryOperationIsFitToRead(t *testing.T) {
	camel := regexp.MustCompile(`^[a-z][A-Za-z]+$`)
	for op := range document(t).operations() {
		operation := op.Operation
		if !camel.MatchString(operation.OperationID) || len(operation.Tags) != 1 || operation.Summary == "" {
			t.Errorf("%s %s: wants an operationId in camelCase, one tag and a summary", op.Method, op.Path)
		}
		for _, status := range []string{"200", "401", "403", "429", "500", "503"} {
			if operation.Responses.Value(status) == nil {
				t.Errorf("%s: %s is not documented", op.ID(), status)
			}
		}
	}
}

func TestExamplesCanBeSentInOneSweep(t *testing.T) {
	all := Examples()
	first := slices.IndexFunc(all, func(example Example) bool { return strings.HasPrefix(example.Path, basePath+"/customers") })
	if first < 0 || all[first].OperationID != "createCustomer" || all[first].Name != "complete" {
		t.Error("the complete customer is not created first, so later examples miss it")
	}
	for i, example := range all[len(all)-2:] {
		if want := []string{"/api/v1/customers/1", "/api/v1/webhooks/1"}[i]; example.Method != http.MethodDelete || example.Path != want {
			t.Errorf("the last are %s %s, want the deletion of %s", example.Method, example.Path, want)
		}
	}
	spec, sent := document(t), map[string]bool{}
	for _, example := range all {
		sent[example.OperationID] = true
		if strings.Contains(example.Path, "{") || strings.Contains(example.Path, "<nil>") {
			t.Errorf("%s: path %s", example.OperationID, example.Path)
		}
	}
	for op := range spec.operations() {
		if !sent[op.ID()] {
			t.Errorf("%s has no example", op.ID())
		}
	}
}

// Generators of clients make one type of a field, and one of a name. What the service accepts besides is in x-also.
func TestEveryFieldHasOneTypeAndEveryComponentItsOwnName(t *testing.T) {
	var doc map[string]any
	if err := json.Unmarshal(openapi.JSON(), &doc); err != nil {
		t.Fatal(err)
	}
	checkOneType(t, "", doc)
	components, _ := doc["components"].(map[string]any)
	kinds := map[string]string{}
	for kind, all := range components {
		for name := range all.(map[string]any) {
			if other, taken := kinds[strings.ToLower(name)]; taken {
				t.Errorf("%s is a name in %s and in %s", name, kind, other)
			}
			kinds[strings.ToLower(name)] = kind
		}
	}
}

func checkOneType(t *testing.T, at string, node any) {
	t.Helper()
	switch node := node.(type) {
	case []any:
		for _, item := range node {
			checkOneType(t, at+"[]", item)
		}
	case map[string]any:
		types, _ := node["type"].([]any)
		if len(types) > 2 || len(types) == 2 && types[1] != "null" {
			t.Errorf("%s has the types %v: keep the first, and null, and put the others into x-also", at, types)
		}
		if _, ref := node["$ref"]; ref && node["required"] != nil {
			t.Errorf("%s has required beside $ref, which generators lose", at)
		}
		for name, value := range node {
			checkOneType(t, at+"."+name, value)
		}
	}
}
