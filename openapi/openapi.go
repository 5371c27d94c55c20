// Package openapi owns the description of the API: openapi.yaml, written by hand, embedded and served as it is.
// It does not serve it (internal/web/docs does) and does not check it (openapitest does, on every exchange
// that a test makes).
package openapi

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"sync"

	"go.yaml.in/yaml/v3"
)

// YAML is the document as it was written, comments and order included.
//
//go:embed openapi.yaml
var YAML []byte

// JSON is the same document as JSON, in the order of the YAML: the order of fields is part of what a reader sees.
// Callers share one slice and must not change it.
func JSON() []byte { return document() }

var document = sync.OnceValue(func() []byte {
	out, err := convert(YAML)
	if err != nil {
		panic(fmt.Sprintf("openapi.yaml: %v", err)) // embedded and tested: broken only by a broken build
	}
	return out
})

func convert(source []byte) ([]byte, error) {
	var root yaml.Node
	if err := yaml.Unmarshal(source, &root); err != nil {
		return nil, err
	}
	return encode(&root)
}

func encode(root *yaml.Node) ([]byte, error) {
	var out bytes.Buffer
	if err := write(&out, root); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// write goes through nodes, since decoding into a map would lose the order.
func write(out *bytes.Buffer, node *yaml.Node) error {
	switch node.Kind {
	case yaml.DocumentNode:
		return write(out, node.Content[0])
	case yaml.AliasNode:
		return write(out, node.Alias)
	case yaml.MappingNode:
		return writeObject(out, node.Content)
	case yaml.SequenceNode:
		return writeArray(out, node.Content)
	default:
		return writeScalar(out, node)
	}
}

func writeObject(out *bytes.Buffer, pairs []*yaml.Node) error {
	out.WriteByte('{')
	for i := 0; i < len(pairs); i += 2 {
		if i > 0 {
			out.WriteByte(',')
		}
		if err := writeValue(out, pairs[i].Value); err != nil {
			return err
		}
		out.WriteByte(':')
		if err := write(out, pairs[i+1]); err != nil {
			return err
		}
	}
	out.WriteByte('}')
	return nil
}

func writeArray(out *bytes.Buffer, items []*yaml.Node) error {
	out.WriteByte('[')
	for i, item := range items {
		if i > 0 {
			out.WriteByte(',')
		}
		if err := write(out, item); err != nil {
			return err
		}
	}
	out.WriteByte(']')
	return nil
}

// writeScalar keeps an unquoted date as text: JSON has no type for it.
func writeScalar(out *bytes.Buffer, node *yaml.Node) error {
	switch node.ShortTag() {
	case "!!int", "!!float", "!!bool", "!!null":
		var value any
		if err := node.Decode(&value); err != nil {
			return fmt.Errorf("line %d: %w", node.Line, err)
		}
		return writeValue(out, value)
	default:
		return writeValue(out, node.Value)
	}
}

func writeValue(out *bytes.Buffer, value any) error {
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		return err
	}
	out.Truncate(out.Len() - 1) // the encoder ends every value with a newline
	return nil
}
