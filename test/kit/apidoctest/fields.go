package apidoctest

import (
	"encoding/json"
	"fmt"

	"github.com/getkin/kin-openapi/openapi3"
)

// knownFields refuses a body with fields that the schema does not have. OpenAPI
// lets them pass, and a misspelt one with them.
func knownFields(schema *openapi3.SchemaRef, body []byte) error {
	var value any
	if err := json.Unmarshal(body, &value); err != nil {
		return err
	}
	return checkFields([]*openapi3.SchemaRef{schema}, value, "")
}

// checkFields looks at a value that several schemas describe together.
func checkFields(schemas []*openapi3.SchemaRef, value any, at string) error {
	all := flatten(schemas)
	switch value := value.(type) {
	case []any:
		var items []*openapi3.SchemaRef
		for _, schema := range all {
			if schema.Items != nil {
				items = append(items, schema.Items)
			}
		}
		for i, item := range value {
			if err := checkFields(items, item, fmt.Sprintf("%s[%d]", at, i)); err != nil {
				return err
			}
		}
	case map[string]any:
		return checkObject(all, value, at)
	}
	return nil
}

func checkObject(all []*openapi3.Schema, fields map[string]any, at string) error {
	known, open := map[string][]*openapi3.SchemaRef{}, true
	for _, schema := range all {
		for name, property := range schema.Properties {
			known[name], open = append(known[name], property), false
		}
	}
	for _, schema := range all {
		open = open || schema.AdditionalProperties.Schema != nil
	}
	if open {
		return nil
	}
	for name, value := range fields {
		properties, found := known[name]
		if !found {
			return fmt.Errorf("the document has no field %s.%s", at, name)
		}
		if err := checkFields(properties, value, at+"."+name); err != nil {
			return err
		}
	}
	return nil
}

// flatten lists schemas with those that they are composed of.
func flatten(schemas []*openapi3.SchemaRef) []*openapi3.Schema {
	var all []*openapi3.Schema
	for _, ref := range schemas {
		if ref == nil || ref.Value == nil {
			continue
		}
		all = append(all, ref.Value)
		all = append(all, flatten(ref.Value.AllOf)...)
		all = append(all, flatten(ref.Value.OneOf)...)
		all = append(all, flatten(ref.Value.AnyOf)...)
	}
	return all
}
