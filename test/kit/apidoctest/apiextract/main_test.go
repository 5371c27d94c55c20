package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const document = `
openapi: 3.0.0
info: {title: long, description: a text}
paths:
  /charge/{id}:
    description: a text
    put:
      summary: a text
      requestBody:
        content:
          application/json:
            schema: {$ref: '#/components/schemas/Charge'}
            example: {value: 1}
      responses:
        200: {description: a text}
  /payload/{token}:
    get: {responses: {200: {description: a text}}}
components:
  schemas:
    Charge:
      type: object
      description: a text
      required: [description, typo]
      properties:
        description: {type: string, maxLength: 140, description: a text, example: a text}
        amount: {type: string, pattern: '\d{1,10}\.\d{2}'}
        cpf: {type: string, pattern: '/^\d{11}$/'}
        payer: {$ref: '#/components/schemas/Payer'}
        total: {type: string, anyOf: [{$ref: '#/components/schemas/Charge'}]}
        end: {oneOf: [{properties: {a: {type: string}}}, {properties: {b: {type: string}}}]}
    Payer: {oneOf: [{required: [phone]}, {required: [email]}]}
    Unused: {type: string}
`

func TestRulesAreKeptAndTextsAreNot(t *testing.T) {
	var out bytes.Buffer
	choice := selection{without: "token", several: "Payer", slips: true}
	if err := run(strings.NewReader(document), &out, map[string]any{"title": "T"}, choice); err != nil {
		t.Fatal(err)
	}
	var extract, want any
	if err := json.Unmarshal(out.Bytes(), &extract); err != nil {
		t.Fatal(err)
	}
	const kept = `{"openapi":"3.0.0","info":{"title":"T"},
		"paths":{"/charge/{id}":{"put":{
			"requestBody":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/Charge"}}}},
			"responses":{"200":{"description":""}}}}},
		"components":{"schemas":{
			"Charge":{"type":"object","required":["description"],"properties":{
				"description":{"type":"string","maxLength":140},
				"amount":{"type":"string","pattern":"^(?:\\d{1,10}\\.\\d{2})$"},
				"cpf":{"type":"string","pattern":"^\\d{11}$"},
				"payer":{"$ref":"#/components/schemas/Payer"},
				"total":{"type":"string"},
				"end":{"anyOf":[{"properties":{"a":{"type":"string"}}},{"properties":{"b":{"type":"string"}}}]}}},
			"Payer":{"anyOf":[{"required":["phone"]},{"required":["email"]}]}}}}`
	if err := json.Unmarshal([]byte(kept), &want); err != nil {
		t.Fatal(err)
	}
	got, _ := json.Marshal(extract)
	wanted, _ := json.Marshal(want)
	if !bytes.Equal(got, wanted) {
		t.Errorf("got  %s\nwant %s", got, wanted)
	}
}

func TestValuesThatAnEnumLacksAreAdded(t *testing.T) {
	const paid = `
openapi: 3.0.0
paths: {/charge: {get: {responses: {200: {content: {application/json: {schema: {$ref: '#/components/schemas/Charge'}}}}}}}}
components: {schemas: {Charge: {type: object, properties: {status: {type: string, enum: [open, paid]}, id: {type: string}}}}}
`
	var out bytes.Buffer
	if err := run(strings.NewReader(paid), &out, nil, selection{also: "Charge.status=paid|expired"}); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(strings.Fields(out.String()), ""); !strings.Contains(got, `"enum":["open","paid","expired"]`) {
		t.Errorf("got %s", got)
	}
	for _, wrong := range []string{"Charge.id=x", "Charge.other=x", "Other.status=x", "Charge"} {
		if err := run(strings.NewReader(paid), &out, nil, selection{also: wrong}); err == nil {
			t.Errorf("%s names no enum, and that is fine", wrong)
		}
	}
}

// What is committed is what the tool writes: extracting it once more changes
// nothing, so it has no text written by hand.
func TestCommittedExtractsHoldNothingElse(t *testing.T) {
	files, err := filepath.Glob("../*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d extracts, %v", len(files), err)
	}
	for _, name := range files {
		before, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var said struct{ Info map[string]any }
		if err := json.Unmarshal(before, &said); err != nil {
			t.Fatal(err)
		}
		var after bytes.Buffer
		if err := run(bytes.NewReader(before), &after, said.Info, selection{}); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(before, after.Bytes()) {
			t.Errorf("%s has more in it than an extract", name)
		}
	}
}
