package openapitest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"carteira/openapi"
)

const (
	mediaJSON   = "application/json"
	schemaRoot  = "#/components/schemas/"
	errorSchema = schemaRoot + "Error"
	notModified = "304"
)

// headersOnly leaves bodies to the schemas compiled here: kin-openapi compiles a 3.1 schema anew for every body, 7 ms
// for a list of 50 (34 with -race), and falls back to the rules of 3.0 when it cannot.
//
// Query parameters are left out because the contract makes the service more lenient than the document: paging is
// adjusted, filters ignore case.
var headersOnly = &openapi3filter.Options{
	ExcludeRequestBody:        true,
	ExcludeRequestQueryParams: true,
	ExcludeResponseBody:       true,
	SkipSettingDefaults:       true,
	AuthenticationFunc:        openapi3filter.NoopAuthenticationFunc,
}

// spec is the loaded document with what was seen of it.
type spec struct {
	doc     *openapi3.T
	schemas map[string]*jsonschema.Schema // by reference: "#/components/schemas/Customer"
	mux     *http.ServeMux                // finds the *operation of a request, by the service's own rules

	mu   sync.Mutex
	seen map[string]bool
}

// operation is a route of the document. It is a handler only so that a ServeMux can find it.
type operation struct{ routers.Route }

func (*operation) ServeHTTP(http.ResponseWriter, *http.Request) {}

// ID is the document's operationId.
func (op *operation) ID() string { return op.Operation.OperationID }

func (op *operation) input(exchange exchange) *openapi3filter.RequestValidationInput {
	return &openapi3filter.RequestValidationInput{
		Request:    exchange.request,
		PathParams: pathParams(op.Path, strings.TrimPrefix(exchange.request.URL.Path, basePath)),
		Route:      &op.Route,
		Options:    headersOnly,
	}
}

// load reads and checks the document once: a process runs hundreds of tests on it.
var load = sync.OnceValues(func() (*spec, error) {
	doc, err := openapi3.NewLoader().LoadFromData(openapi.JSON())
	if err != nil {
		return nil, err
	}
	// Examples are validated by this package's tests: kin-openapi holds them against the rules of 3.0.
	if err := doc.Validate(context.Background(), openapi3.DisableExamplesValidation()); err != nil {
		return nil, err
	}
	s := &spec{doc: doc, mux: http.NewServeMux(), seen: map[string]bool{}}
	if s.schemas, err = compile(doc); err != nil {
		return nil, err
	}
	for op := range s.operations() {
		s.mux.Handle(op.Method+" "+basePath+op.Path, op)
	}
	return s, s.checkBodiesNamed()
})

// compile makes a validator of every named schema, with formats enforced.
func compile(doc *openapi3.T) (map[string]*jsonschema.Schema, error) {
	root, err := jsonschema.UnmarshalJSON(bytes.NewReader(openapi.JSON()))
	if err != nil {
		return nil, err
	}
	lenient(root)
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	if err := compiler.AddResource("openapi.json", root); err != nil {
		return nil, err
	}
	schemas := map[string]*jsonschema.Schema{}
	for name := range doc.Components.Schemas {
		ref := schemaRoot + name
		if schemas[ref], err = compiler.Compile("openapi.json" + ref); err != nil {
			return nil, err
		}
	}
	return schemas, nil
}

// lenient makes each schema accept what its x-also says besides its type. The document has one type per field, since
// generators of clients want that; the service accepts more, and tests send it.
func lenient(node any) {
	switch n := node.(type) {
	case []any:
		for _, item := range n {
			lenient(item)
		}
	case map[string]any:
		if also, ok := n["x-also"].([]any); ok {
			types, many := n["type"].([]any)
			if !many {
				types = []any{n["type"]}
			}
			n["type"] = append(slices.Clone(types), also...)
		}
		for _, value := range n {
			lenient(value)
		}
	}
}

// operations yields the document's operations by path and method, the same at every run.
func (s *spec) operations() iter.Seq[*operation] {
	return func(yield func(*operation) bool) {
		paths := s.doc.Paths.Map()
		for _, path := range slices.Sorted(maps.Keys(paths)) {
			methods := paths[path].Operations()
			for _, method := range slices.Sorted(maps.Keys(methods)) {
				op := &operation{routers.Route{
					Spec: s.doc, Path: path, PathItem: paths[path], Method: method, Operation: methods[method],
				}}
				if !yield(op) {
					return
				}
			}
		}
	}
}

// checkBodiesNamed demands a named schema for every body, since only those are compiled. (Code generators want the
// same, for names of types.)
func (s *spec) checkBodiesNamed() error {
	for at, media := range s.bodies() {
		if media == nil || s.schemas[media.Schema.Ref] == nil {
			return fmt.Errorf("%s: the body is not %s with a schema of components", at, mediaJSON)
		}
	}
	return nil
}

// bodies yields every documented body with its place: requests, answers, events.
func (s *spec) bodies() iter.Seq2[string, *openapi3.MediaType] {
	return func(yield func(string, *openapi3.MediaType) bool) {
		for op := range s.operations() {
			if body := op.Operation.RequestBody; body != nil && !yield(op.ID()+" request", body.Value.Content[mediaJSON]) {
				return
			}
			for status, answer := range op.Operation.Responses.Map() {
				if status == notModified {
					continue // has none
				}
				if !yield(op.ID()+" "+status, answer.Value.Content[mediaJSON]) {
					return
				}
			}
		}
		for name, item := range s.doc.Webhooks {
			if !yield(name, item.Post.RequestBody.Value.Content[mediaJSON]) {
				return
			}
		}
	}
}

func bodyRef(content openapi3.Content) string { return content[mediaJSON].Schema.Ref }

func (s *spec) find(req *http.Request) *operation {
	handler, _ := s.mux.Handler(req)
	op, _ := handler.(*operation)
	return op
}

// pathParams needs no matching: the mux has already found path to be an instance of template.
func pathParams(template, path string) map[string]string {
	params := map[string]string{}
	values := strings.Split(path, "/")
	for i, segment := range strings.Split(template, "/") {
		if name, ok := strings.CutPrefix(segment, "{"); ok {
			params[strings.TrimSuffix(name, "}")] = values[i]
		}
	}
	return params
}

func (s *spec) see(op *operation, status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen[op.ID()+" "+strconv.Itoa(status)] = true
}

func (s *spec) unseen() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var pairs []string
	for op := range s.operations() {
		for _, status := range slices.Sorted(maps.Keys(op.Operation.Responses.Map())) {
			if pair := op.ID() + " " + status; !s.seen[pair] {
				pairs = append(pairs, pair)
			}
		}
	}
	return pairs
}

func (s *spec) checkEvent(body []byte) error {
	var envelope struct{ Event string }
	if err := json.Unmarshal(body, &envelope); err != nil {
		return fmt.Errorf("not JSON: %w", err)
	}
	item := s.doc.Webhooks[envelope.Event]
	if item == nil {
		return fmt.Errorf("%q is not documented", envelope.Event)
	}
	return validate(s.schemas[bodyRef(item.Post.RequestBody.Value.Content)], body)
}
