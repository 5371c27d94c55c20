// Command apiextract keeps of a provider's OpenAPI document what a machine can hold a
// call against: paths, parameters, fields and their rules. Texts, examples and
// everything that no rule needs stay behind. The doubles of providers are driven
// by what it writes (test/kit/apidoctest).
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

func main() {
	title := flag.String("title", "", "what the document is called")
	version := flag.String("version", "", "its version")
	date := flag.String("date", "", "the day of that version")
	source := flag.String("source", "", "where it is published")
	only := flag.String("only", "", "expression for the paths to keep; empty: all")
	without := flag.String("without", "", "expression for the paths to leave out; empty: none")
	as := flag.String("as", "", "version of OpenAPI whose words the document uses, when it says another")
	several := flag.String("several", "", "schema that says oneOf and means that several may fit")
	also := flag.String("also", "", "values that the provider's pages have beside an enum: Schema.field=a|b;…")
	slips := flag.Bool("slips", false, "set right what no request and no answer could satisfy")
	flag.Parse()
	info := map[string]any{"title": *title, "version": *version, "x-date": *date, "x-source": *source}
	choice := selection{only: *only, without: *without, several: *several, as: *as, also: *also, slips: *slips}
	if err := run(os.Stdin, os.Stdout, info, choice); err != nil {
		fmt.Fprintln(os.Stderr, "apiextract:", err)
		os.Exit(1)
	}
}

// selection says which paths are kept, and what of the document is set right.
type selection struct {
	only, without, several, as, also string
	slips                            bool
}

func (s selection) keeps(path string) (bool, error) {
	if s.only != "" {
		found, err := regexp.MatchString(s.only, path)
		if err != nil || !found {
			return false, err
		}
	}
	if s.without == "" {
		return true, nil
	}
	found, err := regexp.MatchString(s.without, path)
	return !found, err
}

func run(in io.Reader, out io.Writer, info map[string]any, choice selection) error {
	var read any
	if err := yaml.NewDecoder(in).Decode(&read); err != nil {
		return err
	}
	document, _ := named(read).(map[string]any)
	paths, _ := document["paths"].(map[string]any)
	for path := range paths {
		keeps, err := choice.keeps(path)
		if err != nil {
			return err
		}
		if !keeps {
			delete(paths, path)
		}
	}
	extract, _ := keep(document, "document").(map[string]any)
	extract["info"] = info
	prune(extract)
	if err := choice.setRight(extract); err != nil {
		return err
	}
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	return encoder.Encode(extract)
}

// named makes every name a text: YAML has numbers for the statuses of answers.
func named(node any) any {
	switch value := node.(type) {
	case []any:
		for i, item := range value {
			value[i] = named(item)
		}
	case map[string]any:
		for name, item := range value {
			value[name] = named(item)
		}
	case map[any]any:
		fields := map[string]any{}
		for name, item := range value {
			fields[fmt.Sprint(name)] = named(item)
		}
		return fields
	}
	return node
}

// setRight names the version of OpenAPI that the document is written in, and turns
// a oneOf into anyOf if its alternatives do not exclude each other: a value that
// fits two of them would be invalid, which was not the intention. Enums get the
// values that they lack.
func (s selection) setRight(extract map[string]any) error {
	if s.as != "" {
		extract["openapi"] = s.as
	}
	components, _ := extract["components"].(map[string]any)
	schemas, _ := components["schemas"].(map[string]any)
	if s.slips {
		correct(extract, schemas)
	}
	schema, _ := schemas[s.several].(map[string]any)
	if alternatives, found := schema["oneOf"]; found {
		schema["anyOf"] = alternatives
		delete(schema, "oneOf")
	}
	return s.complete(schemas)
}

// complete adds the values of also to the enums that it names.
func (s selection) complete(schemas map[string]any) error {
	for part := range strings.SplitSeq(s.also, ";") {
		if part == "" {
			continue
		}
		where, values, _ := strings.Cut(part, "=")
		name, field, _ := strings.Cut(where, ".")
		schema, _ := schemas[name].(map[string]any)
		properties, _ := schema["properties"].(map[string]any)
		property, _ := properties[field].(map[string]any)
		known, found := property["enum"].([]any)
		if !found {
			return fmt.Errorf("%s has no enum", where)
		}
		for value := range strings.SplitSeq(values, "|") {
			if !slices.Contains(known, any(value)) {
				known = append(known, value)
			}
		}
		property["enum"] = known
	}
	return nil
}

// correct goes through all schemas, and sets right three slips of the pen that no
// request and no answer could satisfy.
func correct(node any, schemas map[string]any) {
	switch value := node.(type) {
	case []any:
		for _, item := range value {
			correct(item, schemas)
		}
	case map[string]any:
		for _, item := range value {
			correct(item, schemas)
		}
		requireDescribed(value, schemas)
		relaxChoice(value, schemas)
	}
}

// requireDescribed takes out of the names that a schema requires those that neither
// it nor what it is composed of describes. What only requires, and describes
// nothing, is about the fields of another schema and stays.
func requireDescribed(schema, schemas map[string]any) {
	required, _ := schema["required"].([]any)
	known := map[string]bool{}
	describe(schema, schemas, known)
	if len(required) == 0 || len(known) == 0 {
		return
	}
	kept := slices.DeleteFunc(required, func(name any) bool { return !known[fmt.Sprint(name)] })
	if schema["required"] = kept; len(kept) == 0 {
		delete(schema, "required")
	}
}

// relaxChoice turns a oneOf into anyOf if its alternatives require nothing, so
// that none excludes another, and takes out alternatives for a text that are
// objects.
func relaxChoice(schema, schemas map[string]any) {
	if alternatives, ok := schema["oneOf"].([]any); ok && len(alternatives) > 1 && requireNothing(alternatives) {
		schema["anyOf"] = alternatives
		delete(schema, "oneOf")
	}
	alternatives, ok := schema["anyOf"].([]any)
	if !ok || schema["type"] != "string" {
		return
	}
	for _, alternative := range alternatives {
		known := map[string]bool{}
		if part, ok := alternative.(map[string]any); ok {
			describe(part, schemas, known)
		}
		if len(known) == 0 {
			return
		}
	}
	delete(schema, "anyOf")
}

func requireNothing(alternatives []any) bool {
	for _, alternative := range alternatives {
		schema, ok := alternative.(map[string]any)
		if !ok || schema["$ref"] != nil || schema["required"] != nil || schema["properties"] == nil {
			return false
		}
	}
	return true
}

// describe collects the names of the fields that a schema describes.
func describe(schema, schemas map[string]any, known map[string]bool) {
	if ref, ok := schema["$ref"].(string); ok {
		target, _ := schemas[strings.TrimPrefix(ref, "#/components/schemas/")].(map[string]any)
		describe(target, schemas, known)
	}
	properties, _ := schema["properties"].(map[string]any)
	for name := range properties {
		known[name] = true
	}
	for _, composed := range []string{"allOf", "oneOf", "anyOf"} {
		parts, _ := schema[composed].([]any)
		for _, part := range parts {
			if part, ok := part.(map[string]any); ok {
				describe(part, schemas, known)
			}
		}
	}
}

// leaf is a value that is copied as it is.
const leaf = ""

// anything is the name under which a shape has what it may call as it likes.
const anything = "*"

// shapes say what is kept of each kind of node, and what kind that is.
var shapes = map[string]map[string]string{
	"document": {"openapi": leaf, "paths": "paths", "components": "components"},
	"paths":    {anything: "item"},
	"item": {
		"parameters": "parameter", "get": "operation", "put": "operation", "post": "operation",
		"patch": "operation", "delete": "operation",
	},
	"operation": {
		"parameters": "parameter", "requestBody": "body", "responses": "responses", "callbacks": "callbacks",
	},
	"callbacks": {anything: "paths"},
	"parameter": {"$ref": leaf, "name": leaf, "in": leaf, "required": leaf, "schema": "schema"},
	"body":      {"$ref": leaf, "required": leaf, "content": "content"},
	"responses": {anything: "response"},
	"response":  {"$ref": leaf, "content": "content"},
	"content":   {anything: "media"},
	"media":     {"schema": "schema"},
	"components": {
		"schemas": "schemas", "parameters": "parameters", "requestBodies": "bodies", "responses": "responses",
	},
	"schemas":    {anything: "schema"},
	"parameters": {anything: "parameter"},
	"bodies":     {anything: "body"},
	"schema": {
		"$ref": leaf, "type": leaf, "format": leaf, "enum": leaf, "required": leaf, "nullable": leaf,
		"readOnly": leaf, "writeOnly": leaf, "uniqueItems": leaf,
		"minimum": leaf, "maximum": leaf, "exclusiveMinimum": leaf, "exclusiveMaximum": leaf,
		"minLength": leaf, "maxLength": leaf, "minItems": leaf, "maxItems": leaf,
		"pattern": "pattern", "properties": "schemas", "items": "schema", "not": "schema",
		"allOf": "schema", "oneOf": "schema", "anyOf": "schema", "additionalProperties": "schema",
	},
}

// keep copies a node, and leaves out what its shape does not name. A list has
// the kind of its items.
func keep(node any, kind string) any {
	switch value := node.(type) {
	case []any:
		if kind == leaf {
			return value
		}
		list := make([]any, len(value))
		for i, item := range value {
			list[i] = keep(item, kind)
		}
		return list
	case map[string]any:
		return keepFields(value, kind)
	case string:
		if kind == "pattern" {
			return whole(value)
		}
	}
	return node
}

func keepFields(fields map[string]any, kind string) any {
	shape, known := shapes[kind]
	if !known {
		return nil
	}
	kept := map[string]any{}
	for name, value := range fields {
		inner, wanted := shape[name]
		if !wanted {
			inner, wanted = shape[anything]
		}
		if wanted {
			kept[name] = keep(value, inner)
		}
	}
	if kind == "response" && kept["$ref"] == nil {
		kept["description"] = "" // OpenAPI wants one
	}
	return kept
}

// whole makes an expression be about the whole value, which is what documents
// mean that leave the anchors out, or write slashes around it.
func whole(pattern string) string {
	if inner, found := strings.CutPrefix(pattern, "/"); found && strings.HasSuffix(inner, "/") {
		pattern = strings.TrimSuffix(inner, "/")
	}
	if strings.HasPrefix(pattern, "^") && strings.HasSuffix(pattern, "$") {
		return pattern
	}
	return "^(?:" + pattern + ")$"
}

// prune takes out the components that no kept path leads to.
func prune(extract map[string]any) {
	components, _ := extract["components"].(map[string]any)
	used := map[string]bool{}
	follow(extract["paths"], components, used)
	for kind, group := range components {
		members, _ := group.(map[string]any)
		for name := range members {
			if !used[kind+"/"+name] {
				delete(members, name)
			}
		}
	}
}

func follow(node any, components map[string]any, used map[string]bool) {
	switch value := node.(type) {
	case []any:
		for _, item := range value {
			follow(item, components, used)
		}
	case map[string]any:
		ref, _ := value["$ref"].(string)
		name := strings.TrimPrefix(ref, "#/components/")
		if ref != "" && !used[name] {
			used[name] = true
			kind, member, _ := strings.Cut(name, "/")
			group, _ := components[kind].(map[string]any)
			follow(group[member], components, used)
		}
		for _, item := range value {
			follow(item, components, used)
		}
	}
}
