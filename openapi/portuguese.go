package openapi

import (
	_ "embed"
	"fmt"
	"sync"

	"go.yaml.in/yaml/v3"
)

//go:embed pt.yaml
var translations []byte

// Portuguese is the document as JSON for a reader of Portuguese: the same names,
// with introduction, tags and operations translated. Callers share one slice and
// must not change it.
func Portuguese() []byte { return portuguese() }

var portuguese = sync.OnceValue(func() []byte {
	out, err := translate(YAML, translations)
	if err != nil {
		panic(fmt.Sprintf("pt.yaml: %v", err)) // embedded and tested: broken only by a broken build
	}
	return out
})

// translation is what pt.yaml has, by the names of what it translates.
type translation struct {
	Info       map[string]string
	Tags       map[string]struct{ Title, Description string }
	Operations map[string]struct{ Summary, Description string }
}

func translate(source, texts []byte) ([]byte, error) {
	var root yaml.Node
	if err := yaml.Unmarshal(source, &root); err != nil {
		return nil, err
	}
	var words translation
	if err := yaml.Unmarshal(texts, &words); err != nil {
		return nil, err
	}
	words.apply(root.Content[0])
	return encode(&root)
}

func (t translation) apply(document *yaml.Node) {
	for name, text := range t.Info {
		set(at(document, "info"), name, text)
	}
	for _, tag := range at(document, "tags").Content {
		if words, ok := t.Tags[at(tag, "name").Value]; ok {
			set(tag, "description", words.Description)
			set(tag, "x-displayName", words.Title)
		}
	}
	for _, part := range []string{"paths", "webhooks"} {
		for _, operation := range operations(at(document, part)) {
			words := t.Operations[at(operation, "operationId").Value]
			set(operation, "summary", words.Summary)
			set(operation, "description", words.Description)
		}
	}
}

// operations are the mappings of paths, or of webhooks, that have an operationId.
func operations(paths *yaml.Node) (found []*yaml.Node) {
	for i := 1; i < len(paths.Content); i += 2 {
		methods := paths.Content[i].Content
		for j := 1; j < len(methods); j += 2 {
			if at(methods[j], "operationId").Value != "" {
				found = append(found, methods[j])
			}
		}
	}
	return found
}

// at is the value of a key of a mapping; an empty node where it has none.
func at(mapping *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(mapping.Content) && mapping.Kind == yaml.MappingNode; i += 2 {
		if mapping.Content[i].Value == key {
			return mapping.Content[i+1]
		}
	}
	return &yaml.Node{}
}

// set gives a key of a mapping a text; no text changes nothing.
func set(mapping *yaml.Node, key, text string) {
	if text == "" {
		return
	}
	if value := at(mapping, key); value.Kind == yaml.ScalarNode {
		value.SetString(text)
		return
	}
	var name, value yaml.Node
	name.SetString(key)
	value.SetString(text)
	mapping.Content = append(mapping.Content, &name, &value)
}
