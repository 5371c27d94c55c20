package openapitest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// Example is a request that the document shows.
type Example struct {
	OperationID string
	Name        string // of the body's example, if it has one
	Method      string
	Path        string // with /api/v1, parameters filled in
	Body        []byte // nil without one
}

// Examples gives every request that the document shows, for a test that sends them all: each body, and each operation
// without one. They refer to customer, plan, product and webhook 1, so a new company in a new database that has such a plan and
// product can take them in this order: creations first, deletions last.
func Examples() []Example {
	spec, err := load()
	if err != nil {
		panic(fmt.Sprintf("openapi.yaml: %v", err))
	}
	var all []Example
	for op := range spec.operations() {
		all = append(all, op.examples()...)
	}
	slices.SortStableFunc(all, func(a, b Example) int { return cmp.Compare(a.turn(), b.turn()) })
	return all
}

func (e Example) turn() int {
	switch {
	case e.Method == http.MethodPost && !strings.Contains(strings.TrimPrefix(e.Path, basePath+"/"), "/"):
		return 0 // on a collection: creates
	case e.Method == http.MethodDelete && strings.Count(strings.TrimPrefix(e.Path, basePath+"/"), "/") == 1:
		return 3 // of a record; what is a part of one is taken in its turn
	case strings.HasSuffix(e.Path, "/sandbox/clock"):
		return 2 // moves the time of all that come after it
	default:
		return 1
	}
}

func (op *operation) examples() []Example {
	plain := Example{OperationID: op.ID(), Method: op.Method, Path: basePath + op.pathExample()}
	if op.Operation.RequestBody == nil {
		return []Example{plain}
	}
	var all []Example
	for name, value := range mediaExamples(op.Operation.RequestBody.Value.Content[mediaJSON]) {
		body, err := json.Marshal(value)
		if err != nil {
			panic(err) // it was JSON a moment ago
		}
		example := plain
		example.Name, example.Body = name, body
		all = append(all, example)
	}
	return all
}

func (op *operation) parameters() []*openapi3.ParameterRef {
	return slices.Concat(op.PathItem.Parameters, op.Operation.Parameters)
}

func (op *operation) pathExample() string {
	path := op.Path
	for _, parameter := range op.parameters() {
		path = strings.ReplaceAll(path, "{"+parameter.Value.Name+"}", fmt.Sprint(parameter.Value.Example))
	}
	return path
}

// mediaExamples yields the examples of a body by name, the same at every run; a lone one has no name.
func mediaExamples(media *openapi3.MediaType) iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		if media.Example != nil && !yield("", media.Example) {
			return
		}
		for _, name := range slices.Sorted(maps.Keys(media.Examples)) {
			if !yield(name, media.Examples[name].Value.Value) {
				return
			}
		}
	}
}
