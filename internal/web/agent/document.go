package agent

import (
	"encoding/json"
	"fmt"
	"strings"
)

// document is what tools are made of.
type document struct {
	Paths      map[string]map[string]json.RawMessage
	Components struct {
		Parameters map[string]parameter
		Schemas    map[string]map[string]any
	}
}

type parameter struct {
	Ref         string `json:"$ref"`
	Name, In    string
	Required    bool
	Description string
	Schema      map[string]any
}

// operation reads one of the document.
func (d *document) operation(method, path string, source json.RawMessage) *operation {
	var read struct {
		OperationID          string
		Summary, Description string
		Parameters           []parameter
		RequestBody          *struct {
			Required bool
			Content  map[string]struct{ Schema map[string]any }
		}
	}
	var ofPath []parameter
	decode(source, &read)
	if shared, ok := d.Paths[path]["parameters"]; ok {
		decode(shared, &ofPath)
	}
	made := &operation{
		method: method, path: path, name: read.OperationID,
		title: read.Summary, about: strings.TrimSpace(read.Description),
	}
	properties, required := map[string]any{}, []string{}
	for _, given := range append(ofPath, read.Parameters...) {
		if named, ok := strings.CutPrefix(given.Ref, "#/components/parameters/"); ok {
			given = d.Components.Parameters[named]
		}
		name := made.take(given)
		if name == "" {
			continue
		}
		properties[name] = described(d.resolve(given.Schema), given.Description)
		if given.Required {
			required = append(required, name)
		}
	}
	if body := read.RequestBody; body != nil {
		made.hasBody = body.Required
		fields := d.resolve(body.Content["application/json"].Schema)
		required = append(required, made.takeBody(fields, properties)...)
	}
	made.schema = map[string]any{
		"type": "object", "properties": properties, "required": required, "additionalProperties": false,
	}
	return made
}

// decode reads what the build has embedded and tests have read.
func decode(source json.RawMessage, into any) {
	if err := json.Unmarshal(source, into); err != nil {
		panic(fmt.Sprintf("openapi.yaml: %v", err))
	}
}

// take remembers where a parameter goes, and returns the name of its argument; "" for
// one that no tool has.
func (op *operation) take(given parameter) string {
	switch {
	case given.In == "path":
		op.inPath = append(op.inPath, given.Name)
	case given.In == "query":
		op.inQuery = append(op.inQuery, given.Name)
	case given.Name == "Idempotency-Key":
		op.keyed = true
		return idempotencyKey
	default:
		return ""
	}
	return given.Name
}

// takeBody adds the fields of a body to the arguments, and returns those that are
// required. A field named like a parameter is left out: it would say the same.
func (op *operation) takeBody(schema, properties map[string]any) []string {
	fields, _ := schema["properties"].(map[string]any)
	for name, field := range fields {
		if _, taken := properties[name]; taken {
			continue
		}
		properties[name] = field
		op.inBody = append(op.inBody, name)
	}
	var required []string
	names, _ := schema["required"].([]any)
	for _, name := range names {
		required = append(required, name.(string)) // the document's linters hold it
	}
	return required
}

// resolve returns a schema without references, without what a caller cannot send,
// and without what only tests and generators read.
func (d *document) resolve(schema map[string]any) map[string]any {
	resolved := map[string]any{}
	if ref, ok := schema["$ref"].(string); ok {
		resolved = d.resolve(d.Components.Schemas[strings.TrimPrefix(ref, "#/components/schemas/")])
	}
	for key, value := range schema {
		if key != "$ref" && key != "x-also" && key != "example" && key != "examples" {
			resolved[key] = d.resolveAny(value)
		}
	}
	if fields, ok := resolved["properties"].(map[string]any); ok {
		for name, field := range fields {
			if field, ok := field.(map[string]any); ok && field["readOnly"] == true {
				delete(fields, name)
			}
		}
	}
	return resolved
}

func (d *document) resolveAny(value any) any {
	switch value := value.(type) {
	case map[string]any:
		return d.resolve(value)
	case []any:
		list := make([]any, len(value))
		for i, item := range value {
			list[i] = d.resolveAny(item)
		}
		return list
	default:
		return value
	}
}

// described is a schema with the description of its parameter.
func described(schema map[string]any, description string) map[string]any {
	if description != "" {
		schema["description"] = strings.TrimSpace(description)
	}
	return schema
}
